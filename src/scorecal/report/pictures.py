"""Pictures inside a page: drawn as SVG, in the colour of the text around them, light or dark."""

import io
import re
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .._lib.extras import needs
from .._lib.text import html_text, visible

_INK = "#010203"  # stands for the colour of the text; no picture uses it for anything else


def picture(draw: Callable[[], Any], caption: str, described: str) -> str:
    """A figure element: what `draw` draws on the axes it returns, a caption, and a description for screen readers."""
    try:
        import matplotlib as mpl
        import matplotlib.pyplot as plt
    except ImportError:
        raise needs("A report has pictures, which need matplotlib", "report") from None
    names = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    settings: dict[Any, Any] = {
        **dict.fromkeys(names, _INK),
        "font.size": 11,
        "figure.figsize": (5.2, 3.6),  # inches: small, for the text to be read on a phone
        "svg.fonttype": "none",
        "svg.hashsalt": caption,
        "text.parse_math": False,  # names may hold a $
    }
    with mpl.rc_context(settings):
        figure = np.ravel(draw())[0].figure
        try:
            file = io.StringIO()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Glyph .* missing")  # the reader's fonts are used, not these
                figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        finally:
            plt.close(figure)
    svg = visible(file.getvalue(), keep="\n")  # labels may hold what a page would obey
    svg = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for name in ("width", "height", "xmlns:xlink", "xmlns"):  # the page decides
        svg = re.sub(rf'(<svg[^>]*?) {name}="[^"]*"', r"\1", svg, count=1)
    salt = f"p{zlib.crc32(visible(caption).encode())}"  # ids of one picture must not be those of another
    svg = re.sub(r'\bid="', f'id="{salt}-', svg)
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{salt}-", svg)
    label = f'role="img" aria-label="{html_text(described)}"'
    return f"<figure>{svg.replace('<svg', f'<svg {label}', 1)}<figcaption>{html_text(caption)}</figcaption></figure>"
