"""Exact continuous collision queries, and all pairs of moving meshes."""
import ctypes

import numpy as np

from . import _arrays, _c
from ._library import InputError, call, check, check_threads, lib, whole

_KINDS = {"vertex-face": _c.WEFT_VERTEX_FACE, "edge-edge": _c.WEFT_EDGE_EDGE}
_NAMES = {number: name for name, number in _KINDS.items()}


def ccd(kind, start, end):
    """Whether and when four points that move straight from start to end [..., 4, 3] collide: (collides, time), each [...].

    `kind` is "vertex-face" (the vertex, then the triangle) or "edge-edge". Nothing is missed and nothing made up; times are within 1e-6,
    infinite where there is none."""
    if kind not in _KINDS:
        raise InputError(f"kind {kind!r}: vertex-face or edge-edge is needed")
    a, b = (np.ascontiguousarray(value, dtype=np.float64) for value in (start, end))
    if a.shape != b.shape or a.ndim < 2 or a.shape[-2:] != (4, 3):
        raise InputError(f"start and end: arrays of one shape (..., 4, 3) are needed, not {a.shape} and {b.shape}")
    flat_a, flat_b = a.reshape(-1, 4, 3), b.reshape(-1, 4, 3)
    hit, time, answer = np.zeros(len(flat_a), dtype=bool), np.full(len(flat_a), np.inf), _c.weft_ccd()
    for k in range(len(flat_a)):
        check(lib.weft_ccd_query(_KINDS[kind], _arrays.vec3_pointer(flat_a[k]), _arrays.vec3_pointer(flat_b[k]),
                                 ctypes.byref(answer)))
        hit[k], time[k] = answer.collides, answer.time
    return hit.reshape(a.shape[:-2])[()], time.reshape(a.shape[:-2])[()]


class Collider:
    """Triangles (and edges of strands) over one array of vertices, of one body or several; `passive` bodies do not meet each other."""

    def __init__(self, vertex_count, triangles=(), edges=(), *, body=None, passive=None, threads=0):
        check_threads(threads)
        whole(vertex_count, "vertex_count", 0)
        d = lib.weft_collider_def_default()
        t = _arrays.integers(np.asarray(triangles, dtype=np.int64).reshape(-1, 3), "triangles", vertex_count, 3)
        e = _arrays.integers(np.asarray(edges, dtype=np.int64).reshape(-1, 2), "edges", vertex_count, 2)
        d.vertex_count, d.triangle_count, d.edge_count = vertex_count, len(t) // 3, len(e) // 2
        d.triangles, d.edges, d.worker_count = _arrays.int_pointer(t), _arrays.int_pointer(e), threads
        if body is not None:
            of = _arrays.integers(body, "body")
            if len(of) != vertex_count:
                raise InputError(f"body: {vertex_count} numbers are needed, not {len(of)}")
            d.body, d.body_count = _arrays.int_pointer(of), int(of.max()) + 1 if len(of) else 1
        if passive is not None:
            flags = np.ascontiguousarray(passive, dtype=np.uint8)
            if len(flags) != d.body_count:
                raise InputError(f"passive: one flag a body is needed, {d.body_count}, not {len(flags)}")
            d.passive = _arrays.pointer(flags, ctypes.c_uint8)
        self._count, self._collider = vertex_count, ctypes.POINTER(_c.weft_collider)()
        call(lib.weft_collider_create, ctypes.byref(d), ctypes.byref(self._collider))

    def _update(self, start, end):
        a, b = _arrays.points(start, "start", self._count), _arrays.points(end, "end", self._count)
        call(lib.weft_collider_update, self._collider, _arrays.vec3_pointer(a), _arrays.vec3_pointer(b), 0.0)

    def _list(self, function, kind, *arguments):
        found, count = ctypes.POINTER(kind)(), ctypes.c_int()
        call(function, self._collider, *arguments, ctypes.byref(found), ctypes.byref(count))
        return [found[k] for k in range(count.value)]

    def near(self, positions, distance):
        """Pairs that are at most `distance` (m) apart: dicts of kind, vertex, weight, normal, distance."""
        self._update(positions, positions)
        return [{"kind": _NAMES[n.kind], "vertex": list(n.vertex), "weight": list(n.weight),
                 "normal": (n.normal.x, n.normal.y, n.normal.z), "distance": n.distance}
                for n in self._list(lib.weft_collider_near, _c.weft_near, distance)]

    def impacts(self, start, end):
        """Pairs that collide on the way from start to end: dicts of kind, vertex, time."""
        self._update(start, end)
        return [{"kind": _NAMES[n.kind], "vertex": list(n.vertex), "time": n.time}
                for n in self._list(lib.weft_collider_impacts, _c.weft_impact)]

    def __del__(self):
        if getattr(self, "_collider", None):
            lib.weft_collider_destroy(self._collider)
            self._collider = None
