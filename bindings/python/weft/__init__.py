"""Weft: cloth simulation.

>>> import weft
>>> run = weft.run("sphere", "sphere-run", set={"cells": 20})      # a scene that ships, a file, or a dict
>>> run.positions("cloth1", frame=10)

Simulation steps by hand and takes arrays, solve is the multigrid solver for scipy.sparse matrices, ccd and Collider are exact collision
queries. What Weft refuses is an exception with its sentence: weft.Error and its kinds. docs/python.md has examples.
"""
from ._library import (Cancelled, Error, ExistsError, FileError, InputError, NoMemoryError, NotFoundError, SolveError,
                       UnsupportedError, names, version)
from .collision import Collider, ccd
from .folder import Page, Run, run, view
from .simulation import Arrays, Pin, Scene, Simulation, material
from .solver import Solution, Solver, System, solve

__version__ = version()
__all__ = ["Arrays", "Cancelled", "Collider", "Error", "ExistsError", "FileError", "InputError", "NoMemoryError",
           "NotFoundError", "Page", "Pin", "Run", "Scene", "Simulation", "Solution", "SolveError", "Solver", "System",
           "UnsupportedError", "ccd", "material", "names", "run", "solve", "version", "view"]
