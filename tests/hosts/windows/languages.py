"""netsh's words by language.  ``th`` is a language that hostcfg has no words for; its words are ours.

en, de, ja, ru and zh-CN are from the captures under tests/fixtures/windows; a label that is in no
capture of its language stays English.
"""

from __future__ import annotations

_ROWS = (
    "rss",
    "autotuninglevel",
    "congestionprovider",
    "ecncapability",
    "timestamps",
    "initialrto",
    "rsc",
    "nonsackrttresiliency",
    "maxsynretransmissions",
    "fastopen",
    "fastopenfallback",
    "hystart",
    "prr",
    "pacingprofile",
)
_LABELS = {
    "en": "Receive-Side Scaling State|Receive Window Auto-Tuning Level|Add-On Congestion Control Provider"
    "|ECN Capability|RFC 1323 Timestamps|Initial RTO|Receive Segment Coalescing State"
    "|Non Sack Rtt Resiliency|Max SYN Retransmissions|Fast Open|Fast Open Fallback|HyStart"
    "|Proportional Rate Reduction|Pacing Profile",
    "de": "Zustand der empfangsseitigen Skalierung|Autom. Abstimmungsgrad Empfangsfenster"
    '|Add-On "Überlastungssteuerungsanbieter"|ECN-Funktion|RFC 1323-Zeitstempel|RTO (anfänglich)'
    "|Zustand der Empfangssegmentzusammenfügung|Nicht-SACK-RTT-Widerstandsfähigkeit"
    "|Maximale SYN-Neuübertragungen|Fast Open|Fast Open-Fallback|HyStart"
    "|Proportionale Ratenreduzierung|Schrittsteuerungsprofil",
    "ja": "Receive-Side Scaling 状態|受信ウィンドウ自動チューニング レベル|アドオン輻輳制御プロバイダー"
    "|ECN 機能"
    "|RFC 1323 タイムスタンプ|初期 RTO|Receive Segment Coalescing 状態|非 Sack の Rtt 回復性"
    "|SYN の最大再送信数|Fast Open|Fast Open フォールバック|HyStart|Proportional Rate Reduction"
    "|ペーシング プロファイル",
    "ru": "Состояние масштабирования на стороне приема|Уровень автонастройки окна получения"
    "|Поставщик дополнительного компонента контроля перегрузки|Мощность ECN|Метки времени RFC 1323"
    "|Начальное RTO|Состояние объединения сегментов приема|Устойчивость RTT без SACK"
    "|Максимум повторных передач SYN|Fast Open|Откат для Fast Open|HyStart"
    "|Уменьшение коэффициента пропорции|Профиль шагов",
    "zh-CN": "接收方缩放状态|接收窗口自动调节级别|加载项拥塞控制提供程序|ECN 功能|RFC 1323 时间戳|初始 RTO"
    "|接收段合并状态|非 Sack Rtt 复原|最大 SYN 重新传输次数|快速打开|快速打开回退|HyStart"
    "|比例费率降低|节奏配置文件",
    "th": "สถานะการปรับขนาดด้านรับ|ระดับหน้าต่างรับ|ตัวควบคุมความแออัด|ความสามารถ ECN"
    "|ตราเวลา RFC 1323|RTO เริ่มต้น|สถานะการรวมส่วนรับ|ความทนทาน RTT ไม่ใช่ SACK|จำนวนส่ง SYN ซ้ำ"
    "|เปิดเร็ว|เปิดเร็วสำรอง|HyStart|ลดอัตราตามส่วน|โปรไฟล์จังหวะ",
}
OTHER = {
    "chimney": "Chimney Offload State",
    "netdma": "NetDMA State",
    "dca": "Direct Cache Acess (DCA)",
    "minrto": "Minimum RTO (msec)",
    "icw": "Initial Congestion Window (MSS)",
    "enablecwndrestart": "Enable Congestion Window Restart",
    "delayedacktimeout": "Delayed ACK timeout (msec)",
    "delayedackfrequency": "Delayed ACK frequency",
    "rack": "Enable RACK",
    "taillossprobe": "Enable Tail Loss Probe",
    "provider": "Congestion Control Provider",
    "wsh": "Window Scaling heuristics",
}
_TEXTS = {
    "en": {
        "title": "TCP Global Parameters",
        "querying": "Querying active state...",
        "ok": "Ok.",
        "chcp": "Active code page: {0}",
        "version": "Version",
        "elevation": "The requested operation requires elevation (Run as administrator).",
        "unknown": "'{0}' is not recognized as an internal or external command,\n"
        "operable program or batch file.",
        "argument": "'{0}' is not a valid argument for this command.\n"
        "The syntax supplied for this command is not valid. Check help for the correct syntax.",
        "template": "The TCP global default template is {0}",
    },
    "de": {
        "title": "Globale TCP-Parameter",
        "querying": "Der aktive Status wird abgefragt...",
        "chcp": "Aktive Codepage: {0}.",
        "elevation": "Für den angeforderten Vorgang sind erhöhte Rechte erforderlich "
        "(Als Administrator ausführen).",
        "template": "Globale TCP-Standardvorlage: {0}",
    },
    "ja": {
        "title": "TCP グローバル パラメーター",
        "querying": "アクティブ状態を照会しています...",
        "chcp": "現在のコード ページ: {0}",
        "elevation": "要求された操作には管理者特権が必要です (管理者として実行してください)。",
    },
    "ru": {
        "title": "Глобальные параметры TCP",
        "ok": "ОК.",
        "chcp": "Текущая кодовая страница: {0}",
        "elevation": "Запрошенная операция требует повышения (запуск от имени администратора).",
    },
    "zh-CN": {
        "title": "TCP 全局参数",
        "querying": "查询活动状态...",
        "ok": "确定。",
        "chcp": "活动代码页: {0}",
        "version": "版本",
        "elevation": "请求的操作需要提升(作为管理员运行)。",
    },
    "th": {
        "title": "พารามิเตอร์ส่วนกลางของ TCP",
        "querying": "กำลังสอบถามสถานะ...",
        "ok": "ตกลง",
        "chcp": "เพจรหัส: {0}",
        "elevation": "ต้องการการยกระดับ",
    },
}


def label(language: str, row: str) -> str:
    """The label of a row of ``show global``."""
    words = dict(zip(_ROWS, _LABELS[language].split("|"), strict=True))
    return words.get(row, OTHER.get(row, row))


def text(language: str, name: str) -> str:
    """A message or heading; English where the language has no capture of it."""
    return _TEXTS[language].get(name, _TEXTS["en"][name])
