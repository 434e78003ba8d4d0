"""Text that came with data, made safe to show: what a terminal or a page would obey is written out instead."""

from html import escape
from unicodedata import category

_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format (such as bidirectional overrides), surrogates, line ends
_JOINERS = "\u200c\u200d"  # of the same kind, but parts of words in Persian or Hindi, and of emoji


def visible(text: str, keep: str = "") -> str:
    r"""Write characters that are obeyed and not shown as escapes, such as \x1b; those in `keep` stay as they are.

    >>> visible("\x1b[31mred\nwine")
    '\\x1b[31mred\\nwine'
    """
    obeyed = (c for c in set(text) if category(c) in _OBEYED and c not in _JOINERS + keep)
    return text.translate({ord(c): c.encode("unicode_escape").decode() for c in obeyed})


def html_text(text: str) -> str:
    """Return HTML that shows the text, whatever it holds."""
    return escape(visible(text))
