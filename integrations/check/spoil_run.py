"""Copies a folder of make_run.py with one fault in the body `flag`, so that the checks can be seen to fail: an export of
the copy, held against the folder itself, must be refused.

python3 spoil_run.py swap|shift|axes|far|flip|vt|name RUN COPY
"""
import os
import shutil
import struct
import sys

HEADER = 32
FAR = 1.5e-5  # metres; checks allow 1e-6 of the size of the scene, which is 6.5 m


def change_samples(folder, change):
    """`change` gets [frame][vertex][axis] and returns it."""
    path = os.path.join(folder, "flag.pc2")
    with open(path, "rb") as file:
        data = file.read()
    points, samples = struct.unpack("<i", data[16:20])[0], struct.unpack("<i", data[28:32])[0]
    numbers = struct.unpack("<%df" % (3 * points * samples), data[HEADER:])
    rows = [list(numbers[k : k + 3]) for k in range(0, len(numbers), 3)]
    frames = change([rows[k : k + points] for k in range(0, len(rows), points)])
    numbers = [x for frame in frames for row in frame for x in row]
    with open(path, "wb") as file:
        file.write(data[:HEADER] + struct.pack("<%df" % len(numbers), *numbers))


def swap(frames):
    """Two vertices of one frame."""
    frames[3][7], frames[3][8] = frames[3][8], frames[3][7]
    return frames


def shift(frames):
    """Every frame is the next one."""
    return frames[1:] + frames[-1:]


def axes(frames):
    return [[[x, z, y] for x, y, z in frame] for frame in frames]


def far(frames):
    """One vertex of one frame."""
    frames[3][12][0] += FAR
    return frames


def change_lines(folder, word, change):
    """The third line that begins with `word`."""
    path = os.path.join(folder, "flag.obj")
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    place = [k for k, line in enumerate(lines) if line.startswith(word + " ")][2]
    lines[place] = " ".join([word] + change(lines[place].split()[1:]))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def rename(folder):
    for ending in (".obj", ".pc2"):
        os.rename(os.path.join(folder, "flag" + ending), os.path.join(folder, "flog" + ending))


def main():
    kind, run, copy = sys.argv[1:]
    shutil.copytree(run, copy)
    if kind == "flip":
        change_lines(copy, "f", lambda words: words[::-1])
    elif kind == "vt":
        change_lines(copy, "vt", lambda words: [str(float(words[0]) + 1e-3), words[1]])
    elif kind == "name":
        rename(copy)
    else:
        change_samples(copy, {"swap": swap, "shift": shift, "axes": axes, "far": far}[kind])


main()
