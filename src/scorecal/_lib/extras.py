"""Advice to install what is optional, written once."""


def needs(what: str, extra: str) -> ImportError:
    """Return the error for a package that is missing: what needs it, and how to install it with the others it takes.

    The package is on no index yet, so that its name alone would install nothing.
    """
    return ImportError(f'{what}: run pip install ".[{extra}]" in a clone of scorecal.')
