"""Text that came with data is shown, and never obeyed."""

import unicodedata

import pytest

from scorecal._lib.tables import table
from scorecal._lib.text import html_text, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),  # clears a screen, and names its window
        ("a\r\n\tb\x00\x7f", r"a\r\n\tb\x00\x7f"),
        ("\x9b31m\x85", r"\x9b31m\x85"),  # the same in one byte, and a line end
        ("user\u202egnp.exe\u2066", r"user\u202egnp.exe\u2066"),
        ("\u200e\u200f\u061c\ufeff\u200b\xad", r"\u200e\u200f\u061c\ufeff\u200b\xad"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\U000e0041", r"\U000e0041"),
        ("\udcff", r"\udcff"),  # a byte of the name of a file that is no UTF-8
        ("Größe 中文 नमस्ते 5\u00a0%", "Größe 中文 नमस्ते 5\u00a0%"),
        ("\u0645\u06cc\u200c\u062e 👩\u200d🔬", "\u0645\u06cc\u200c\u062e 👩\u200d🔬"),  # joiners are part of words
        (r"C:\new", r"C:\new"),
    ],
)
def test_visible(text, shown):
    assert visible(text) == shown


def test_every_control_character_is_escaped():
    for code in range(0x110000):
        c = chr(code)
        if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(c) in (
            *("LRE", "RLE", "LRO", "RLO", "PDF"),
            *("LRI", "RLI", "FSI", "PDI"),
        ):
            assert visible(c).isascii(), hex(code)
            assert visible(c).isprintable(), hex(code)


def test_what_is_kept():
    assert visible("a\nb\tc", keep="\n") == "a\nb\\tc"


def test_html():
    assert html_text('<b title="x">\x1b\u202e') == r"&lt;b title=&quot;x&quot;&gt;\x1b\u202e"


def test_a_table_has_a_line_for_each_row():
    shown = table(("na\nme", "p"), [("a\nb", 0.5), ("\x1b[31m", 1.0)])
    assert shown.text() == "na\\nme    p\na\\nb      0.5\n\\x1b[31m  1"
    assert "\n" not in shown.html()
    assert "\x1b" not in shown.html()
