"""The GPU kernel of `fused_tile`, in Triton; import it only where Triton is installed."""

# mypy: ignore-errors
import triton
import triton.language as tl


@triton.jit
def _product(left, right, i, j, rows, cols, WIDTH: tl.constexpr, STEP: tl.constexpr, EDGE: tl.constexpr):
    total = tl.zeros((EDGE, EDGE), tl.float32)
    step = tl.arange(0, STEP)
    for start in range(0, WIDTH, STEP):
        k = start + step
        a = tl.load(left + i[:, None] * WIDTH + k[None, :], mask=rows[:, None], other=0.0)
        b = tl.load(right + j[None, :] * WIDTH + k[:, None], mask=cols[None, :], other=0.0)
        total = tl.dot(a, b, total)
    return total


@triton.jit
def tile_kernel(
    e_left,
    e_right,
    e_unit,
    b_left,
    b_right,
    b_unit,
    row_units,
    block,
    row_sums,
    col_sums,
    n_rows,
    n_cols,
    DIAGONAL: tl.constexpr,
    WIDE: tl.constexpr,
    NARROW: tl.constexpr,
    WIDE_STEP: tl.constexpr,
    NARROW_STEP: tl.constexpr,
    EDGE: tl.constexpr,
):
    """Write one part of a tile of H, and add its sums over columns and rows."""
    i = tl.program_id(0) * EDGE + tl.arange(0, EDGE)
    j = tl.program_id(1) * EDGE + tl.arange(0, EDGE)
    rows, cols = i < n_rows, j < n_cols
    exponent = _product(e_left, e_right, i, j, rows, cols, WIDE, WIDE_STEP, EDGE) * tl.load(e_unit)
    kernel = tl.exp(tl.minimum(exponent, 0.0)) * tl.load(b_unit)
    # Beyond the last row or column the factors are zero, and so is this product.
    h = _product(b_left, b_right, i, j, rows, cols, NARROW, NARROW_STEP, EDGE) * kernel
    if DIAGONAL:
        h = tl.where(i[:, None] == j[None, :], 0.0, 0.5 * h)
    tl.atomic_add(row_sums + i, tl.sum(h, axis=1), mask=rows)
    tl.atomic_add(col_sums + j, tl.sum(h, axis=0), mask=cols)
    units = tl.load(row_units + i, mask=rows, other=1.0)
    places = block + i.to(tl.int64)[:, None] * n_cols + j[None, :]
    tl.store(places, (h / units[:, None]).to(tl.float16), mask=rows[:, None] & cols[None, :])
