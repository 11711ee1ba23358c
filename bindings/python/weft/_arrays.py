"""Between numpy and C: shapes are checked here, as C cannot."""
import ctypes

import numpy as np

from . import _c
from ._library import InputError


def doubles(value, what):
    """An array of real numbers."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError):  # rows of several lengths
        pass
    raise InputError(f"{what}: an array of real numbers is needed, not {value!r:.80}")


def points(value, what, count=None):
    """[n, 3] of doubles, contiguous and finite."""
    array = doubles(value, what)
    if array.ndim != 2 or array.shape[1] != 3:
        raise InputError(f"{what}: an array of shape (n, 3) is needed, not {array.shape}")
    if count is not None and len(array) != count:
        raise InputError(f"{what}: {count} points are needed, not {len(array)}")
    if not np.isfinite(array).all():
        raise InputError(f"{what}: point {int(np.argwhere(~np.isfinite(array))[0][0])} is not finite")
    return array


def integers(value, what, limit=None, columns=None):
    """Whole numbers of [0, limit), flat or with so many columns."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise InputError(f"{what}: an array of whole numbers is needed, not {value!r:.80}") from None
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{what}: whole numbers are needed, not {array.dtype}")
    if columns is not None and (array.ndim != 2 or array.shape[1] != columns) and array.size:
        raise InputError(f"{what}: an array of shape (n, {columns}) is needed, not {array.shape}")
    if array.size and limit is not None and (array.min() < 0 or array.max() >= limit):
        worst = array.min() if array.min() < 0 else array.max()
        raise InputError(f"{what}: {worst} is not in 0 to {limit - 1}")
    return np.ascontiguousarray(array.reshape(-1), dtype=np.int32)


def faces(value, what, vertex_count):
    """(face_start, face_vertices): of an array (n, k), or of a list of polygons."""
    if isinstance(value, np.ndarray) and value.ndim == 2:
        flat = integers(value, what, vertex_count)
        return np.arange(0, flat.size + 1, value.shape[1], dtype=np.int32), flat
    try:
        polygons = list(value)
    except TypeError:
        raise InputError(f"{what}: a list of polygons is needed, not {value!r:.80}") from None
    polygons = [integers(polygon, what, vertex_count) for polygon in polygons]
    start = np.zeros(len(polygons) + 1, dtype=np.int32)
    start[1:] = np.cumsum([len(polygon) for polygon in polygons])
    return start, np.concatenate(polygons) if polygons else np.zeros(0, dtype=np.int32)


def vec3(value, what):
    x = doubles(value, what)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise InputError(f"{what}: three finite numbers are needed")
    return _c.weft_vec3(*x)


def pointer(array, kind):
    """To the data of an array that the caller keeps; NULL for None."""
    return ctypes.cast(array.ctypes.data, ctypes.POINTER(kind)) if array is not None else None


def vec3_pointer(array):
    return pointer(array, _c.weft_vec3)


def int_pointer(array):
    return pointer(array, ctypes.c_int)


def double_pointer(array):
    return pointer(array, ctypes.c_double)


def borrowed(address, count, owner):
    """A read-only view [count, 3] of vectors that the library keeps; `owner` stays alive with it."""
    if count == 0:
        return np.zeros((0, 3))
    buffer = (ctypes.c_double * (3 * count)).from_address(ctypes.addressof(address.contents))
    buffer.owner = owner
    view = np.frombuffer(buffer, dtype=np.float64).reshape(count, 3)
    view.flags.writeable = False
    return view
