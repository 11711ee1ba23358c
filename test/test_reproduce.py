#!/usr/bin/python3
"""script/reproduce on its smallest sizes. Usage: test_reproduce.py COMMAND."""
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMAND = os.path.abspath(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "bench", "book"))
from drawing import plot  # noqa: E402
from items import ITEMS  # noqa: E402
from steps import STEPS  # noqa: E402

CHEAP = "sa-convergence,local-global-curve,thesis-damping,thesis-preconditioner"


def reproduce(folder, *words):
    return subprocess.run([sys.executable, os.path.join(ROOT, "script", "reproduce"), "--tiny", "--weft", COMMAND, "--out", folder, *words],
                          capture_output=True, text=True, check=False)


def page(folder):
    with open(os.path.join(folder, "index.html"), encoding="utf-8") as file:
        return file.read()


class Book(unittest.TestCase):
    def test_a_book_of_nothing_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            done = reproduce(folder, "--page")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("0 of %d tables" % len(ITEMS), done.stdout)
            self.assertEqual(page(folder).count("<h3"), len(ITEMS))

    def test_figures_beside_published_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            done = reproduce(folder, "--only", CHEAP)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(os.path.join(folder, "numbers.csv"), encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            error = next(r for r in rows if r["item"] == "Figure 2" and r["what"].startswith("10 iterations"))
            with open(os.path.join(folder, "steps", "local-global-curve", "output.json"), encoding="utf-8") as file:
                ours = next(r for r in json.load(file)["rows"] if r["turns"] == 10 and r["way"] == "local/global")
            self.assertTrue(error["here"].endswith("; %.3g" % ours["error"]))
            self.assertEqual(error["published"], "50.6; 0.196")
            text = page(folder)
            for word in ("processor", "commit", "Energy without damping", "Ratio of CG iterations", "Not in the tiny form", "Not run yet"):
                self.assertIn(word, text)
            drawings = re.findall(r"<svg.*?</svg>", text, re.S)
            self.assertGreater(len(drawings), 8)
            self.assertNotRegex(text, r'="[^"]*\bnan\b')
            again = reproduce(folder, "--only", CHEAP)
            self.assertEqual(again.stdout.count("kept"), 4)

    def test_killed_it_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            words = [sys.executable, os.path.join(ROOT, "script", "reproduce"), "--tiny", "--weft", COMMAND, "--out", folder, "--only", "sa-convergence,thesis-stability"]
            state = os.path.join(folder, "steps", "thesis-stability", "state.json")
            running = subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True)
            end = time.monotonic() + 120
            while not os.path.exists(state) and time.monotonic() < end:
                time.sleep(0.01)
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            with open(state, encoding="utf-8") as file:
                self.assertNotIn("ended", json.load(file))
            done = reproduce(folder, "--only", "sa-convergence,thesis-stability")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, "sa-convergence ... kept")
            self.assertRegex(done.stdout, "thesis-stability ... done")

    def test_what_fails_is_named_and_the_rest_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(reproduce(folder, "--only", "nothing").returncode, 1)
            broken = os.path.join(folder, "broken")
            with open(broken, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho no >&2\nexit 1\n")
            os.chmod(broken, 0o755)
            done = reproduce(folder, "--only", "sa-convergence,mpcg", "--weft", broken)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stdout.count("... failed"), 2)
            self.assertIn("Not run yet", page(folder))

    def test_every_step_has_an_item_and_plots_bear_anything(self):
        with open(os.path.join(ROOT, "bench", "book", "items.py"), encoding="utf-8") as file:
            text = file.read()
        for step in STEPS:
            self.assertIn('"%s"' % step.name, text)
        for lines in ({}, {"a": []}, {"a": [(1, 1)]}, {"a": [(1, None), (2, float("nan")), (0, -1)]}, {"a": [(1e-9, 1e9), (1e9, 1e-9)]}):
            for log in (False, True):
                self.assertTrue(plot("t", "x", "y", lines, log, log).endswith("</svg>"))


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    # As the C tests end, so that script/test counts these too.
    print(f"[  PASSED  ] {result.testsRun - failed} test(s).")
    print(f"[  FAILED  ] {failed} test(s)." if failed else "")
    sys.exit(1 if failed else 0)
