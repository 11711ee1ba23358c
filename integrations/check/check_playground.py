"""Starts the playground and drags its curtain: by a file of events without a display, or by real ones (xdotool under Xvfb).

python3 check_playground.py PLAYGROUND FOLDER [--window]
The pictures that were compared stay in FOLDER. Exit status 77: a program that is needed is not there.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import zlib

TEXT_WIDTH = 300  # pixels at the left that the text covers: milliseconds differ from run to run
SIZE = (800, 450)
GRAB, PULL = (480, 312), (-150, -110)  # a vertex of the curtain's hem, and where it is pulled to from there


def fail(sentence):
    print("failed: " + sentence)
    sys.exit(1)


def pixels(path):
    """Rows of an RGB picture, right of the text."""
    data = open(path, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", data[at + 8:at + 18])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    if (width, height, depth, color) != (*SIZE, 8, 2):
        fail("%s is %d x %d, depth %d, colour %d" % (path, width, height, depth, color))
    raw, rows, above = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        line = bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        unfilter(raw[y * (3 * width + 1)], line, above)
        above = bytes(line)
        rows.append(above[3 * TEXT_WIDTH:])
    return rows


def unfilter(kind, line, above):
    for x in range(len(line)):
        a, b, c = line[x - 3] if x > 2 else 0, above[x], above[x - 3] if x > 2 else 0
        if kind == 4:
            p = a + b - c
            line[x] = (line[x] + min((a, b, c), key=lambda v: abs(p - v))) & 255
        elif kind:
            line[x] = (line[x] + (a, b, (a + b) // 2)[kind - 1]) & 255


def changed(first, second):
    """The part of the pixels that differ clearly."""
    count = total = 0
    for a, b in zip(first, second):
        for x in range(0, len(a), 3):
            total += 1
            count += max(abs(a[x + k] - b[x + k]) for k in range(3)) > 24
    return count / total


def moved(report):
    found = re.search(r"(\d+) steps, .* moved by up to ([0-9.]+) m", report)
    if not found or int(found[1]) == 0:
        fail("the playground says `%s`" % report.strip())
    return float(found[2])


# ---- by a file of events

def scripted(program, folder, name, lines, environment):
    events, picture = os.path.join(folder, name + ".txt"), os.path.join(folder, name + ".png")
    with open(events, "w") as file:
        file.write("\n".join(lines) + "\n")
    command = [program, "curtain", "--frames", "36", "--size", "%dx%d" % SIZE, "--events", events, "--screenshot", picture]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
    if done.returncode != 0:
        if "no window" in done.stderr or "video" in done.stderr:
            print("skipped: " + done.stderr.strip())
            sys.exit(77)
        fail("%s ends with %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()))
    return pixels(picture), moved(done.stdout), done.stdout


def check_scripted(program, folder):
    environment = dict(os.environ, SDL_VIDEODRIVER="offscreen")
    pull = ["12 down %d %d" % GRAB]
    pull += ["%d move %d %d" % (12 + k, GRAB[0] + PULL[0] * k / 10, GRAB[1] + PULL[1] * k / 10) for k in range(1, 11)]
    still, way, _ = scripted(program, folder, "still", ["# nothing happens"], environment)
    dragged, far, said = scripted(program, folder, "dragged", pull, environment)
    again, _, _ = scripted(program, folder, "again", pull, environment)
    part = changed(still, dragged)
    if "held" not in said or far < way + 0.1:
        fail("the curtain was pulled by %.3f m, and moves by %.3f m without that: `%s`" % (far, way, said.strip()))
    if part < 0.03:
        fail("only %.1f %% of the picture has changed" % (100 * part))
    if dragged != again:
        fail("the same events give two pictures")
    wrong = subprocess.run([program, "no-such-scene", "--frames", "1"], env=environment, capture_output=True, text=True)
    if wrong.returncode != 1 or "no-such-scene" not in wrong.stderr + wrong.stdout and "ships" not in wrong.stderr:
        fail("a scene that is not there ends with %d and `%s`" % (wrong.returncode, wrong.stderr.strip()))
    print("checked: dragged by %.2f m, %.0f %% of the picture changed, the same twice" % (far, 100 * part))


# ---- by the mouse

def tool(*words):
    done = subprocess.run(["xdotool", *[str(w) for w in words]], capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def wait_for(what, seconds, look):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.2)
    fail("%s: waited for %d s" % (what, seconds))


def start_server():
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1024x768x24"], pass_fds=[write],
                              stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as file:
        number = file.readline().strip()
    if not number:
        server.wait()
        fail("Xvfb does not start")
    os.environ["DISPLAY"] = ":" + number
    return server


def take_picture(path, kept):
    """The key S saves a picture; kept is its copy."""
    if os.path.exists(path):
        os.remove(path)
    tool("key", "s")
    wait_for("a picture", 60, lambda: os.path.exists(path))
    shutil.copy(path, kept)
    return pixels(kept)


def pulled(before, folder, picture):
    part = changed(before, take_picture(picture, os.path.join(folder, "after.png")))
    return part if part > 0.1 else None


def drag_in_window(game, folder, picture):
    window = wait_for("the window", 60, lambda: tool("search", "--name", "Weft playground: curtain")).split()[0]
    place = dict(line.split("=") for line in tool("getwindowgeometry", "--shell", window).splitlines() if "=" in line)
    left, top = int(place["X"]), int(place["Y"])

    def titled(word):
        wait_for("`%s` in the title" % word, 60, lambda: word in tool("getwindowname", window))

    time.sleep(3)  # the curtain is drawn together for a second
    tool("key", "space")
    titled("paused")
    before = take_picture(picture, os.path.join(folder, "before.png"))
    tool("key", "space")
    tool("mousemove", left + GRAB[0], top + GRAB[1], "mousedown", 1)
    for k in range(1, 11):
        tool("mousemove", left + GRAB[0] + PULL[0] * k // 10, top + GRAB[1] + PULL[1] * k // 10)
        time.sleep(0.1)
    part = wait_for("the curtain to be pulled", 120, lambda: pulled(before, folder, picture))
    tool("mouseup", 1)
    tool("key", "m")
    titled("curtain, pbd")  # the next one of `weft list methods`
    tool("key", "Escape")
    said, _ = game.communicate(timeout=60)
    return part, said


def check_window(program, folder):
    for needed in ("Xvfb", "xdotool"):
        if not shutil.which(needed):
            print("skipped: %s is not installed" % needed)
            sys.exit(77)
    server = start_server()
    picture = os.path.join(folder, "window.png")
    try:
        command = [program, "curtain", "--size", "%dx%d" % SIZE, "--screenshot", picture]
        game = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            part, said = drag_in_window(game, folder, picture)
        finally:
            game.kill()
    finally:
        server.terminate()
        server.wait()
    if game.returncode != 0 or moved(said) < 0.1:
        fail("exit status %d: `%s`" % (game.returncode, said.strip()))
    print("checked: dragged by the mouse, %.0f %% of the picture changed; %s" % (100 * part, said.strip().splitlines()[-1]))


if len(sys.argv) < 3:
    print(__doc__)
    sys.exit(2)
os.makedirs(sys.argv[2], exist_ok=True)
(check_window if "--window" in sys.argv else check_scripted)(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
