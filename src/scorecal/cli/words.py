"""Translation of messages of the library: options, and arrays of files, in place of arguments of Python."""

import re
from itertools import count
from pathlib import Path

_EVERYWHERE = {
    "alpha": "--alpha",
    "calibration_test": "the test",
    "diagnose": "the diagnosis",
    "groups": "--group",
    "horizon": "--horizon",
    "n_resamples": "--n-resamples",
    "null": "--null",
    "predictions": "the predictions",
    "predictions.moments()": "the means",
    "predictions.score(y)": "the score of the predictions at their targets",
    "rng": "--seed",
}
_IN_A_TABLE = {
    "covariates": "--by",
    "forecasts": "the model output",
    "names": "--target",
    "observations": "--hub",
    "observed": "--target",
    "output_type": "--output-type",
    "y": "--target",
}
_IN_AN_NPZ = {
    "Scores": "the scores",
    "at_base": "array 'base_scores'",
    "at_targets": "array 'scores'",
    "base_points": "array 'base_points'",
    "y": "array 'targets'",
}
_ADVICE = {
    "a distribution of counts, such as `scipy.stats.poisson(mean)`": "--count in place of --std",
    "`groups=`": "--group",
    "`horizon=`": "--time and --horizon",
    '`null="simulate"`': "--null simulate",
}
_QUOTED = re.compile(r"""(?<!\w)(['"])(?:\\.|(?!\1).)*\1""")
_TOO_MANY_LABELS = "If it should hold numbers or dates (as 2024-01-31), some are not"


def in_options(message: str, file: Path) -> str:
    """Translate a message of the library on predictions that were read from the file.

    What speaks of other arguments is advice for Python: remarks, causes and all sentences but the first are left out.
    What stands in quotes comes from data, and stays as it is.
    """
    for advice, meant in _ADVICE.items():
        message = message.replace(advice, meant)
    quoted, places = [found[0] for found in _QUOTED.finditer(message)], count()
    message = _QUOTED.sub(lambda _: f"\0{next(places)}\0", message)
    message = message.replace(_TOO_MANY_LABELS, f"{_TOO_MANY_LABELS}, or leave out :label")
    words = _EVERYWHERE | (_IN_AN_NPZ if file.suffix.lower() == ".npz" else _IN_A_TABLE)
    for name, meant in words.items():
        message = message.replace(f"`{name}`", meant)
    message = re.sub(r" \([^()]*`[^()]*\)|, or [^,.;]*`[^,.;]*(?=\.)", "", message)
    first, *rest = re.split(r"(?<=[.;]) ", message)
    kept = [first.replace("`", "")]
    for part in rest:
        if "`" in part:
            kept[-1] = re.sub(";$", ".", kept[-1])
        else:
            kept.append(part[:1].upper() + part[1:] if kept[-1].endswith(".") else part)
    return re.sub("\0(\\d+)\0", lambda found: quoted[int(found[1])], " ".join(kept))
