"""Conversion and checks of arrays of any backend."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial, reduce
from itertools import chain
from operator import matmul
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj, is_jax_array, is_torch_array
from array_api_compat import device as device_of

Array = Any
__all__ = [
    "Array",
    "accumulation_dtype",
    "array_namespace",
    "as_arrays",
    "as_float",
    "check_finite",
    "check_real",
    "detach",
    "device_of",
    "full_product",
    "has_values",
    "ignore_overflow",
    "like",
    "to_numpy",
    "without_gradients",
]

# `check_overflow` reports overflow with its likely causes; NumPy's warnings would repeat it.
ignore_overflow = np.errstate(over="ignore", invalid="ignore")


def as_arrays(**named: Any) -> list[Array]:
    """Convert the named values to floating arrays of one backend, device and dtype.

    Lists and data frames become arrays of the backend of the other values, NumPy if there are none, and count like
    arrays of the same dtype: the widest dtype is used for all. Integers of more than 16 bits count as float64, where
    the backend has it, and half precision becomes float32. A single Python number takes the dtype of the rest.
    Gradients are kept.
    """
    for name, value in named.items():
        if _holds_masked(value):
            raise TypeError(f"`{name}` is or holds a masked array; drop or fill the masked rows first.")
    arrays = {name: value for name, value in named.items() if is_array_api_obj(value)}
    for name, array in arrays.items():
        check_real(name, array)
    reference = _check_one_backend(arrays)
    for name, value in named.items():
        if name not in arrays:
            arrays[name] = _from_host(name, value, reference)
    xp = array_namespace(*arrays.values())
    counted = [_floating(array, xp) for name, array in arrays.items() if type(named[name]) not in (int, float)]
    dtype = xp.result_type(*counted) if counted else _widest_float(xp)
    return [xp.astype(arrays[name], dtype, copy=False) for name in named]


def check_real(name: str, array: Array) -> None:
    """Raise unless the array holds real numbers of at most 64 bits, all of them in memory and none of them masked."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"`{name}` is or holds a masked array; drop or fill the masked rows first.")
    xp = array_namespace(array)
    try:
        real = xp.isdtype(array.dtype, ("integral", "real floating"))
    except TypeError:  # random keys of JAX have a dtype of their own
        real = False
    if not real or (xp.isdtype(array.dtype, "real floating") and xp.finfo(array.dtype).bits > 64):
        raise TypeError(
            f"`{name}` must hold real numbers of at most 64 bits, but has dtype {array.dtype}. Convert it to float64 "
            "or float32 first."
        )
    if is_torch_array(array) and (array.is_meta or array.layout != sys.modules["torch"].strided):
        found = "is on the device 'meta' and has no values" if array.is_meta else f"has layout {array.layout}"
        raise TypeError(f"`{name}` must be a dense array of numbers, but {found}.")


def _floating(array: Array, xp: Any) -> Any:
    """Return the dtype that the array counts as when a common one is found."""
    if xp.isdtype(array.dtype, "real floating"):
        return array.dtype if xp.finfo(array.dtype).bits >= 32 else xp.float32
    return xp.float32 if xp.iinfo(array.dtype).bits <= 16 else _widest_float(xp)


def _holds_masked(value: Any) -> bool:
    """Return whether the value is a masked array, or a list that holds one, which NumPy would read without its mask."""
    level = [value]
    while True:  # all lists of one depth at a time: a list may hold a million others
        kinds = set(map(type, level))
        if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
            return True
        if not any(issubclass(kind, list | tuple) for kind in kinds):
            return False
        level = list(chain.from_iterable(each for each in level if isinstance(each, list | tuple)))


def check_finite(name: str, array: Array, causes: str = "") -> None:
    """Raise if `array` holds a NaN or an infinity; do nothing while JAX is tracing."""
    if not has_values(array):
        return
    xp = array_namespace(array)
    finite = xp.isfinite(array)
    if bool(xp.all(finite)):
        return
    bad = ~to_numpy(finite)
    place = tuple(int(k) for k in np.argwhere(bad)[0])
    found = to_numpy(array)[place]
    raise ValueError(
        f"`{name}` must be finite, but {bad.sum()} of its {bad.size} values are not; "
        f"the first, at index {place}, is {found}.{' ' + causes if causes else ''}"
    )


def has_values(*arrays: Array) -> bool:
    """Return whether the arrays, and results computed from them, have values: not while JAX is tracing."""
    if not any(is_jax_array(array) for array in arrays):
        return True
    jax = sys.modules["jax"]
    # Within jit even an operation on constants gives a tracer.
    return not any(isinstance(array, jax.core.Tracer) for array in (*arrays, jax.numpy.zeros(()) + 0))


def like(values: Any, reference: Array, dtype: Any = None) -> Array:
    """Convert `values` to the backend, dtype and device of `reference`; keep derivatives within one backend."""
    xp = array_namespace(reference)
    dtype = dtype or reference.dtype
    if is_array_api_obj(values):
        if array_namespace(values) is xp:
            values = values.to(reference.device) if is_torch_array(values) else values
            return xp.astype(values, dtype, copy=False)
        values = to_numpy(values)
    return xp.asarray(values, dtype=dtype, device=device_of(reference))


def to_numpy(array: Array) -> np.ndarray:
    """Return `array` as a NumPy array, without derivatives."""
    if is_torch_array(array):
        array = array.detach().cpu()
    return np.asarray(array)


def as_float(array: Array) -> float:
    """Return the value of a 0-d array."""
    return float(to_numpy(array))


def detach(array: Array) -> Array:
    """Return `array` without its history of derivatives."""
    return array.detach() if is_torch_array(array) else array


def without_gradients(reference: Array) -> AbstractContextManager[Any]:
    """Return a context in which the backend of `reference` records no derivatives."""
    return sys.modules["torch"].no_grad() if is_torch_array(reference) else nullcontext()


def full_product(left: Array, *right: Array) -> Array:
    """Return left @ right, or a product of several, in the full precision of its dtype.

    This holds within `torch.autocast` too, and where products of float32 are set to fewer digits (tf32).
    """
    if is_jax_array(left):
        return reduce(partial(sys.modules["jax"].numpy.matmul, precision="highest"), right, left)
    with _torch_in_full(left):
        return reduce(matmul, right, left)


@contextmanager
def _torch_in_full(array: Array) -> Iterator[None]:
    """Compute float32 products of torch in full precision."""
    if not is_torch_array(array) or array.dtype.itemsize > 4:
        yield
        return
    with sys.modules["torch"].autocast(array.device.type, enabled=False), _without_tf32():
        yield


@contextmanager
def _without_tf32() -> Iterator[None]:
    """Undo settings by which torch multiplies float32 in less than full precision."""
    # Torch has older and newer settings of precision. It does not read the older one after a newer one was set, nor
    # multiply on a GPU where they disagree. Setting the older one sets the newer ones too.
    torch = sys.modules["torch"]
    backends = torch.backends
    newer = (backends.cuda.matmul, backends.mkldnn.matmul) if hasattr(backends, "fp32_precision") else ()
    try:
        older = torch.get_float32_matmul_precision()
    except RuntimeError:
        older = None
    if older == "highest":
        yield
        return
    # Inherited values must stay inherited.
    before = [each.fp32_precision if each.fp32_precision != backends.fp32_precision else "none" for each in newer]
    if older is not None:
        torch.set_float32_matmul_precision("highest")
    else:
        for each in newer:
            each.fp32_precision = "ieee"
    try:
        yield
    finally:
        if older is not None:
            torch.set_float32_matmul_precision(older)
        for each, value in zip(newer, before, strict=True):
            each.fp32_precision = value


def accumulation_dtype(array: Array) -> Any:
    """Return the dtype for sums of many values: float64 where the backend has it (JAX may not)."""
    return _widest_float(array_namespace(array))


def _widest_float(xp: Any) -> Any:
    dtypes = xp.__array_namespace_info__().dtypes(kind="real floating")
    return dtypes.get("float64", dtypes["float32"])


def _check_one_backend(arrays: dict[str, Array]) -> Array | None:
    reference: Array | None = None
    first = ""
    for name, array in arrays.items():
        if reference is None:
            reference, first = array, name
            continue
        xp, other = array_namespace(reference), array_namespace(array)
        if xp is not other:
            raise TypeError(
                f"`{name}` is an array of {_short(other)} but `{first}` is one of {_short(xp)}. "
                "Convert one of them: all arrays must come from one library."
            )
        if has_values(array) and has_values(reference) and device_of(reference) != device_of(array):
            raise TypeError(
                f"`{name}` is on device {device_of(array)} but `{first}` is on {device_of(reference)}. "
                "Move one of them: all arrays must be on one device."
            )
    return reference


def _short(xp: Any) -> str:
    return str(xp.__name__).removeprefix("array_api_compat.").split(".")[0]


def _from_host(name: str, value: Any, reference: Array | None) -> Array:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"`{name}` is not a rectangular array of numbers: {error}") from None
    if array.dtype.kind not in "fiu":
        raise TypeError(
            f"`{name}` must hold real numbers, but has dtype {array.dtype}. "
            "Text, complex numbers, booleans and missing values must be converted first."
        )
    check_real(name, array)
    if reference is None:
        return array
    xp = array_namespace(reference)
    dtype = xp.float32 if _floating(array, np) == np.float32 else _widest_float(xp)
    return xp.asarray(array, dtype=dtype, device=device_of(reference))
