"""GPUs: which arrays are on one, and its memory."""

import sys

from array_api_compat import is_jax_array, is_torch_array

from ..._lib.arrays import Array, has_values


def is_on_gpu(array: Array) -> bool:
    """Return whether the array is on a GPU."""
    if is_torch_array(array):
        return bool(array.is_cuda)
    return is_jax_array(array) and has_values(array) and all(d.platform == "gpu" for d in array.devices())


def free_memory(array: Array) -> int:
    """Number of free bytes on the device of the array."""
    if is_torch_array(array):
        return int(sys.modules["torch"].cuda.mem_get_info(array.device)[0])
    stats = next(iter(array.devices())).memory_stats()
    return int(stats["bytes_limit"] - stats["bytes_in_use"])


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a device ran out of memory: torch has a class for this error, JAX only a message."""
    torch = sys.modules.get("torch")
    return (torch is not None and isinstance(error, torch.cuda.OutOfMemoryError)) or "RESOURCE_EXHAUSTED" in str(error)
