"""Bytes that somebody saved or mailed, as text: by BOM, by UTF-8's own proof, else by evidence.

Windows consoles write their OEM code page (437, 850, 866, 932, 936, 949 ...), PowerShell redirects
to UTF-16, mail programs to quoted-printable.  Nothing here raises: what can't be read becomes U+FFFD.
"""

from __future__ import annotations

import quopri
import re
import unicodedata
from functools import lru_cache

_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SAMPLE = 1 << 16

CODE_PAGES = (
    *("cp932", "cp936", "cp949", "cp950", "cp866", "cp1251"),
    *("cp850", "cp437", "cp852", "cp857", "cp1252", "cp1250", "cp1254", "cp874", "koi8-r"),
)
"""Code pages that are tried, OEM before ANSI: the first of equals wins."""

_WESTERN = frozenset("äöüßéèêëàâçîïôùûñáíóúãõåæøìòÄÖÜÉÀÑÅÆØÁÍÓÚÇÈ")
_CENTRAL = frozenset("ąćęłńśźżčďěňřšťůýžășțőűğışĄĆŁŚŹŻČŘŠŽŮŐŰİŞĞ")
_CHINESE = frozenset(
    "的一是不在有中大上为个和用时到要以可下出对能行自会动开成实全名部分面前后接收状态禁启口局参数设置协议窗网络"
    "端范围起始缩放级别功能戳初默认拥塞提供程序卸载连传输字节节点命令确定主机方错误值传送输入出感知本地流量控制"
    "狀態停啟動介域參設定通訊協視窗層級數據連線開關閉環線路徑錯誤請求預設模組內核緩衝區記憶體傳輸擁塞"
)

_KOREAN = frozenset(
    "이다는을를의가에하고은한로도지사인시기자정수대스어부전과해보리나서그제주장상동일성구조원만아면위여경공용화오"
    "국중관안신물되생라교유있게발무적실세문방모산개소선비계마당체학연속분간단통명드법내력금영트출설치태매변음함배"
    "율창준역굴뚝프램프로토콜값오류확명령령실패성공권필요관리참조인터페이스바이트입출력포트범위시작번호"
)
_THAI_COMMON = frozenset("านร์่้ิีเกมงอวสตปลคดทยใไะัืึุูแโจขชบพ")
_THAI_MARKS = frozenset("ัิีึืฺุู็่้๊๋์ํ๎ำ")

_NARROW_START = re.compile(rb"[\t\n\r\x20-\x7e]{16}")
_WIDE_RUN = re.compile(rb"(?:[\t\n\r\x20-\x7e]\x00){8,}")
"""UTF-16 in a file that began as something else: what PowerShell's ``>>`` makes of it."""

_QP_ESCAPE = re.compile(rb"=(?:[0-9A-F]{2}|\r?\n)")
_QP_PROOF = re.compile(rb"=3D|=C[23]=|=E2=|^[^\n]{50,80}=\r?\n|^=20\r?$", re.MULTILINE)


def decode_bytes(data: bytes) -> str:
    """``data`` as text; never an exception, and in time linear to its length."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, errors="replace")
    wide = _utf16_by_evidence(data)
    if wide is not None:
        return data.decode(wide, errors="replace")
    if b"\x00" in data:
        data = _WIDE_RUN.sub(lambda run: run[0][::2], data)
    data = unquote_printable(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    lenient = data.decode("utf-8", errors="replace")
    if _mostly_utf8(lenient):
        return lenient
    return data.decode(_code_page(data), errors="replace")


def unquote_printable(data: bytes) -> bytes:
    """``data`` without its quoted-printable encoding, if it surely has one (RFC 2045 section 6.7).

    Every ``=`` must be an escape and at least one of them can be nothing else: ``mssdflt=20`` proves
    nothing, nor does a short line that ends in ``=``.
    """
    equals = data.count(b"=")
    if not equals or _QP_PROOF.search(data) is None:
        return data
    escapes = sum(1 for _ in _QP_ESCAPE.finditer(data))
    return quopri.decodestring(data) if escapes >= equals else data


def _utf16_by_evidence(data: bytes) -> str | None:
    """UTF-16 without a BOM: every second byte of ASCII is zero, and the others hardly ever."""
    sample = data[: _SAMPLE & ~1]
    pairs = len(sample) // 2
    if pairs < 4 or _NARROW_START.match(sample):
        return None
    low, high = sample[0::2].count(0), sample[1::2].count(0)
    if high >= 0.2 * pairs and low <= 0.02 * pairs:
        return "utf-16-le"
    return "utf-16-be" if low >= 0.2 * pairs and high <= 0.02 * pairs else None


def _mostly_utf8(text: str) -> bool:
    bad = text.count("\ufffd")
    good = sum(1 for char in text[: 1 << 20] if ord(char) > 127) - min(bad, 1 << 20)
    return good > 3 * bad


def _code_page(data: bytes) -> str:
    """The code page whose reading looks most like writing; cp1252 where none does."""
    lines = [line for line in data[: 1 << 20].splitlines() if not line.isascii()]
    sample = b"\n".join(lines)[:_SAMPLE]
    best, best_score = "cp1252", 0.0
    for encoding in CODE_PAGES:
        text = _strict(sample, encoding)
        score = _plausibility(text) if text is not None else 0.0
        if score > best_score + 1e-9:
            best, best_score = encoding, score
    return best


def _strict(sample: bytes, encoding: str) -> str | None:
    """``sample`` in ``encoding``; a cut last character is forgiven."""
    for cut in (0, 1):
        try:
            return sample[: len(sample) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _plausibility(text: str) -> float:
    """Points for characters that stand where their script puts them, a wide one counting as two bytes."""
    counts: dict[str, int] = {}
    points = 0.0
    previous = " "
    for index, char in enumerate(text):
        if char > "\x7f":
            kind = _kind(char)
            counts[kind] = counts.get(kind, 0) + 1
            following = text[index + 1 : index + 2] or " "
            weight = 2 if kind in _WIDE else 1
            points += weight * _points(char, kind, previous, following)
        previous = char
    return points + 2 * _east_asian(counts)


_WIDE = frozenset({"kana", "wide", "hangul", "han"})


@lru_cache(maxsize=4096)
def _kind(char: str) -> str:
    code = ord(char)
    for kind, first, last in (
        ("kana", 0x3040, 0x30FF),
        ("half", 0xFF61, 0xFF9F),
        ("wide", 0x3000, 0x303F),
        ("wide", 0xFF00, 0xFF60),
        ("hangul", 0xAC00, 0xD7A3),
        ("han", 0x4E00, 0x9FFF),
        ("cyrillic", 0x0400, 0x04FF),
        ("thai", 0x0E00, 0x0E7F),
    ):
        if first <= code <= last:
            return kind
    if code < 0x250 and unicodedata.category(char) in ("Lu", "Ll"):
        return "latin"
    return "bad" if unicodedata.category(char) in ("Cc", "Co", "Cn") else "symbol"


def _points(char: str, kind: str, previous: str, following: str) -> float:
    """Points of one character between its neighbours."""
    ascii_letters = sum(n.isascii() and n.isalpha() for n in (previous, following))
    if kind in ("latin", "cyrillic"):
        return _alphabetic(char, kind, previous, following, ascii_letters)
    if kind in _WIDE and ascii_letters and previous.isascii() and following.isascii():
        return -2.0  # alone between letters: an accented letter of another code page
    if kind == "thai":
        return _thai(char, previous)
    if kind == "han":
        return 1.0 if char in _CHINESE else 0.0
    if kind == "hangul":
        return 1.5 if char in _KOREAN else -1.0
    return {"symbol": -2.0, "bad": -5.0, "wide": 1.0}.get(kind, 0.0)


def _alphabetic(char: str, kind: str, previous: str, following: str, ascii_letters: int) -> float:
    """A capital within a word is wrong; accented letters stand among plain ones, Cyrillic among its own."""
    if char.isupper() and previous.islower():
        return -2.0
    if kind == "cyrillic":
        return -1.0 if ascii_letters else 2.0
    weight = 2.0 if char in _WESTERN else 1.5 if char in _CENTRAL else -1.0
    if weight < 0 or not ascii_letters:
        return min(weight, -0.5)
    same = any(n > "\x7f" and _kind(n) == kind for n in (previous, following))
    return weight / 4 if same else weight


def _thai(char: str, previous: str) -> float:
    """Vowel and tone marks follow a Thai letter."""
    if char in _THAI_MARKS and _kind(previous) != "thai":
        return -3.0
    return 1.5 if char in _THAI_COMMON else -1.0


def _east_asian(counts: dict[str, int]) -> float:
    """Kana or hangul make a language only if the rest fits: no hanja among hangul, kana among kanji."""
    kana, han, hangul, half = (counts.get(kind, 0) for kind in ("kana", "han", "hangul", "half"))
    points = -2.0 * half
    if hangul:
        points += 1.0 * hangul if han <= 0.1 * hangul else -1.0 * hangul
    if kana:
        points += 3.0 * kana + han if kana >= 0.15 * (kana + han) else -1.0 * kana
    elif han and not hangul:
        points += 0.4 * han
    return points
