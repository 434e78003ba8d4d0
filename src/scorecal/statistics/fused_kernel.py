"""The kernel of `fused_tile`, in Triton. To be imported only where that is installed."""

# mypy: ignore-errors
import triton
import triton.language as tl

__all__ = ["tile_kernel"]


@triton.jit
def _product(left, right, i, j, rows, cols, WIDTH: tl.constexpr, STEP: tl.constexpr, EDGE: tl.constexpr):
    """left[i] @ right[j]'. Plain tf32 would lose an exponent in which norms cancel, so there are three of its kind."""
    total = tl.zeros((EDGE, EDGE), tl.float32)
    step = tl.arange(0, STEP)
    for start in range(0, WIDTH, STEP):
        k = start + step
        a = tl.load(left + i[:, None] * WIDTH + k[None, :], mask=rows[:, None], other=0.0)
        b = tl.load(right + j[None, :] * WIDTH + k[:, None], mask=cols[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32x3")
    return total


@triton.jit
def tile_kernel(
    e_left,
    e_right,
    b_left,
    b_right,
    row_scales,
    col_scales,
    block,
    row_sums,
    col_sums,
    n_rows,
    n_cols,
    WIDE: tl.constexpr,
    NARROW: tl.constexpr,
    WIDE_STEP: tl.constexpr,
    NARROW_STEP: tl.constexpr,
    EDGE: tl.constexpr,
):
    i = tl.program_id(0) * EDGE + tl.arange(0, EDGE)
    j = tl.program_id(1) * EDGE + tl.arange(0, EDGE)
    rows, cols = i < n_rows, j < n_cols
    exponent = _product(e_left, e_right, i, j, rows, cols, WIDE, WIDE_STEP, EDGE)
    # Beyond the last row or column factors are zero, and so is this product.
    h = _product(b_left, b_right, i, j, rows, cols, NARROW, NARROW_STEP, EDGE) * tl.exp(tl.minimum(exponent, 0.0))
    tl.atomic_add(row_sums + i, tl.sum(h, axis=1), mask=rows)
    tl.atomic_add(col_sums + j, tl.sum(h, axis=0), mask=cols)
    a = tl.load(row_scales + i, mask=rows, other=1.0)
    b = tl.load(col_scales + j, mask=cols, other=1.0)
    scaled = (h / (a[:, None] * b[None, :])).to(tl.float16)
    places = block + i.to(tl.int64)[:, None] * n_cols + j[None, :]
    tl.store(places, scaled, mask=rows[:, None] & cols[None, :])
