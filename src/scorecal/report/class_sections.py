"""The parts of a report on predictions of classes, each a list of pieces of HTML."""

from .._lib.text import html_text
from ..diagnosis import ClassDiagnosis, class_words, words
from ..plots import plot_reliability
from .pictures import picture


def reliability_part(diagnosis: ClassDiagnosis) -> list[str]:
    """How confidence is wrong: sentences, the reliability diagram and its table, calibration error and temperature."""
    table = class_words.reliability_table(diagnosis)
    caption = (
        "How often the most probable class is right where predictions give it so much, with "
        f"{words.intervals_in_words(diagnosis)}; grey is where the rows are."
    )
    described = "; ".join(f"claimed {claimed}, right {right}" for _, _, claimed, right in table.rows)
    return [
        "<h2>In what way</h2>",
        *(f"<p>{html_text(sentence)}</p>" for sentence in class_words.below_the_verdict(diagnosis)),
        picture(lambda: plot_reliability(diagnosis), caption, described),
        *(f"<p>{html_text(line)}</p>" for line in class_words.summary_of(diagnosis)),
        table.html(),
    ]


def classes_part(diagnosis: ClassDiagnosis) -> list[str]:
    """Shares of the classes, claimed and found."""
    more = len(diagnosis.classes) - len(class_words.classes_table(diagnosis).rows)
    left_out = [f"<p>{more} more classes have smaller differences.</p>"] if more else []
    return ["<h2>Class by class</h2>", class_words.classes_table(diagnosis).html(), *left_out]


def class_covariates_part(diagnosis: ClassDiagnosis) -> list[str]:
    """Regions and levels of the covariates that were given."""
    parts = []
    if diagnosis.regions:
        unclear = ["<p>No region clearly differs from the rest.</p>"] if diagnosis.where is None else []
        parts += ["<h2>Where</h2>", *unclear, class_words.regions_table(diagnosis).html()]
    if diagnosis.levels:
        parts += ["<h2>Level by level</h2>", class_words.levels_table(diagnosis).html()]
    return parts
