"""The paper's models, tests and figures (section 6 and appendix F).

Choices that the paper leaves open are made here: the grid of n, and step sizes and lengths of the chains of Figure 2.
"""

from functools import partial

from ...kernels import GFD, IMQ, KGFD, MMD, DistributionKernel, Gaussian, Radial, Wasserstein
from ...predictions import MALA
from ..models import hgm, lgm, mgm, qgm
from ..sweep.dataset import Model
from ..sweep.procedures import KCCSD, SKCE
from ..sweep.sweep import Cell
from .figures import Figure, Line, Panel

SIZES = (32, 64, 128, 256, 512)
N_SAMPLES = 10  # in all approximate evaluations (appendix F)
STEP_SIZES = (0.01, 0.1, 1.0)
CHAIN_LENGTHS = (2, 5, 10, 20, 50, 100, 200, 500)
CHAIN_SIZE = 200


MODELS = {
    "MGM 0": Model("MGM, delta = 0", partial(mgm, delta=0.0)),
    "MGM 1": Model("MGM, delta = 0.1, c = 1", partial(mgm, delta=0.1)),
    "MGM e1": Model("MGM, delta = 0.1, c = e_1", partial(mgm, delta=0.1, c="first")),
    "LGM 0": Model("LGM, delta = 0", partial(lgm, delta=0.0)),
    "HGM 0": Model("HGM, delta = 0", partial(hgm, delta=0.0)),
    "HGM 1": Model("HGM, delta = 1", partial(hgm, delta=1.0)),
    "QGM 0": Model("QGM, delta = 0", partial(qgm, delta=0.0)),
    "QGM 1": Model("QGM, delta = 1", partial(qgm, delta=1.0)),
}
_PAPER_MODELS = ("MGM 0", "MGM 1", "MGM e1", "LGM 0", "HGM 1", "QGM 1")  # of Figure 1 and appendix F, in this order
_CALIBRATED = ("MGM 0", "LGM 0", "HGM 0", "QGM 0")

_TARGET_KERNELS: dict[str, Radial] = {"Gaussian": Gaussian(), "IMQ": IMQ()}
_DISTRIBUTION_KERNELS: dict[str, dict[str, DistributionKernel]] = {
    "GFD": {"exact": GFD(), "sampled": GFD(n_base=N_SAMPLES)},
    "KGFD": {"exact": KGFD(), "sampled": KGFD(n_base=N_SAMPLES)},
    "MMD": {"exact": MMD(), "sampled": MMD(n_samples=N_SAMPLES)},
    "Wasserstein": {"exact": Wasserstein()},
}


def _kccsd(distribution: str, how: str, target: str) -> KCCSD:
    kernel = _DISTRIBUTION_KERNELS[distribution][how]
    return KCCSD(f"KCCSD, {how} {distribution}, {target}", kernel, _TARGET_KERNELS[target])


def _skce(distribution: str, how: str, target: str, expectations: str) -> SKCE:
    kernel = _DISTRIBUTION_KERNELS[distribution][how]
    n_samples = None if expectations == "exact" else N_SAMPLES
    name = f"SKCE, {how} {distribution}, {target}, {expectations} expectations"
    return SKCE(name, kernel, _TARGET_KERNELS[target], n_samples)


def _chains(step_size: float, length: int) -> SKCE:
    sampler = MALA(step_size=step_size, n_warmup=length - 2, n_thin=1, adapt=False)
    name = f"SKCE, exact MMD, Gaussian, MALA {step_size:g} x {length}"
    return SKCE(name, MMD(), Gaussian(), n_samples=2, sampler=sampler)


def _line(label: str, model: str, test: KCCSD | SKCE) -> Line:
    return Line(label, SIZES, tuple(Cell(MODELS[model], n, test) for n in SIZES))


def _figure_1() -> Figure:
    tests: dict[str, KCCSD | SKCE] = {
        "KCCSD, GFD": _kccsd("GFD", "exact", "Gaussian"),
        "KCCSD, KGFD": _kccsd("KGFD", "exact", "Gaussian"),
        "SKCE, MMD": _skce("MMD", "exact", "Gaussian", "exact"),
        "SKCE, Wasserstein": _skce("Wasserstein", "exact", "Gaussian", "exact"),
    }
    panels = [
        Panel(
            MODELS[model].name,
            tuple(_line(label, model, test) for label, test in tests.items()),
            calibrated=model in _CALIBRATED,
        )
        for model in _PAPER_MODELS
    ]
    return Figure(
        "fig1",
        "Figure 1: rejection rates of the KCCSD and SKCE tests, all evaluated exactly",
        "n",
        (tuple(panels[:3]), tuple(panels[3:])),
        note="Gaussian kernel on targets.",
    )


def _figure_2() -> Figure:
    tests = {(size, length): _chains(size, length) for size in STEP_SIZES for length in CHAIN_LENGTHS}
    panels = tuple(
        Panel(
            MODELS[model].name,
            tuple(
                Line(
                    f"step size {size:g}",
                    CHAIN_LENGTHS,
                    tuple(Cell(MODELS[model], CHAIN_SIZE, tests[size, length]) for length in CHAIN_LENGTHS),
                )
                for size in STEP_SIZES
            ),
            calibrated=True,
        )
        for model in ("LGM 0", "HGM 0", "QGM 0")
    )
    return Figure(
        "fig2",
        "Figure 2: false rejection rates of the SKCE test with MALA chains that are not tuned",
        "length of the chains",
        (panels,),
        note=f"n = {CHAIN_SIZE}, MMD kernel, Gaussian kernel on targets. Chains start from N(0, I); expectations from "
        "their last two states; proposals N(x + step s(x), 2 step).",
    )


def _appendix(number: int, model: str, statistic: str) -> Figure:
    """Figure with a row for each way to evaluate the statistic, and a column for each kernel, exact and sampled."""
    if statistic == "KCCSD":
        variants = [(target, "") for target in _TARGET_KERNELS]
    else:  # the IMQ kernel has no closed form
        variants = [("Gaussian", "exact"), ("Gaussian", "sampled"), ("IMQ", "sampled")]
    rows = []
    for target, expectations in variants:
        row = []
        for kernel, ways in _DISTRIBUTION_KERNELS.items():
            lines = []
            for how in ways:
                test: KCCSD | SKCE = (
                    _kccsd(kernel, how, target) if statistic == "KCCSD" else _skce(kernel, how, target, expectations)
                )
                label = "exact kernel" if how == "exact" else f"sampled kernel ({N_SAMPLES} samples)"
                lines.append(_line(label, model, test))
            title = f"{kernel}, {target} on targets" + (f", {expectations} expectations" if expectations else "")
            row.append(Panel(title, tuple(lines), calibrated=model in _CALIBRATED))
        rows.append(tuple(row))
    rate = "false rejection rates" if model in _CALIBRATED else "rejection rates"
    return Figure(
        f"f{number}",
        f"Figure F.{number}: {rate} of the {statistic} for {MODELS[model].name}",
        "n",
        tuple(rows),
        note=f"Whatever is sampled, is sampled with {N_SAMPLES} samples.",
    )


def _all_figures() -> dict[str, Figure]:
    figures = [_figure_1(), _figure_2()]
    for k, model in enumerate(_PAPER_MODELS):
        figures += [_appendix(2 * k + 1, model, "KCCSD"), _appendix(2 * k + 2, model, "SKCE")]
    return {figure.name: figure for figure in figures}


FIGURES = _all_figures()
