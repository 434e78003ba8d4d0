"""The GPU kernel of `fused_radial_tile`, in Triton; import it only where Triton is installed."""

# mypy: ignore-errors
import triton
import triton.language as tl

from .fused_kernel import _product


@triton.jit
def _value(t, BETA: tl.constexpr, C2: tl.constexpr):
    """exp(-t / 2) if BETA is 0, otherwise (C2 + t)^BETA."""
    if BETA == 0.0:
        return tl.exp(-0.5 * t)
    if BETA == -0.5:
        return 1.0 / tl.sqrt(C2 + t)
    if BETA == -1.0:
        return 1.0 / (C2 + t)
    return tl.exp(BETA * tl.log(C2 + t))


@triton.jit
def radial_tile_kernel(
    p_left,
    p_right,
    p_unit,
    t_left,
    t_right,
    t_unit,
    s_left,
    s_right,
    s_unit,
    g_left,
    g_right,
    g_unit,
    scale,
    row_units,
    block,
    row_sums,
    col_sums,
    n_rows,
    n_cols,
    DIAGONAL: tl.constexpr,
    P_WIDTH: tl.constexpr,
    P_STEP: tl.constexpr,
    T_WIDTH: tl.constexpr,
    T_STEP: tl.constexpr,
    S_WIDTH: tl.constexpr,
    S_STEP: tl.constexpr,
    G_WIDTH: tl.constexpr,
    G_STEP: tl.constexpr,
    OUTER_BETA: tl.constexpr,
    OUTER_C2: tl.constexpr,
    BETA: tl.constexpr,
    C2: tl.constexpr,
    EDGE: tl.constexpr,
):
    """Write one part of a tile of H = k f (s.s + v (g + r)), as in `RadialStein`, and add its sums."""
    i = tl.program_id(0) * EDGE + tl.arange(0, EDGE)
    j = tl.program_id(1) * EDGE + tl.arange(0, EDGE)
    rows, cols = i < n_rows, j < n_cols
    t = _product(t_left, t_right, i, j, rows, cols, T_WIDTH, T_STEP, EDGE) * tl.load(t_unit)
    t = -2.0 * tl.minimum(t, 0.0)
    gradient = _product(g_left, g_right, i, j, rows, cols, G_WIDTH, G_STEP, EDGE) * tl.load(g_unit)
    if BETA == 0.0:
        gradient -= 0.5 * tl.load(scale) * t
    else:
        inverse = 1.0 / (C2 + t)
        gradient = inverse * (gradient + (1.0 - BETA) * C2 * tl.load(scale) * inverse)
    value = _value(t, BETA, C2)
    h = _product(s_left, s_right, i, j, rows, cols, S_WIDTH, S_STEP, EDGE) * tl.load(s_unit) + gradient
    between = _product(p_left, p_right, i, j, rows, cols, P_WIDTH, P_STEP, EDGE) * tl.load(p_unit)
    h = h * value * _value(-2.0 * tl.minimum(between, 0.0), OUTER_BETA, OUTER_C2)
    h = tl.where(rows[:, None] & cols[None, :], h, 0.0)  # r is not zero beyond the last row and column
    if DIAGONAL:
        h = tl.where(i[:, None] == j[None, :], 0.0, 0.5 * h)
    tl.atomic_add(row_sums + i, tl.sum(h, axis=1), mask=rows)
    tl.atomic_add(col_sums + j, tl.sum(h, axis=0), mask=cols)
    units = tl.load(row_units + i, mask=rows, other=1.0)
    places = block + i.to(tl.int64)[:, None] * n_cols + j[None, :]
    tl.store(places, (h / units[:, None]).to(tl.float16), mask=rows[:, None] & cols[None, :])
