"""Bytes become text by proof where there is one, by evidence elsewhere, and never by an exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostcfg.pasted.decoding import CODE_PAGES, decode_bytes, unquote_printable

WINDOWS = Path(__file__).parents[1] / "fixtures" / "windows"
PAGES = {"de": ("cp850", "cp437", "cp1252"), "ja": ("cp932",), "ru": ("cp866", "cp1251"), "zh-CN": ("cp936",)}
UNICODE = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")


def _recorded() -> list[tuple[str, str]]:
    found = []
    for path in sorted(WINDOWS.glob("*.txt")):
        locale = path.name.split("__")[2]
        if "qp" not in path.name:
            found += [(path.name, page) for page in (*PAGES.get(locale, ("cp437",)), *UNICODE)]
    return found


@pytest.mark.parametrize(("name", "encoding"), _recorded())
def test_recorded_windows_outputs_in_the_code_pages_of_their_language(name: str, encoding: str) -> None:
    text = (WINDOWS / name).read_text(encoding="utf-8-sig")
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError:
        return  # a remark that somebody added in another script
    assert decode_bytes(data) == text


TEXTS = {
    "cp949": "TCP 전역 매개 변수\n수신측 배율 상태: 사용\n수신 창 자동 조정 수준: normal\n",
    "cp950": "TCP 全域參數\n接收端調整狀態: 啟用\n接收視窗自動調整層級: normal\n",
    "cp850": "Paramètres globaux TCP\nÉtat de la mise à l'échelle côté réception: activé\n",
    "cp437": "Parámetros globales de TCP\nEstado de ajuste de escala en lado de recepción: habilitado\n",
    "cp852": "Globální parametry TCP\nStav škálování na straně příjmu: povoleno\nÚroveň ladění okna příjmu\n",
    "cp857": "TCP Genel Parametreleri\nAlış Yönü Ölçeklendirme Durumu: etkin\nAlma Penceresi Düzeyi\n",
    "cp1252": "Parâmetros globais TCP\nEstado do dimensionamento do lado da recepção: ativado\n",
    "cp1250": "Globalne parametry TCP\nStan skalowania po stronie odbierającej: włączone\n",
    "cp874": "พารามิเตอร์ส่วนกลางของ TCP\nสถานะการปรับขนาดด้านรับ : เปิดใช้งาน\n",
    "cp1251": "Глобальные параметры TCP\nСостояние масштабирования на стороне приема: включено\n",
}


@pytest.mark.parametrize("encoding", sorted(TEXTS))
def test_other_languages(encoding: str) -> None:
    assert decode_bytes(TEXTS[encoding].encode(encoding)) == TEXTS[encoding]


@given(st.binary(max_size=400))
@settings(max_examples=300)
def test_any_bytes(data: bytes) -> None:
    assert isinstance(decode_bytes(data), str)


@given(st.text(st.characters(codec="utf-8", exclude_characters="=\x00"), max_size=200))
@settings(max_examples=300)
def test_utf8_is_itself(text: str) -> None:
    assert decode_bytes(b"\xef\xbb\xbf" + text.encode()) == text
    if not text.startswith("\ufeff"):
        assert decode_bytes(text.encode()) == text


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=8, max_size=200))
def test_ascii_in_utf16_without_a_mark(text: str) -> None:
    assert decode_bytes(text.encode("utf-16-le")) == text
    assert decode_bytes(text.encode("utf-16-be")) == text


def test_a_few_bad_bytes_do_not_make_utf8_something_else() -> None:
    text = "Zustand der empfangsseitigen Skalierung für ältere Geräte größer\n" * 3
    data = bytearray(text.encode())
    data[data.index(b"gr")] = 0xFF
    assert decode_bytes(bytes(data)).count("\ufffd") == 1


def test_nul_bytes_and_an_odd_end() -> None:
    assert decode_bytes(b"a\x00b") == "a\x00b"
    assert decode_bytes(b"\xff\xfea\x00b\x00c") == "ab\ufffd"
    assert decode_bytes(b"") == ""


def test_quoted_printable_bytes() -> None:
    assert unquote_printable(b"kern.ipc.maxsockbuf=3D1\n") == b"kern.ipc.maxsockbuf=1\n"
    assert unquote_printable(b"net.inet.tcp.mssdflt=20\n") == b"net.inet.tcp.mssdflt=20\n"
    assert decode_bytes(b"f=C3=BCr=20=\nalle a=3Db\n") == "für alle a=b\n"


def test_every_code_page_is_known_to_python() -> None:
    for page in CODE_PAGES:
        assert "a".encode(page) == b"a"
