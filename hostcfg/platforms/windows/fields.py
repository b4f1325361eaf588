"""The rows of netsh's three TCP tables: key, domain, and how the label is known in any language.

``marks`` are searched in the label in the order of the fields, so the first that fits decides:
names of protocols and algorithms first, since Microsoft does not translate those, then word stems.
The stems come from captures (en, de, ja, ru, zh-CN) and from Microsoft's translated documentation;
a row whose label says nothing is placed by its era's order, see :mod:`mapping`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hostcfg.platforms.windows.domains import LEVELS, PACING, PROVIDERS, number, switch, words

if TYPE_CHECKING:
    from hostcfg.platforms.windows.domains import Domain


@dataclass(frozen=True, slots=True)
class Field:
    """One row: ``key`` as `hostcfg parse` prints it, ``parameter`` as netsh takes it.

    ``telling`` are values that no other row of the table can have.  ``everywhere``: the label holds
    the mark in every language, so a row without it is not this one.
    """

    key: str
    parameter: str
    domain: Domain
    marks: str
    telling: frozenset[str] = field(default_factory=frozenset)
    everywhere: bool = False

    def names(self, label: str) -> bool:
        """Whether ``label`` is this row's; compiled at the first label, not at import."""
        return re.search(self.marks, label) is not None


@dataclass(frozen=True)
class Table:
    """One netsh table: its fields in the order in which labels are tried, and each era's rows."""

    name: str  # netsh's word: "global"
    fields: tuple[Field, ...]
    eras: tuple[tuple[str, ...], ...]

    @cached_property
    def by_key(self) -> dict[str, Field]:
        """The fields by key."""
        return {f.key: f for f in self.fields}


def _field(key: str, parameter: str, domain: Domain, marks: str, *telling: str) -> Field:
    return Field(key, parameter, domain, marks, frozenset(telling))


def _named(key: str, parameter: str, domain: Domain, marks: str, *telling: str) -> Field:
    """A field whose label has a name that Microsoft translates nowhere."""
    return Field(key, parameter, domain, marks, frozenset(telling), everywhere=True)


def _name(word: str) -> str:
    """``word`` as a name of its own, also where a CJK letter follows without a blank."""
    return rf"(?<![a-z]){word}(?![a-z])"


_CONGESTION = (
    "congest|überlast|encombrement|перегруз|拥塞|擁塞|壅塞|輻輳|혼잡|정체|폭주|przeciąż|zahlc|přetíž|tıkan"
    "|overbelast|överbelast|stockning|torlód|ruuhk|provider|anbieter|поставщик|fournisseur|proveedor"
    "|provedor|提供程序|提供者|プロバイダー|공급자|dostawc|zprostředkovatel|sağlayıcı"
)
_PROPORTIONAL = "propor[tcz]|пропорц|比例|비례|orantı|oransal|poměr|evenredig|arányos|suhteelli|ratenreduz"
_PACING = (
    r"pacing|schrittsteuer|шаг|节奏|节拍|步调|步調|ペーシング|페이싱|cadenc|cadênc|\britm|rythm|\btempo"
    "|velocid|profil|profiel|профил|配置文件|設定檔|プロファイル|프로필|perfil"
)
_WINDOW = (
    "auto-?tun|abstimmungsgrad|fenster|fenêtre|ventana|finestra|janela|окн|窗口|視窗|ウィンドウ|수신 창|okn"
    "|venster|pencere|fönster|vindu|ablak|ikkuna|автонастро|自动调节|自動調整|자동 조정|자동 튜닝"
)
_SCALING = (
    "receive-? ?side|skalier|масштаб|缩放|縮放|接收端|스케일링|배율|수신측|수신 측|受信側|escal|scalab"
    "|échelle"
    f"|ridimension|lato ricez|skalow|škálov|schaal|ölçek|skalning|skalering|skálá|skaalau|{_name('rss')}"
)
_SEGMENT = "coalesc|segment|сегмент|段合并|段聯合|區段|セグメント|세그먼트|szegmen"
_FALLBACK = (
    "fall-?back|回退|後援|遞補|备用|フォールバック|откат|대체|reserva|repli|secours|alternativ|rezerw|zálo"
    "|terugval|geri dönüş|återgång|ripiego"
)
_FAST_OPEN = (
    "fast ?open|快速(?:打开|开启|開啟)|高速オープン|빠른 열기|apertura r[áa]pida|ouverture rapide"
    "|abertura rápida"
)
_HEURISTICS = (
    "heurist|эвристик|启发|啟發|探索|ヒューリスティック|휴리스틱|추론|heuríst|heuryst|buluşsal|sezgisel"
)
_MILLISECONDS = r"\((?:msec|ms|мс|мсек|毫秒|ミリ秒|밀리초|msn|milisegundos|millisecondi)\.?\)"
_RESTART = (
    "restart|neustart|redémarr|reini|riavvi|перезапуск|重新启动|重启|重新開|重新啟動|再起動|再開|다시 시작"
    "|ponown|opnieuw|yeniden|omstart|újraind"
)
_FREQUENCY = "frequen|frecuen|fréquen|häufig|частот|频率|頻率|頻度|빈도|częstot|sıklı|četnost|frekv|gyakor"
_TAIL = "tail ?loss|尾部|末尾|末端|テール|테일|хвост|pérdida de cola|perda de cauda|sonde|tlp"
_THRESHOLD = (
    "threshold|schwell|порог|阈值|臨界|しきい|임계|seuil|umbral|soglia|limi[at]|próg|eşik|drempel|tröskel"
    "|práh"
)
_UNKNOWN = (
    "unknown|unbekannt|неизвест|未知|不明|알 수|inconn|descon|sconosc|nieznan|onbekend|bilinmeyen|neznám"
    "|okänd"
)
_PUBLIC = (
    "public|öffentlich|общ|公用|公共|公開|パブリック|공용|públic|pubblic|openba|ortak|genel|veřejn|offentlig"
)
_PRIVATE = "privat|privé|privad|частн|专用|私人|プライベート|개인|prywat|privé|özel|soukrom"
_DOMAIN = "domain|domän|домен|域|ドメイン|도메인|domini|domíni|domen|domein|etki|domén"

_levels = words(*LEVELS)
_stamps = words("enabled", "disabled", "allowed", "default")
_chimney = words("enabled", "disabled", "automatic", "default")

_PROVIDER_TELLS = tuple(p for p in PROVIDERS if p != "default")
_PACING_TELLS = tuple(p for p in PACING if p != "default")

_GLOBAL_FIELDS = (
    _named("rfc1323_timestamps", "timestamps", _stamps, "1323", "allowed"),
    _named("non_sack_rtt_resiliency", "nonsackrttresiliency", switch, _name("sack")),
    _named("hystart", "hystart", switch, "hy-?start"),
    _named("netdma", "netdma", switch, "netdma"),
    _field("direct_cache_access", "dca", switch, f"direct cache|{_name('dca')}"),
    _field("chimney_offload", "chimney", _chimney, "chimney|烟囱|煙囪", "automatic"),
    _named("ecn_capability", "ecncapability", switch, _name("ecn")),
    _named("max_syn_retransmissions", "maxsynretransmissions", number(1, 255), _name("syn")),
    _named("initial_rto", "initialrto", number(300, 60000), _name("rto")),
    _field(
        "fast_open_fallback",
        "fastopenfallback",
        switch,
        f"(?:{_FAST_OPEN}).{{0,12}}(?:{_FALLBACK})|(?:{_FALLBACK}).{{0,12}}(?:{_FAST_OPEN})",
    ),
    _field("fast_open", "fastopen", switch, rf"^(?:tcp )?(?:{_FAST_OPEN})(?: tcp)?(?: \(?tfo\)?)?$"),
    _field("receive_segment_coalescing", "rsc", switch, _SEGMENT),
    _field("proportional_rate_reduction", "prr", switch, _PROPORTIONAL),
    _field("pacing_profile", "pacingprofile", words(*PACING), _PACING, *_PACING_TELLS),
    _field(
        "add_on_congestion_provider", "congestionprovider", words(*PROVIDERS), _CONGESTION, *_PROVIDER_TELLS
    ),
    _field("receive_window_auto_tuning_level", "autotuninglevel", _levels, _WINDOW, *LEVELS[1:]),
    _field("receive_side_scaling", "rss", switch, _SCALING),
)


def _global_eras() -> tuple[tuple[str, ...], ...]:
    """Rows of ``show global`` by era, oldest first; each from a capture but 8.1/2012 R2 and 1709."""
    rss, chimney = ("receive_side_scaling",), ("chimney_offload",)
    dma = ("netdma", "direct_cache_access")
    core = (
        "receive_window_auto_tuning_level",
        "add_on_congestion_provider",
        "ecn_capability",
        "rfc1323_timestamps",
    )
    rsc = ("initial_rto", "receive_segment_coalescing")
    syn = ("non_sack_rtt_resiliency", "max_syn_retransmissions")
    tfo = ("fast_open", "fast_open_fallback")
    hystart, prr, pacing = ("hystart",), ("proportional_rate_reduction",), ("pacing_profile",)
    return (
        rss + chimney + core,  # Vista, Server 2008
        rss + chimney + dma + core,  # 7, Server 2008 R2
        rss + chimney + dma + core + rsc,  # 8, Server 2012
        rss + chimney + dma + core + rsc + syn,  # 8.1, Server 2012 R2
        rss + chimney + dma + core + rsc + syn + tfo[:1],  # 10 1607, Server 2016
        rss + chimney + core + rsc + syn + tfo + pacing,  # 10 1703
        rss + chimney + core + rsc + syn + tfo + hystart + pacing,  # 10 1709, 1803
        rss + core + rsc + syn + tfo + hystart + pacing,  # 10 1809, Server 2019
        rss + core + rsc + syn + tfo + hystart + prr + pacing,  # 10 2004, Server 2022, 11
    )


GLOBAL = Table("global", _GLOBAL_FIELDS, _global_eras())

_SUPPLEMENTAL_FIELDS = (
    _named("min_rto_ms", "minrto", number(20, 60000), _name("rto")),
    _named("initial_congestion_window_mss", "icw", number(1, 64), _name("mss")),
    _named("rack", "rack", switch, _name("rack")),
    _field("tail_loss_probe", "taillossprobe", switch, _TAIL),
    _field("congestion_window_restart", "enablecwndrestart", switch, _RESTART),
    _field("congestion_provider", "congestionprovider", words(*PROVIDERS), _CONGESTION, *_PROVIDER_TELLS),
    _field("delayed_ack_frequency", "delayedackfrequency", number(1, 255), _FREQUENCY),
    _field("delayed_ack_timeout_ms", "delayedacktimeout", number(10, 600), _MILLISECONDS),
)
_SUPPLEMENTAL_ROWS = (
    "min_rto_ms",
    "initial_congestion_window_mss",
    "congestion_provider",
    "congestion_window_restart",
    "delayed_ack_timeout_ms",
    "delayed_ack_frequency",
    "rack",
    "tail_loss_probe",
)
SUPPLEMENTAL = Table(
    "supplemental",
    _SUPPLEMENTAL_FIELDS,
    (_SUPPLEMENTAL_ROWS[:5], _SUPPLEMENTAL_ROWS[:6], _SUPPLEMENTAL_ROWS),  # 8, 10, 10 2004 and later
)

_HEURISTICS_ROWS = (
    "window_scaling_heuristics",
    "qualifying_destination_threshold",
    "profile_unknown",
    "profile_public",
    "profile_private",
    "profile_domain",
)
HEURISTICS = Table(
    "heuristics",
    (
        _field("qualifying_destination_threshold", "threshold", number(0, 255), _THRESHOLD),
        _field("profile_unknown", "profile_unknown", _levels, _UNKNOWN),
        _field("profile_public", "profile_public", _levels, _PUBLIC),
        _field("profile_private", "profile_private", _levels, _PRIVATE),
        _field("profile_domain", "profile_domain", _levels, _DOMAIN),
        _field("force_window_scaling", "forcews", switch, "forc|erzwing|принуд|强制|強制|강제|forza"),
        _field("window_scaling_heuristics", "wsh", switch, _HEURISTICS),
    ),
    (_HEURISTICS_ROWS[:1], _HEURISTICS_ROWS),
)

HEURISTICS_WORDS = _HEURISTICS
