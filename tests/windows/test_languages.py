"""Tables in other languages, releases and layouts than the recorded files have."""

from __future__ import annotations

import pytest

from hostcfg.platforms.windows.outputs import PARSERS
from tests.windows.samples import parse, parser, recognized, sample

KEYS_14 = (
    "receive_side_scaling",
    "receive_window_auto_tuning_level",
    "add_on_congestion_provider",
    "ecn_capability",
    "rfc1323_timestamps",
    "initial_rto",
    "receive_segment_coalescing",
    "non_sack_rtt_resiliency",
    "max_syn_retransmissions",
    "fast_open",
    "fast_open_fallback",
    "hystart",
    "proportional_rate_reduction",
    "pacing_profile",
)
VALUES_14 = (
    "enabled",
    "restricted",
    "default",
    "disabled",
    "allowed",
    1000,
    "disabled",
    "disabled",
    4,
    "enabled",
    "disabled",
    "enabled",
    "disabled",
    "off",
)

# Labels as Microsoft's translations have them where documentation or users' notes show them.
LABELS = {
    "fr": "État de la mise à l'échelle côté réception"
    "|Niveau de réglage automatique de la fenêtre de réception"
    "|Fournisseur de contrôle de congestion|Fonctionnalité ECN|Horodatages RFC 1323|RTO initial"
    "|État de fusion des segments reçus|Résilience Rtt non SACK|Nombre maximal de retransmissions SYN"
    "|Fast Open|Secours Fast Open|HyStart|Réduction proportionnelle du débit|Profil de cadence",
    "es": "Estado de escalado de lado de recepción|Nivel de ajuste automático de ventana de recepción"
    "|Proveedor de control de congestión|Funcionalidad de ECN|Marcas de hora RFC 1323|RTO inicial"
    "|Estado de fusión de segmento de recepción|Resistencia de Rtt no Sack"
    "|Número máximo de retransmisiones SYN|Fast Open|Reserva Fast Open|HyStart"
    "|Reducción de tasa proporcional|Perfil de velocidad",
    "it": "Stato Receive-Side Scaling|Livello regolazione automatica finestra ricezione"
    "|Provider di controllo congestione componenti aggiuntivi|Funzionalità ECN|Timestamp RFC 1323"
    "|RTO iniziale|Stato Receive Segment Coalescing|Resilienza RTT non SACK|Numero massimo ritrasmissioni SYN"
    "|Fast Open|Fallback Fast Open|HyStart|Riduzione proporzionale della velocità|Profilo di pacing",
    "pt-BR": "Estado do Receive-Side Scaling|Nível de Ajuste Automático da Janela de Recepção"
    "|Provedor de Controle de Congestionamento|Capacidade ECN|Carimbos de data/hora RFC 1323|RTO inicial"
    "|Estado de União de Segmento de Recepção|Resiliência RTT não SACK|Máximo de retransmissões SYN"
    "|Fast Open|Fallback Fast Open|HyStart|Redução de taxa proporcional|Perfil de cadência",
    "ko": "수신측 배율 상태|수신 창 자동 조정 수준|추가 기능 정체 제어 공급자|ECN 기능|RFC 1323 타임스탬프"
    "|초기 RTO|수신 세그먼트 병합 상태|비 SACK RTT 복원력|최대 SYN 재전송 수|빠른 열기|빠른 열기 대체|HyStart"
    "|비례 속도 감소|속도 조절 프로필",
    "zh-TW": "接收端調整狀態|接收視窗自動調整層級|附加元件壅塞控制提供者|ECN 功能|RFC 1323 時間戳記"
    "|初始 RTO|接收區段聯合狀態|非 Sack Rtt 恢復功能|SYN 重新傳輸上限|快速開啟|快速開啟後援|HyStart"
    "|比例速率降低|步調設定檔",
    "pl": "Stan skalowania po stronie odbioru|Poziom automatycznego dostrajania okna odbioru"
    "|Dostawca kontroli przeciążenia|Funkcja ECN|Znaczniki czasu RFC 1323|Początkowy limit RTO"
    "|Stan łączenia segmentów odbioru|Odporność RTT bez SACK|Maksymalna liczba retransmisji SYN"
    "|Fast Open|Rezerwa Fast Open|HyStart|Proporcjonalna redukcja szybkości|Profil tempa",
    "nl": "Status van Receive-Side Scaling|Niveau voor automatisch afstemmen van ontvangstvenster"
    "|Provider voor overbelastingsbeheer|ECN-mogelijkheid|RFC 1323-tijdstempels|Initiële RTO"
    "|Status van Receive Segment Coalescing|Niet-Sack RTT-tolerantie|Maximum SYN-hertransmissies"
    "|Fast Open|Fast Open-terugval|HyStart|Evenredige snelheidsverlaging|Pacing-profiel",
    "tr": "Alma Tarafı Ölçeklendirme Durumu|Alma Penceresi Otomatik Ayarlama Düzeyi"
    "|Eklenti Tıkanıklık Denetimi Sağlayıcısı|ECN Özelliği|RFC 1323 Zaman Damgaları|İlk RTO"
    "|Alma Segmenti Birleştirme Durumu|SACK Dışı RTT Dayanıklılığı|En Fazla SYN Yeniden İletimi"
    "|Fast Open|Fast Open Geri Dönüşü|HyStart|Orantılı Hız Azaltma|Tempo Profili",
    "cs": "Stav škálování na straně příjmu|Úroveň automatického ladění okna pro příjem"
    "|Zprostředkovatel řízení zahlcení|Možnost ECN|Časová razítka RFC 1323|Počáteční RTO"
    "|Stav slučování segmentů příjmu|Odolnost RTT bez SACK|Maximum opakovaných přenosů SYN"
    "|Fast Open|Záložní Fast Open|HyStart|Poměrné snížení rychlosti|Profil tempa",
    "sv": "Status för skalning på mottagarsidan|Nivå för automatisk justering av mottagningsfönster"
    "|Provider för överbelastningskontroll|ECN-funktion|RFC 1323-tidsstämplar|Inledande RTO"
    "|Status för Receive Segment Coalescing|Icke-SACK RTT-återhämtning|Max antal SYN-omsändningar"
    "|Fast Open|Fast Open-återgång|HyStart|Proportionell hastighetsminskning|Pacing-profil",
}
THAI = (
    "สถานะการปรับขนาดด้านรับ|ระดับหน้าต่างรับ|ตัวควบคุมความแออัด|ความสามารถ ECN|ตราเวลา RFC 1323|RTO เริ่มต้น"
    "|สถานะการรวมส่วนรับ|ความทนทาน RTT ไม่ใช่ SACK|จำนวนส่ง SYN ซ้ำ|เปิดเร็ว|เปิดเร็วสำรอง|HyStart"
    "|ลดอัตราตามส่วน|โปรไฟล์จังหวะ"
)
SYSTEMINFO_DE = """
Hostname:                PC1
Betriebssystemname:      Microsoft Windows 10 Pro
Betriebssystemversion:   10.0.19045 Nicht zutreffend Build 19045
BIOS-Version:            Dell Inc. 1.2.3, 01.02.2020
"""
COMPUTERINFO = """
WindowsProductName : Windows Server 2022 Datacenter
OsVersion          : 10.0.20348
OsBuildNumber      : 20348
OsProductType      : Server
"""
SUBINTERFACES = (
    "\n   MTU  MediaSenseState   Bytes In  Bytes Out  Interface\n------  ---  ---  ---  ---\n{0}\n"
)


def table(labels: str, values: tuple[object, ...] = VALUES_14, colon: str = " : ") -> str:
    rows = zip(labels.split("|"), values, strict=True)
    return "TCP\n" + "-" * 46 + "\n" + "".join(f"{label}{colon}{value} \n" for label, value in rows) + "\n"


@pytest.mark.parametrize("language", LABELS)
def test_labels_of_known_languages_need_no_position(language: str) -> None:
    parsed = parse(table(LABELS[language]))
    assert parsed.kind == "netsh-tcp-global"
    assert parsed.values == dict(zip(KEYS_14, VALUES_14, strict=True))
    assert (list(parsed.notes), list(parsed.unrecognized)) == ([], [])


@pytest.mark.parametrize("language", LABELS)
def test_labels_of_known_languages_in_any_order(language: str) -> None:
    lines = table(LABELS[language]).splitlines()
    parsed = parser("netsh-tcp-global").parse("\n".join([*lines[:2], *reversed(lines[2:]), ""]))
    assert parsed.values == dict(zip(KEYS_14, VALUES_14, strict=True))


def test_an_unknown_language_is_placed_by_order_and_says_so() -> None:
    parsed = parse(table(THAI))
    assert parsed.values == dict(zip(KEYS_14, VALUES_14, strict=True))
    assert len(parsed.notes) == 1
    assert "สถานะการปรับขนาดด้านรับ" in parsed.notes[0]
    assert "ECN" not in parsed.notes[0]


def test_an_unknown_language_with_a_row_lost_keeps_only_what_is_certain() -> None:
    lines = table(THAI).splitlines()
    for lost in range(2, 16):
        parsed = parser("netsh-tcp-global").parse("\n".join([*lines[:lost], *lines[lost + 1 :], ""]))
        whole = dict(zip(KEYS_14, VALUES_14, strict=True))
        assert parsed.values.items() <= whole.items()
        # Without its PRR row the table is exactly that of Windows 10 1809, and every place is right.
        assert ("receive_side_scaling" in parsed.values) == (
            KEYS_14[lost - 2] == "proportional_rate_reduction"
        )
        told = {"ecn_capability", "rfc1323_timestamps", "initial_rto", "receive_window_auto_tuning_level"}
        assert len(told & parsed.values.keys()) >= 3


def test_an_unknown_language_in_another_order_is_not_guessed() -> None:
    lines = table(THAI).splitlines()
    parsed = parser("netsh-tcp-global").parse("\n".join([*lines[:2], lines[6], *lines[2:6], *lines[7:], ""]))
    assert "receive_side_scaling" not in parsed.values
    assert "proportional_rate_reduction" not in parsed.values
    assert len(parsed.unrecognized) == 6


@pytest.mark.parametrize("colon", ["\u00a0: ", "\u202f:\u00a0", "\uff1a", "\u3000\uff1a\u3000", "\t:\t", ":"])
def test_colons_of_any_form(colon: str) -> None:
    assert parse(table(LABELS["fr"], colon=colon)).values == dict(zip(KEYS_14, VALUES_14, strict=True))


@pytest.mark.parametrize(
    ("frame", "end"),
    [
        ("\ufeff{0}", ""),
        ("> {0}", ""),
        ("C:\\Users\\a b>netsh int tcp show global\n{0}", "\nC:\\Users\\a b>"),
    ],
)
def test_what_mails_and_prompts_add(frame: str, end: str) -> None:
    text = sample("tcp_show_global__win11__en__01.txt").text
    parsed = parse(frame.format(text) + end)
    assert parsed.values["rfc1323_timestamps"] == "allowed"
    assert parsed.unrecognized == ()


def test_german_supplemental_names_its_template_in_a_row() -> None:
    # MysticFoxDE/WINDOWS-OPTIMIZATIONS issue 15
    parsed = parse(
        "Globale TCP-Standardvorlage: custom\n\nZusätzliche TCP-Parameter\n" + "-" * 46 + "\n"
        "Mindest-RTO (ms)                  : 20\n"
        "Anfängliches Überlastungsfenster (MSS)     : 10\n"
        "Überlastungssteuerungsanbieter         : dctcp\n"
        "Neustart des Überlastungsfensters aktivieren    : disabled\n"
        "Zeitüberschreitung für verzögerte Bestätigung (ms)          : 10\n"
        "Häufigkeit für verzögerte Bestätigung               : 2\n"
    )
    assert parsed.kind == "netsh-tcp-supplemental"
    assert parsed.values == {
        "default_template": "custom",
        "min_rto_ms": 20,
        "initial_congestion_window_mss": 10,
        "congestion_provider": "dctcp",
        "congestion_window_restart": "disabled",
        "delayed_ack_timeout_ms": 10,
        "delayed_ack_frequency": 2,
    }


def test_automatic_mode_has_no_table() -> None:
    text = "\nThe TCP global default template is automatic\n\n"
    assert parse(text).values == {"default_template": "automatic"}


def test_a_template_name_that_may_be_cut_is_not_taken() -> None:
    parsed = parser("netsh-tcp-supplemental").parse("The TCP global default template is internet")
    assert parsed.values == {}
    assert parsed.unrecognized == ("The TCP global default template is internet",)


def test_russian_heuristics() -> None:
    # as recorded in a public report of a Windows 10/11 host
    title = "Параметры эвристики масштабирования окон TCP"
    text = f"{title}\n-----\nЭвристика масштабирования окон     : disabled \n"
    assert parse(text).values == {"window_scaling_heuristics": "disabled"}


@pytest.mark.parametrize(
    "words",
    [
        "Plage de ports dynamique du protocole tcp|Port de démarrage|Nombre de ports",
        "Диапазон динамических портов протокола tcp|Начальный порт|Число портов",
        "Protokoll tcp Dynamischer Portbereich|Startport|Anzahl von Ports",
        "プロトコル tcp 動的ポート範囲|開始ポート|ポート数",
        "โพรโทคอล tcp ช่วงพอร์ต|พอร์ตแรก|จำนวน",
    ],
)
def test_dynamic_ports_in_other_languages(words: str) -> None:
    title, start, count = words.split("|")
    parsed = parse(f"\n{title}\n---\n{start}       : 1024\n{count}: 64511\n")
    assert parsed.values == {"protocol": "tcp", "start_port": 1024, "number_of_ports": 64511}


def test_the_persistent_store_is_a_kind_of_its_own() -> None:
    text = sample("tcp_show_global__win11__en__01.txt").text.replace("active", "persistent")
    assert recognized(text) == "netsh-tcp-global-persistent"


def test_a_label_twice_with_two_values_has_none() -> None:
    text = sample("tcp_show_global__win7__en__04.txt").text
    parsed = parser("netsh-tcp-global").parse(text + text.replace("normal", "disabled"))
    assert "receive_window_auto_tuning_level" not in parsed.values
    assert parsed.values["ecn_capability"] == "enabled"
    assert any("two" in note or "different values" in note for note in parsed.notes)


def test_usage_text_has_no_values_whatever_parser_reads_it() -> None:
    text = sample("tcp_set_global__win10-1809-server2019__en__01.txt").text
    for kind in ("netsh-tcp-global", "netsh-tcp-supplemental", "netsh-tcp-heuristics", "netsh-dynamicport"):
        parsed = parser(kind).parse(text)
        assert parsed.values == {}
        assert len(parsed.unrecognized) > 50


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Aceptar\r\n\r\n", {"result": "ok"}),
        ("ОК.\n", {"result": "ok"}),
        ("確定。\n", {"result": "ok"}),
        (
            "Set global command failed on IPv4 The requested operation requires elevation.\n",
            {"result": "error", "error_kind": "elevation_required"},
        ),
        (
            "L’opération demandée nécessite une élévation (Exécuter en tant qu’administrateur).\n",
            {"result": "error", "error_kind": "elevation_required"},
        ),
        ("请求的操作需要提升(作为管理员运行)。\n", {"result": "error", "error_kind": "elevation_required"}),
        ("Falscher Parameter.\n", {"result": "error", "error_kind": "parameter_incorrect"}),
        (
            "'hystart' is not a valid argument for this command.\n\nUsage: set global [[rss=]disabled]\n",
            {"result": "error", "error_kind": "invalid_argument", "invalid_argument": "hystart"},
        ),
        ("Access is denied.\n", {"result": "error", "error_kind": "access_denied"}),
    ],
)
def test_results_of_set_in_other_languages(text: str, values: dict[str, object]) -> None:
    parsed = parse(text)
    assert (parsed.kind, parsed.values) == ("netsh-set", values)


@pytest.mark.parametrize(
    "text",
    [
        "sysctl: Zugriff verweigert auf Schlüssel »net.ipv4.tcp_fastopen_key«\n",
        "sysctl: permission denied on key 'net.ipv4.tcp_fastopen_key'\n",
        "net.core.rmem_max = 1\nsysctl: отказано в доступе к ключу «kernel.cap_last_cap»\n",
        "mysql: Access denied for user 'root'@'localhost'\n",
        "sshd[12]: access denied\n",
    ],
)
def test_a_message_of_another_system_is_no_message_of_netsh(text: str) -> None:
    assert [p.kind for p in PARSERS if p.recognize(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "a]=]b [[ x]|y\n",
        'if [[ "$x" ]]; then a[i=]=b|c; fi\n',
        "http            80/tcp          www             # WorldWideWeb, the internet\n",
        "Connect the device to the internet over TCP with a custom port\n",
    ],
)
def test_brackets_and_words_that_stand_anywhere_are_no_output_of_netsh(text: str) -> None:
    assert [p.kind for p in PARSERS if p.recognize(text)] == []


def test_digits_of_other_scripts_are_no_numbers() -> None:
    parsed = parser("netsh-chimneystats").parse("TCP Chimney statistics\nOffloaded : ²\nRefused : ٣\n")
    assert parsed.values["settings"] == {"offloaded": "²", "refused": "٣"}
    adapters = '"Name","InterfaceIndex","ReceiveLinkSpeed"\n"Ethernet","²","1000"\n'
    assert parser("get-netadapter").parse(adapters).values["adapters"] == []


def test_an_unknown_sentence_is_neither_success_nor_failure() -> None:
    parsed = parser("netsh-set").parse("Jotain tapahtui.\n")
    assert parsed.values == {}
    assert parsed.unrecognized == ("Jotain tapahtui.",)


def test_powershell_7_writes_its_errors_without_the_blank() -> None:
    parsed = parse("Set-NetTCPSetting: Property CongestionProvider is read-only\n")
    assert parsed.values == {"result": "error", "error_kind": "read_only", "parameter": "CongestionProvider"}


@pytest.mark.parametrize(
    ("text", "build", "server"),
    [
        ("\nMicrosoft Windows [Version 10.0.22631.3007]\n", 22631, None),
        ("\nMicrosoft Windows [版本 10.0.18363.752]\n", 18363, None),
        ("\nMicrosoft Windows [Version 6.1.7601]\n", 7601, None),
        (SYSTEMINFO_DE, 19045, False),
        (COMPUTERINFO, 20348, True),
    ],
)
def test_releases(text: str, build: int, server: bool | None) -> None:
    parsed = parse(text)
    assert parsed.kind == "windows-release"
    assert (parsed.values["build"], parsed.values.get("server")) == (build, server)


def test_json_with_enums_as_numbers_and_one_object() -> None:
    text = (
        '{"SettingName":"Internet","AutoTuningLevelLocal":3,"CwndRestart":0,"MinRtoMs":300,'
        '"CongestionProvider":5,"Timestamps":0}'
    )
    parsed = parse(text)
    assert parsed.values == {
        "internet.auto_tuning_level_local": "normal",
        "internet.cwnd_restart": False,
        "internet.min_rto_ms": 300,
        "internet.timestamps": "disabled",
    }
    assert parsed.unrecognized == ('{"CongestionProvider": 5}',)  # not in Microsoft's list of providers


def test_list_lines_out_of_order_belong_to_nobody() -> None:
    lines = sample("get_nettcpsetting__server2012__en__01.txt").text.splitlines()
    swapped = [*lines[:19], lines[22], *lines[20:22], lines[19], *lines[23:]]
    parsed = parser("get-nettcpsetting").parse("\n".join(swapped))
    assert parsed.values == {}
    assert len(parsed.unrecognized) > 60


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("  1500                1          0          0  Ethernet (2) *#é", "Ethernet (2) *#é"),
        ("4294967295                1          0          0  12", "12"),
    ],
)
def test_interface_names_of_any_form(row: str, expected: str) -> None:
    text = (
        f"\n   MTU  MediaSenseState   Bytes In  Bytes Out  Interface\n------  ----  ----  ----  ----\n{row}\n"
    )
    rows = parse(text).values["subinterfaces"]
    assert isinstance(rows, list)
    assert isinstance(rows[0], dict)
    assert rows[0]["interface"] == expected


def test_a_name_that_a_mail_broke_is_joined_with_a_note() -> None:
    row = "4294967295                1          0      53277  Loopback of this very"
    parsed = parse(SUBINTERFACES.format(f"{row}\nPseudo-Interface 1"))
    rows = parsed.values["subinterfaces"]
    assert isinstance(rows, list)
    assert isinstance(rows[0], dict)
    assert rows[0]["interface"] == "Loopback of this very Pseudo-Interface 1"
    assert len(parsed.notes) == 1


def test_a_row_that_may_be_broken_has_no_name_to_trust() -> None:
    row = "  1500                1  774750294   31919581  Ethernet of the second floor"
    parsed = parser("netsh-subinterfaces").parse(SUBINTERFACES.format(f"{row}\nto the left"))
    assert parsed.values == {}
    assert list(parsed.unrecognized) == [row.strip(), "to the left"]
