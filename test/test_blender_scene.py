#!/usr/bin/python3
"""The Blender add-on's modules that need no Blender, against the command. Usage: test_blender_scene.py COMMAND. 77: numpy is not there."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not there (script/setup test)")
    sys.exit(77)
COMMAND = os.path.abspath(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "integrations", "blender"))
from weft_blender import build_scene, child, read_run  # noqa: E402
from weft_blender.build_scene import Body, Mesh, Samples, SceneError, Settings  # noqa: E402


def sheet(n=5, height=1.0):
    """Quads with a pentagon's worth of corners in the last face, in Blender's axes."""
    points = np.array([[i / (n - 1), j / (n - 1), height] for j in range(n) for i in range(n)])
    faces = [[j * n + i, j * n + i + 1, (j + 1) * n + i + 1, (j + 1) * n + i] for j in range(n - 1) for i in range(n - 1)]
    corners = np.array([v for face in faces for v in face], dtype=np.int64)
    starts = np.arange(0, len(corners) + 1, 4)
    uv = build_scene.to_weft(points)[corners][:, [0, 2]].astype(np.float32)
    return Mesh(build_scene.to_weft(points), corners, starts, uv)


def body(role="CLOTH", label="mein Tüch", **more):
    out = Body(role, label, build_scene.body_name(label), sheet(**more))
    return out


def run(folder, settings, bodies, **options):
    path = build_scene.write_scene(folder, settings, bodies)
    return child.Child(COMMAND, path, os.path.join(folder, "run"), bodies, settings, threads=1, **options)


class Build(unittest.TestCase):
    def test_axes_come_back(self):
        points = np.random.default_rng(1).normal(size=(20, 3))
        there = build_scene.to_weft(points, 0.01)
        self.assertLess(np.abs(build_scene.from_weft(there, 0.01) - points).max(), 1e-6)
        self.assertEqual(build_scene.to_weft([[1, 2, 3]], 2.0).tolist(), [[2, 6, -4]])
        self.assertEqual(build_scene.vector_to_weft((0, 0, -9.81)), [0, -9.81, 0])
        # A rotation, no mirror: x, y, z of Blender keep their sense.
        self.assertAlmostEqual(np.linalg.det(build_scene.to_weft(np.eye(3))), 1.0)

    def test_names(self):
        names = build_scene.body_names(["Größe 1", "Groesse-1", "groesse 1", "布", "", "Cube.001", "x" * 300])
        self.assertEqual(names[:3], ["Groesse-1", "Groesse-1-2", "groesse-1-3"])
        self.assertEqual(len({n.lower() for n in names}), len(names))
        for name in names:
            self.assertRegex(name, r"^[A-Za-z0-9_-]{1,100}$")

    def test_triangles_and_flips(self):
        mesh = sheet(3)
        self.assertEqual(mesh.triangle_faces().tolist(), [0, 0, 1, 1, 2, 2, 3, 3])
        before, uv = mesh.corners.copy(), mesh.uv.copy()
        mesh.flip()
        self.assertEqual(mesh.corners[:4].tolist(), before[:4][::-1].tolist())
        self.assertEqual(mesh.uv[:4].tolist(), uv[:4][::-1].tolist())

    def test_samples_that_stand_still_are_not_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.pc2")
            samples = Samples(path, 2)
            for _ in range(3):
                samples.add(np.zeros((2, 3), np.float32))
            self.assertFalse(samples.close())
            self.assertFalse(os.path.exists(path))
            samples = Samples(path, 2)
            samples.add(np.zeros((2, 3), np.float32))
            samples.add(np.ones((2, 3), np.float32))
            self.assertTrue(samples.close())
            self.assertEqual(read_run.read_header(path), (2, 0, 2))
            self.assertEqual(read_run.read_sample(path, 1).tolist(), [[1, 1, 1]] * 2)
            self.assertRaises(SceneError, read_run.read_sample, path, 2)

    def test_additional_keys(self):
        self.assertEqual(build_scene.parse_extra("  ", "x"), {})
        self.assertRaises(SceneError, build_scene.parse_extra, "[1]", "x")
        self.assertEqual(build_scene.merge({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}), {"a": {"b": 3, "c": 2}})
        one = body()
        one.extra = {"material": {"base": "denim"}}
        self.assertEqual(build_scene.scene_block(Settings(), [one])["cloth"][0]["material"], {"base": "denim"})
        self.assertRaises(SceneError, build_scene.scene_block, Settings(), [body("OBSTACLE")])


class Command(unittest.TestCase):
    def test_a_scene_with_everything_is_one(self):
        """Checked by Weft itself, which refuses unknown keys."""
        with tempfile.TemporaryDirectory() as folder:
            one, other = body(), body("OBSTACLE", "Körper", height=0.5)
            one.pins, one.pin_stiffness, one.samples_file = {0: 1.0, 4: 0.5}, 5e3, "pins.pc2"
            one.rest, one.friction, one.thickness = "uv", 0.2, 0.002
            other.samples_file = "body.pc2"
            for name in ("pins.pc2", "body.pc2"):
                samples = Samples(os.path.join(folder, name), 25)
                for k in range(5):
                    samples.add(one.mesh.points + np.float32(0.01 * k))
                samples.close()
            settings = Settings(frames=2, fps=30 / 1.001, wind=[1.0, 0.0, 0.0], initial_contact="settle", sample_rate=60 / 1.001)
            path = build_scene.write_scene(folder, settings, [one, other])
            done = subprocess.run([COMMAND, "check", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_run_is_watched_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            one = body()
            one.pins = {0: 1.0, 4: 1.0}
            going = run(folder, Settings(frames=3, steps_per_frame=2), [one])
            self.assertTrue(going.wait(120))
            self.assertIsNone(going.error())
            self.assertEqual((going.frames_done(), going.share_done()), (3, 1.0))
            found = read_run.Run(os.path.join(folder, "run"))
            self.assertEqual([(b.key, b.label, b.obstacle) for b in found.bodies], [("mein-Tuech", "mein Tüch", False)])
            self.assertEqual(found.frame_count, 4)
            self.assertAlmostEqual(found.rate, 24.0)
            mesh = read_run.ObjMesh(found.bodies[0].topologies[0].mesh_path)
            self.assertEqual(np.array(mesh.faces).ravel().tolist(), one.mesh.corners.tolist())
            first = read_run.read_sample(found.bodies[0].topologies[0].cache_path, 0)
            self.assertEqual(first.tolist(), one.mesh.points.tolist())  # to the bit

    def test_it_can_be_stopped_and_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            one = body(n=20)
            one.pins = {0: 1.0}
            going = run(folder, Settings(frames=100000), [one])
            end = time.monotonic() + 60
            while going.frames_done() < 1 and time.monotonic() < end:
                time.sleep(0.01)
            pid = going.process.pid
            going.stop()
            self.assertFalse(os.path.exists("/proc/%d" % pid))
            self.assertIsNone(going.error())
            self.assertEqual(child.any_running(), [])
            done = going.frames_done()
            self.assertGreaterEqual(done, 1)
            again = run(folder, Settings(frames=done + 1), [one], resume=True)
            self.assertTrue(again.wait(120))
            self.assertIsNone(again.error())
            self.assertEqual(again.frames_done(), done + 1)

    def test_errors_are_sentences_with_the_users_names(self):
        with tempfile.TemporaryDirectory() as folder:
            one = body()
            one.material = "coton"
            going = run(folder, Settings(frames=1), [one])
            self.assertTrue(going.wait(60))
            self.assertIn('object "mein Tüch"', going.error())
            self.assertIn("cotton", going.error())
        self.assertRaises(SceneError, child.Child, None, "", "", [], Settings())
        self.assertRaises(SceneError, child.Child, os.path.join(ROOT, "README.md"), "s", "d", [], Settings(frames=1))

    def test_crossings_are_faces(self):
        with tempfile.TemporaryDirectory() as folder:
            one, other = body(), body(label="other")
            tilted = np.array(other.mesh.points)
            tilted[:, 1] = 1.0 + 0.2 * (tilted[:, 0] - 0.6)
            other.mesh.points = tilted.astype(np.float32)
            going = run(folder, Settings(frames=1), [one, other])
            self.assertTrue(going.wait(60))
            self.assertTrue(going.refused_start())
            faces = going.crossings()
            # The sheets meet at x = 0.6: in the third of four columns.
            self.assertEqual(faces["mein-Tuech"], {2, 6, 10, 14})
            self.assertEqual(faces["other"], {2, 6, 10, 14})

    def test_names_of_the_command(self):
        self.assertIn("cotton", [name for name, _ in child.names(COMMAND, "materials")])
        self.assertEqual(child.names(None, "materials"), [])
        self.assertEqual(child.find_command(COMMAND), COMMAND)
        self.assertIsNone(child.find_command("/nowhere/weft"))


class Folder(unittest.TestCase):
    def test_topologies_and_bodies_that_come_and_go(self):
        with tempfile.TemporaryDirectory() as folder:
            def add(name, samples):
                with open(os.path.join(folder, name + ".obj"), "w", encoding="utf-8") as file:
                    file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0.5\nusemtl a b\nf 1/1 2/1 3\nl 1 2 3\n")
                cache = Samples(os.path.join(folder, name + ".pc2"), 3)
                for k in range(samples):
                    cache.add(np.full((3, 3), k, np.float32))
                cache.close()

            for name, count in (("flag", 4), ("flag.1", 3), ("late", 2)):
                add(name, count)
            with open(os.path.join(folder, "scene.json"), "w", encoding="utf-8") as file:
                json.dump({"time_step": 0.01, "steps_per_frame": 5, "cloth": [{"name": "flag"}], "obstacles": []}, file)
            with open(os.path.join(folder, "frames.jsonl"), "w", encoding="utf-8") as file:
                file.write('{"frame": 4, "body": "flag", "topology": 1, "copies": [0]}\n')
                file.write('{"frame": 2, "body": "late", "topology": 0, "list": "obstacles", "id": 1}\n')
                file.write('{"frame": 3, "body": "late", "gone": true}\n{"frame": 6, "body": "flag", "to')
            found = read_run.Run(folder)
            spans = [(t.first, t.end) for b in found.bodies for t in b.topologies]
            self.assertEqual(spans, [(0, 4), (4, None), (2, 3)])
            self.assertEqual((found.frame_count, found.rate), (7, 20.0))
            mesh = read_run.ObjMesh(found.bodies[0].topologies[0].mesh_path)
            self.assertEqual((mesh.materials, mesh.face_texcoords, mesh.edges), (["a b"], [[0, 0, -1]], [(0, 1), (1, 2)]))

    def test_what_is_no_run(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertRaises(SceneError, read_run.Run, folder)
            self.assertRaises(SceneError, read_run.Run, os.path.join(folder, "no"))
            with open(os.path.join(folder, "x.pc2"), "wb") as file:
                file.write(b"short")
            self.assertRaises(SceneError, read_run.read_header, os.path.join(folder, "x.pc2"))


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    # As the C tests end, so that script/test counts these too.
    print(f"[  PASSED  ] {result.testsRun - failed} test(s).")
    print(f"[  FAILED  ] {failed} test(s)." if failed else "")
    sys.exit(1 if failed else 0)
