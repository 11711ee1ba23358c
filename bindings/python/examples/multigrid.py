"""The multigrid solver on a matrix of scipy, beside scipy's own: a spring net in three dimensions, and a cloth's system."""
import time

import numpy as np
import weft
from scipy import sparse
from scipy.sparse import linalg

n = 120
line = sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(n, n))
plane = sparse.kron(line, sparse.identity(n)) + sparse.kron(sparse.identity(n), line)
A = (sparse.kron(plane, sparse.identity(3)) + 1e-5 * sparse.identity(3 * n * n)).tocsr()
b = np.random.default_rng(1).standard_normal(A.shape[0])

start = time.perf_counter()
exact = linalg.spsolve(A.tocsc(), b)
print(f"scipy spsolve          {time.perf_counter() - start:6.2f} s")
for name in ("sa-ppcg", "cholesky", "diag-pcg"):
    start = time.perf_counter()
    found = weft.solve(A, b, solver=name, tolerance=1e-8)
    seconds = time.perf_counter() - start
    print(f"weft {name:10s} {found.stats['iterations']:5d} it {seconds:6.2f} s, error {np.linalg.norm(found.x - exact) / np.linalg.norm(exact):.1e}")

sim = weft.Simulation.from_scene("drooping", set={"cells": 60})
solver = weft.Solver("sa-ppcg")
for step in range(3):
    sim.step()
    told = solver.solve(sim.system()).stats
    print(f"step {step + 1}: {told['iterations']} iterations, setup {1e3 * told['setup_s']:.1f} ms, refreshed {told['refreshed']}")
