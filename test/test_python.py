#!/usr/bin/python3
"""The Python package against the command, scipy and the headers. Usage: test_python.py LIBWEFT COMMAND. 77: numpy is not there."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not there (script/setup test)")
    sys.exit(77)
LIBRARY, COMMAND = (os.path.abspath(path) for path in sys.argv[1:3])
os.environ["WEFT_LIBRARY"] = LIBRARY
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "bindings", "python"))
import weft  # noqa: E402
from weft import _c  # noqa: E402


def grid(n):
    x = np.array([[i / (n - 1), 1.0, j / (n - 1)] for j in range(n) for i in range(n)])
    quads = np.array([[j * n + i, (j + 1) * n + i, (j + 1) * n + i + 1, j * n + i + 1]
                      for j in range(n - 1) for i in range(n - 1)])
    return x, quads


def hung(n=9, **settings):
    sim = weft.Simulation(time_step=0.01, threads=1, **settings)
    sim.add_cloth(*grid(n), name="sheet", pins=[[0, n - 1]])
    return sim


def interface(*arguments):
    return subprocess.run([sys.executable, os.path.join(ROOT, "script", "python-interface"), *arguments], check=True,
                          capture_output=True, text=True).stdout


class Headers(unittest.TestCase):
    def test_declarations_are_those_of_the_headers(self):
        with open(_c.__file__, encoding="utf-8") as file:
            self.assertEqual(file.read(), interface(), "run script/python-interface --write")

    def test_layout_is_that_of_the_compiler(self):
        """Sizes and offsets of every struct, by a C program."""
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
            with open(source, "w", encoding="utf-8") as file:
                file.write(interface("--layout"))
            try:
                subprocess.run(["cc", "-I", os.path.join(ROOT, "include"), source, "-o", program], check=True)
            except FileNotFoundError:
                self.skipTest("there is no C compiler")
            lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
        self.assertGreater(len(lines), 300)
        for name, value in (line.split() for line in lines if line):
            struct, _, field = name.partition(".")
            kind = getattr(_c, struct)
            import ctypes
            found = getattr(kind, field).offset if field else ctypes.sizeof(kind)
            self.assertEqual(found, int(value), name)


class Bits(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def content(self, folder, name):
        with open(os.path.join(self.path(folder), name), "rb") as file:
            return file.read()

    def test_a_run_has_the_bits_of_the_command(self):
        changes = {"cells": 12}
        weft.run("sphere", self.path("a"), set=changes, frames=3, threads=1)
        subprocess.run([COMMAND, "run", "sphere", "-o", self.path("b"), "--set", "cells=12", "--frames", "3"], check=True,
                       capture_output=True)
        for name in ("scene.json", "sheet.pc2", "sheet.obj", "sphere.obj", "checkpoint.weft"):
            self.assertEqual(self.content("a", name), self.content("b", name), name)

    def test_a_stopped_run_goes_on_to_the_same_bits(self):
        whole = weft.run("sphere", self.path("whole"), set={"cells": 12}, frames=3, threads=1)
        weft.run("sphere", self.path("parts"), set={"cells": 12}, frames=3, threads=2,
                 progress=lambda step, steps, stats: step == steps // 2)
        parts = weft.run("sphere", self.path("parts"), set={"cells": 12}, frames=3, threads=1, mode="resume")
        self.assertEqual(parts.frame_count, 4)
        self.assertEqual(self.content("parts", "sheet.pc2"), self.content("whole", "sheet.pc2"))
        self.assertEqual(len(whole.stats), len(parts.stats))
        self.assertRaises(weft.ExistsError, weft.run, "sphere", self.path("parts"))

    def test_by_hand_is_what_the_run_has(self):
        run = weft.run("towel", self.path("run"), set={"cells": 10}, frames=2, threads=1)
        sim = weft.Simulation.from_scene("towel", set={"cells": 10}, threads=2)
        for _ in range(2):
            for _ in range(sim.scene.steps_per_frame):
                stats = sim.step()
            sim.checkpoint()
        np.testing.assert_array_equal(run.positions(), sim.positions().astype(np.float32))
        last = run.stats[-1]
        self.assertEqual((last["step"], last["iterations"], last["energy"]["total"]),
                         (stats["step"], stats["iterations"], stats["energy"]["total"]))

    def test_dict_and_file_are_one_scene(self):
        scene = {"frames": 1, "cloth": [{"mesh": {"grid": {"size": [1, 1], "cells": 6}}, "pins": [{"where": {"edge": "top"}}]}]}
        import json
        with open(self.path("s.json"), "w", encoding="utf-8") as file:
            json.dump(scene, file)
        a, b = weft.run(scene, self.path("a"), threads=1), weft.run(self.path("s.json"), self.path("b"), threads=1)
        np.testing.assert_array_equal(a.positions(), b.positions())
        self.assertEqual(a.triangles().shape, (72, 3))

    def test_page_and_export(self):
        run = weft.run("towel", self.path("run"), set={"cells": 6}, frames=1, threads=1)
        page = weft.view(run)
        self.assertIn(b"<html", page.html[:4000])
        self.assertIn("iframe", page._repr_html_())
        run.export("abc", self.path("towel.abc"))
        self.assertEqual(self.content(".", "towel.abc")[:5], b"Ogawa")
        self.assertRaises(weft.NotFoundError, run.export, "abc", self.path("x.abc"), nothing=1)
        self.assertRaises(weft.Error, run.export, "fbx", self.path("x.fbx"))


class Arrays(unittest.TestCase):
    def test_borrowed_arrays_are_the_simulation_s(self):
        sim = hung()
        for _ in range(5):
            sim.step()
        a, b = sim.borrow(), sim.borrow()
        self.assertEqual(a.positions.ctypes.data, b.positions.ctypes.data)  # not a copy
        self.assertFalse(a.positions.flags.writeable or a.positions.flags.owndata)
        np.testing.assert_array_equal(a.positions[a.places[0]], sim.positions())
        np.testing.assert_array_equal(a.velocities[a.places[0]], sim.velocities())
        moved = sim.positions() + [0.5, 0.0, 0.0]
        sim.set_state(positions=moved)
        np.testing.assert_array_equal(a.positions[a.places[0]], moved)  # seen through the view
        self.assertFalse(np.array_equal(a.places[0], np.arange(81)))  # the order is another one

    def test_borrowed_arrays_keep_the_simulation_alive(self):
        view = hung().borrow().positions
        self.assertTrue(np.isfinite(view).all())

    def test_edits(self):
        sim = hung()
        sim.step()
        corner = sim.pins()[0]
        pin = sim.pin([80])
        target = sim.positions()[80] + [0.0, 0.01, 0.0]
        sim.move(pin, [target])
        sim.step()
        np.testing.assert_allclose(sim.positions()[80], target, atol=1e-12)
        sim.unpin(pin)
        sim.unpin(corner)
        sim.set_gravity([0, 0, 0])
        sim.set_material({"base": "linen", "bending": 1e-4})
        sim.set_air(density=1.2, wind=[0, 0, 5])
        before = sim.positions()[:, 2].mean()
        self.assertGreater(sim.mass(), 0.0)
        for _ in range(20):
            sim.step()
        self.assertGreater(sim.positions()[:, 2].mean(), before + 0.01)  # it flies with the wind
        self.assertRaises(weft.NotFoundError, sim.move, pin, [target])

    def test_obstacles_move(self):
        sim = weft.Simulation(time_step=0.01, threads=1)
        sim.add_cloth(*grid(9))
        x, quads = grid(2)
        floor = sim.add_obstacle(4 * x - [1.5, 4.2, 1.5], quads, name="floor", keys=[(0, (0, 0, 0)), (1, (0, 0.5, 0))])
        self.assertAlmostEqual(sim.obstacle_positions(floor, 0.5)[0, 1], -0.2 + 0.25, places=6)
        for _ in range(60):
            stats = sim.step()
        self.assertGreater(stats["contacts"], 0)
        self.assertGreater(sim.positions()[:, 1].min(), sim.obstacle_positions(floor)[0, 1])
        self.assertEqual(sim.obstacles(), {0: "floor"})

    def test_watching(self):
        seen = []
        sim = hung()
        sim.step(lambda progress: seen.append(progress["stage"]))
        self.assertIn("solve", seen)
        before = sim.positions()
        self.assertRaises(weft.Cancelled, sim.step, lambda progress: True)
        self.assertRaises(KeyError, sim.step, lambda progress: progress["no such key"])
        np.testing.assert_array_equal(sim.positions(), before)
        sim.step()


class Solving(unittest.TestCase):
    def setUp(self):
        try:
            from scipy import sparse
            from scipy.sparse import linalg
        except ImportError:
            self.skipTest("scipy is not there")
        self.sparse, self.linalg = sparse, linalg

    def matrix(self, n):
        """Springs on a grid in three directions, and masses."""
        line = self.sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(n, n))
        one = self.sparse.identity(n)
        plane = self.sparse.kron(line, one) + self.sparse.kron(one, line)
        stiff = self.sparse.kron(plane, np.array([[3.0, 0.5, 0.0], [0.5, 2.0, 0.1], [0.0, 0.1, 1.0]]))
        return (stiff + 1e-3 * self.sparse.identity(3 * n * n)).tocsc()

    def test_every_solver_against_scipy(self):
        A = self.matrix(24)
        b = np.sin(np.arange(A.shape[0]))
        exact = self.linalg.spsolve(A, b)
        for name in ("sa-ppcg", "sa-pcg", "cholesky", "diag-pcg", "mpcg", "auto"):
            found = weft.solve(A, b, solver=name, tolerance=1e-9, threads=1)
            self.assertEqual(found.x.shape, b.shape)
            self.assertLess(np.linalg.norm(found.x - exact) / np.linalg.norm(exact), 1e-6, name)
            self.assertTrue(found.stats["converged"])
        self.assertLess(weft.solve(A, b, threads=1).stats["iterations"], 20)

    def test_filter_and_reuse(self):
        A = self.matrix(24)
        n = A.shape[0] // 3
        free = np.tile(np.eye(3), (n, 1, 1))
        free[0] = 0.0
        z = np.zeros((n, 3))
        z[0] = [1.0, 2.0, 3.0]
        system = weft.System(A, np.ones((n, 3)), filter=free, z=z)
        solver = weft.Solver(threads=1, tolerance=1e-10)
        first, second = solver.solve(system), solver.solve(system)
        np.testing.assert_allclose(first.x[0], z[0])
        residual = (A @ first.x.ravel() - 1.0).reshape(n, 3)
        self.assertLess(np.abs(residual[1:]).max(), 1e-7)
        self.assertEqual((first.stats["refreshed"], second.stats["refreshed"]), (0, 1))

    def test_files(self):
        sim = hung()
        sim.step()
        with tempfile.TemporaryDirectory() as folder:
            prefix = os.path.join(folder, "step")
            sim.system().write(prefix, binary=True)
            a, b = (weft.Solver("cholesky", threads=1).solve(s).x for s in (sim.system(), weft.System.read(prefix)))
        np.testing.assert_array_equal(a, b)

    def test_what_cannot_be_solved(self):
        A = self.matrix(4) - 0.9 * self.sparse.identity(48)  # positive on its diagonal, but not definite
        with self.assertRaises(weft.SolveError) as caught:
            weft.solve(A, np.ones(A.shape[0]), solver="cholesky", threads=1)
        self.assertEqual(caught.exception.best.shape, (16, 3))
        self.assertIsInstance(caught.exception, ArithmeticError)
        self.assertRaises(weft.InputError, weft.solve, self.sparse.identity(4), np.ones(4))
        self.assertRaises(weft.InputError, weft.solve, self.sparse.identity(6), np.ones(3))
        self.assertRaises(weft.InputError, weft.solve, self.sparse.identity(6) * np.nan, np.ones(6))
        self.assertRaises(weft.NotFoundError, weft.Solver, "no-such-solver")
        self.assertRaises(weft.Error, weft.Solver, theta=7.0)
        self.assertRaises(weft.Error, weft.Solver, no_such_setting=7.0)


class Collisions(unittest.TestCase):
    def test_queries_and_collider_agree(self):
        random = np.random.default_rng(7)
        start, end = random.uniform(-1, 1, (200, 4, 3)), random.uniform(-1, 1, (200, 4, 3))
        hit, time = weft.ccd("vertex-face", start, end)
        self.assertTrue(0 < hit.sum() < 200 and (np.isfinite(time) == hit).all())
        for k in range(200):
            collider = weft.Collider(4, [[1, 2, 3]], body=[0, 1, 1, 1], threads=1)
            found = [i for i in collider.impacts(start[k], end[k]) if i["kind"] == "vertex-face" and i["vertex"][0] == 0]
            self.assertEqual(len(found), int(hit[k]))
            self.assertTrue(not found or found[0]["time"] == time[k])
        near = weft.Collider(4, [[1, 2, 3]], threads=1).near([[0.2, 0.1, 0.2], [0, 0, 0], [1, 0, 0], [0, 0, 1]], 0.2)
        self.assertEqual(len(near), 1)
        self.assertAlmostEqual(near[0]["distance"], 0.1)
        self.assertAlmostEqual(abs(near[0]["normal"][1]), 1.0)


class WrongUses(unittest.TestCase):
    """None of them may end the process, as the C interface does where its contract is broken."""

    def test_each_is_an_exception(self):
        x, quads = grid(4)
        sim = hung(4)
        new = lambda: weft.Simulation(threads=1)  # noqa: E731
        wrong = [
            lambda: weft.Simulation(method="no-such-method"),
            lambda: weft.Simulation(solver="no-such-solver"),
            lambda: weft.Simulation(time_step=-1.0),
            lambda: weft.Simulation(time_step=float("nan")),
            lambda: weft.Simulation(threads=-1),
            lambda: weft.Simulation(nothing=1),
            lambda: weft.Simulation(gravity=[0, 1]),
            lambda: weft.Simulation(newton={"nothing": 1}),
            lambda: weft.Simulation(newton={"tolerance": -1}),
            lambda: weft.Simulation(air={"nothing": 1}),
            lambda: new().step(),
            lambda: new().positions(),
            lambda: new().borrow(),
            lambda: new().add_cloth(x[:, :2], quads),
            lambda: new().add_cloth(x * np.nan, quads),
            lambda: new().add_cloth(x, quads + 100),
            lambda: new().add_cloth(x, quads - 5),
            lambda: new().add_cloth(x, quads * 1.0),
            lambda: new().add_cloth(x, None),
            lambda: new().add_cloth(np.zeros((0, 3)), np.zeros((0, 3), dtype=int)),
            lambda: new().add_cloth(x, quads, material="no-such-material"),
            lambda: new().add_cloth(x, quads, material={"nothing": 1}),
            lambda: new().add_cloth(x, quads, material={"density": -1.0}),
            lambda: new().add_cloth(x, quads, pins=[[99]]),
            lambda: new().add_cloth(x, quads, pins=[weft.Pin([0], fix="glue")]),
            lambda: new().add_cloth(x, quads, pins=[weft.Pin([0], follow="nobody")]) or new().step(),
            lambda: new().add_cloth(x, quads, pins=[weft.Pin([0], samples=np.zeros((2, 5, 3)))]),
            lambda: new().add_cloth(x, quads, name="a/b"),
            lambda: new().add_cloth(x, quads, velocities=x[:3]),
            lambda: new().add_cloth(x, quads, kind="no-such-kind"),
            lambda: new().add_cloth(x, quads, nothing=1),
            lambda: new().add_cloth(x, quads, cookie=1),
            lambda: new().add_obstacle(x, quads, samples=np.zeros((3, 2, 3))),
            lambda: new().add_obstacle(x, quads, keys=[(1, (0, 0, 0)), (0, (0, 0, 0))]),
            lambda: sim.positions(7),
            lambda: sim.positions(-1),
            lambda: sim.positions("sheet"),
            lambda: sim.obstacle_positions(0),
            lambda: sim.set_state(positions=x[:2]),
            lambda: sim.set_gravity([1, 2, np.inf]),
            lambda: sim.set_material("no-such-material"),
            lambda: sim.unpin(99),
            lambda: sim.move(99, [[0, 0, 0]]),
            lambda: sim.remove_cloth(0),
            lambda: sim.remove_cloth(9),
            lambda: sim.add_cloth(x, quads, name="sheet"),
            lambda: weft.Scene("no-such-scene"),
            lambda: weft.Scene({"cloth": []}),
            lambda: weft.Scene("sphere", {"nothing.here": 1}),
            lambda: weft.Run("no-such-folder"),
            lambda: weft.run("sphere", "unused", mode="maybe"),
            lambda: weft.view(),
            lambda: weft.view("no-such-folder"),
            lambda: weft.ccd("face-face", np.zeros((4, 3)), np.zeros((4, 3))),
            lambda: weft.ccd("edge-edge", np.zeros((3, 3)), np.zeros((3, 3))),
            lambda: weft.ccd("edge-edge", np.full((4, 3), np.nan), np.zeros((4, 3))),
            lambda: weft.Collider(3, [[0, 1, 5]]),
            lambda: weft.Collider(3, [[0, 1, 1]]),
            lambda: weft.Collider(-1),
            lambda: weft.Collider(3, [[0, 1, 2]]).near(np.zeros((3, 3)), float("nan")),
            lambda: weft.Collider(3, [[0, 1, 2]], body=[0, 0]),
            lambda: weft.names("nothing"),
        ]
        for k, use in enumerate(wrong):
            with self.subTest(number=k):
                with self.assertRaises(weft.Error) as caught:
                    use()
                self.assertGreater(len(str(caught.exception)), 10)

    def test_a_closed_simulation_says_so(self):
        sim = hung(4)
        sim.close()
        sim.close()
        self.assertRaises(weft.InputError, sim.step)

    def test_errors_name_file_and_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write('{\n"cloth": [{"mash": 1}]}\n')
            with self.assertRaises(weft.InputError) as caught:
                weft.Scene(path)
        self.assertEqual((caught.exception.file, caught.exception.line), (path, 2))
        self.assertIn("mesh", str(caught.exception))

    def test_what_c_would_end_the_process_for(self):
        """None where C needs a text, numbers that C would cut off, and what is no number or array at all."""
        sheet, faces = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1.0]]), [[0, 1, 2, 3]]
        new = weft.Simulation
        wrong = [lambda j: new(method=j), lambda j: new(solver=j), lambda j: new(time_step=j), lambda j: new(gravity=j),
                 lambda j: new(newton={"tolerance": j}), lambda j: new(sa=j), lambda j: new(air=j),
                 lambda j: new().add_cloth(j, faces), lambda j: new().add_cloth(sheet, j), lambda j: new().add_cloth(sheet, faces, material=j),
                 lambda j: new().add_cloth(sheet, faces, material={"bending": j}), lambda j: new().add_cloth(sheet, faces, model=j),
                 lambda j: new().add_cloth(sheet, faces, kind=3 if j is None else j),
                 lambda j: new().add_cloth(sheet, faces, thickness=j),
                 lambda j: new().add_cloth(sheet, faces, pins=[weft.Pin([0], keys=[j])]),
                 lambda j: new().add_cloth(sheet, faces, pins=[weft.Pin([0], weights=j if j is not None else "x")]),
                 lambda j: hung().unpin(j), lambda j: hung().move(j, [[0, 0, 0]]), lambda j: hung().set_material(j),
                 lambda j: weft.Collider(4, [[0, 1, 2]]).near(sheet, j), lambda j: weft.Collider(j), lambda j: weft.Solver(j),
                 lambda j: weft.Solver(max_iterations=j), lambda j: weft.Solver(threads=j), lambda j: weft.System.read(j),
                 lambda j: weft.Run(j), lambda j: weft.run(j, "never-made"), lambda j: weft.run("towel", j, frames=0),
                 lambda j: new.from_scene(j), lambda j: weft.view(j)]
        for use in wrong:
            for junk in (None, object(), [[1], [1, 2]], 3j):
                with self.assertRaises(weft.Error, msg=f"{use.__code__.co_firstlineno} {junk!r}"):
                    use(junk)
        for use in (lambda: weft.Solver(max_iterations=2**32 + 5), lambda: weft.Solver(threads=2**32), lambda: weft.Collider(2**33),
                    lambda: weft.Solver("sa\0ppcg"), lambda: new(method="pbd\0")):
            self.assertRaises(weft.Error, use)

    def test_a_library_that_is_not_there(self):
        environment = dict(os.environ, WEFT_LIBRARY="/no/such/libweft.so", PYTHONPATH=os.path.join(ROOT, "bindings", "python"))
        done = subprocess.run([sys.executable, "-c", "import weft"], env=environment, capture_output=True, text=True)
        self.assertIn("WEFT_LIBRARY", done.stderr)


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    # As the C tests end, so that script/test counts these too.
    print(f"[  PASSED  ] {result.testsRun - failed - skipped} test(s).")
    print(f"[  SKIPPED ] {skipped} test(s)." if skipped else "", f"[  FAILED  ] {failed} test(s)." if failed else "", sep="\n")
    sys.exit(1 if failed else 0)
