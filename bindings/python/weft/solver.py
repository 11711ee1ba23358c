"""The linear solver alone: smoothed-aggregation multigrid and the others on matrices of your own."""
import ctypes
import dataclasses

import numpy as np

from . import _arrays, _c
from ._library import InputError, assign, call, check, check_threads, lib, needed, whole


@dataclasses.dataclass
class Solution:
    """x as b was given, and what the solve took."""

    x: np.ndarray
    stats: dict


def _blocks(matrix):
    """(row_start, column, values) of 3 x 3 blocks, of any scipy.sparse matrix or dense array."""
    try:
        from scipy import sparse
    except ImportError as problem:
        raise ImportError("weft.solve takes scipy.sparse matrices: install scipy (Debian: python3-scipy)") from problem
    matrix = sparse.csr_matrix(matrix)
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] % 3 or matrix.shape[0] == 0:
        raise InputError(f"the matrix: a square one of 3 n rows is needed (x0 y0 z0 x1 ...), not {matrix.shape}")
    if not np.isfinite(matrix.data).all():
        raise InputError("the matrix has entries that are not finite")
    blocks = matrix.astype(np.float64).tobsr(blocksize=(3, 3))
    blocks.sum_duplicates()
    return (np.ascontiguousarray(blocks.indptr, dtype=np.int32), np.ascontiguousarray(blocks.indices, dtype=np.int32),
            np.ascontiguousarray(blocks.data))


class System:
    """S A x = S b, (I - S) x = (I - S) z: a symmetric matrix of 3 x 3 blocks, what is given and what is held.

    `b`, `z` are [n, 3] or [3 n], `filter` [n, 3, 3] projections onto what is free, `kernel` [k, 3 n] vectors that A nearly takes to zero,
    `positions` [n, 3]; with those multigrid makes rotations of its own.
    """

    def __init__(self, matrix, b=None, *, z=None, filter=None, kernel=None, positions=None):  # noqa: A002
        start, column, values = _blocks(matrix)
        count = len(start) - 1
        d = _c.weft_system_def(vertex_count=count, row_start=_arrays.int_pointer(start), column=_arrays.int_pointer(column),
                               values=_arrays.double_pointer(values))
        keep = []
        for name, value in (("b", b), ("z", z), ("positions", positions)):
            if value is not None:
                keep.append(_arrays.points(np.asarray(value, dtype=np.float64).reshape(-1, 3), name, count))
                setattr(d, name, _arrays.vec3_pointer(keep[-1]))
        if filter is not None:
            keep.append(np.ascontiguousarray(filter, dtype=np.float64))
            if keep[-1].shape != (count, 3, 3):
                raise InputError(f"filter: an array of shape ({count}, 3, 3) is needed, not {keep[-1].shape}")
            d.filter = _arrays.double_pointer(keep[-1])
        if kernel is not None:
            keep.append(np.ascontiguousarray(kernel, dtype=np.float64))
            if keep[-1].ndim != 2 or keep[-1].shape[1] != 3 * count:
                raise InputError(f"kernel: an array of shape (k, {3 * count}) is needed, not {keep[-1].shape}")
            d.kernel, d.kernel_count = _arrays.double_pointer(keep[-1]), len(keep[-1])
        self._system = ctypes.POINTER(_c.weft_system)()
        call(lib.weft_system_create, ctypes.byref(d), ctypes.byref(self._system))

    @classmethod
    def _of(cls, handle):
        self = cls.__new__(cls)
        self._system = handle
        return self

    @classmethod
    def read(cls, prefix):
        """Of PREFIX.weftsys or PREFIX.mtx and what is beside it (docs/solvers.md)."""
        handle = ctypes.POINTER(_c.weft_system)()
        call(lib.weft_system_read, needed(prefix, "prefix"), ctypes.byref(handle))
        return cls._of(handle)

    def write(self, prefix, binary=False):
        """As Matrix Market files, or as PREFIX.weftsys."""
        call(lib.weft_system_write, self._system, needed(prefix, "prefix"), int(binary))

    def __len__(self):
        return lib.weft_system_vertex_count(self._system)

    def __del__(self):
        if getattr(self, "_system", None):
            lib.weft_system_destroy(self._system)
            self._system = None


class Solver:
    """Keeps from solve to solve what serves again: hand it the systems of one step after the other."""

    def __init__(self, name="sa-ppcg", *, tolerance=1e-5, max_iterations=0, preconditioner=None, threads=0, **sa):
        check_threads(threads)
        whole(max_iterations, "max_iterations (0: the solver's own limit)", 0)
        d = lib.weft_solver_def_default()
        known = dict(d._fields_)
        for field, value in (("solver", name), ("tolerance", tolerance), ("max_iterations", max_iterations),
                             ("worker_count", threads), ("preconditioner", preconditioner)):
            assign(d, known, field, value)
        for key, value in sa.items():
            call(lib.weft_sa_set, ctypes.byref(d.sa), needed(key, "a setting"), value)
        self._solver = ctypes.POINTER(_c.weft_solver)()
        call(lib.weft_solver_create, ctypes.byref(d), ctypes.byref(self._solver))

    def solve(self, system):
        """A Solution with x [n, 3]; SolveError where it was not reached (`best` of the exception is the best x)."""
        if not isinstance(system, System):
            raise InputError("a weft.System is needed; weft.solve takes a matrix")
        x, stats = np.zeros((len(system), 3)), _c.weft_solve_stats()
        status = lib.weft_solver_solve(self._solver, system._system, _arrays.vec3_pointer(x), ctypes.byref(stats))
        try:
            check(status)
        except Exception as problem:
            problem.best = x
            raise
        skipped = ("levels", "level_count")
        told = {name: getattr(stats, name) for name, _ in stats._fields_ if name not in skipped}
        told["solver"], told["converged"] = told["solver"].decode(), bool(told["converged"])
        told["levels"] = [{k: getattr(stats.levels[i], k) for k, _ in _c.weft_level_stats._fields_}
                          for i in range(stats.level_count)]
        return Solution(x, told)

    def __del__(self):
        if getattr(self, "_solver", None):
            lib.weft_solver_destroy(self._solver)
            self._solver = None


def solve(matrix, b, *, solver="sa-ppcg", tolerance=1e-5, threads=0, positions=None, filter=None, z=None, kernel=None, **sa):  # noqa: A002
    """Solves A x = b for a symmetric positive definite matrix of 3 n rows (scipy.sparse); x has the shape of b.

    >>> x = weft.solve(A, b, positions=points).x
    """
    shape = np.shape(b)
    found = Solver(solver, tolerance=tolerance, threads=threads, **sa).solve(
        System(matrix, b, z=z, filter=filter, kernel=kernel, positions=positions))
    found.x = found.x.reshape(shape)
    return found
