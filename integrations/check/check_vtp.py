"""Reads an exported folder of VTP files with VTK and compares every frame with the run.

python3 check_vtp.py EXPORT RUN [--frames A:B] [--every N] [--fps R] [--up y|z]
Needs VTK's Python (Debian: python3-vtk9).
"""
import math
import os
import xml.etree.ElementTree as xml

from run_folder import Expected, arguments, fail
from vtkmodules.vtkCommonCore import vtkVersion
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader


def read(path):
    reader = vtkXMLPolyDataReader()
    if not reader.CanReadFile(path):
        fail("%s: VTK does not take it for a VTP file" % path)
    reader.SetFileName(path)
    reader.Update()
    if reader.GetErrorCode() != 0:
        fail("%s: VTK reports error %d" % (path, reader.GetErrorCode()))
    return reader.GetOutput()


def faces_of(data):
    return [
        [data.GetCell(k).GetPointId(c) for c in range(data.GetCell(k).GetNumberOfPoints())]
        for k in range(data.GetNumberOfCells())
    ]


def check_texcoords(what, data, mesh):
    wanted = mesh.vertex_texcoords()
    array = data.GetPointData().GetTCoords()
    if (array is None) != (wanted is None):
        fail("%s: texture coordinates are %s" % (what, "missing" if array is None else "there though vertices have two"))
    for v, t in (wanted or {}).items():
        if math.dist(array.GetTuple(v)[:2], t) > 1e-6:
            fail("%s: vertex %d has texture coordinate %s instead of %s" % (what, v, array.GetTuple(v), t))


def check_file(expected, path, body, frame):
    data = read(path)
    mesh = body.mesh(frame)
    expected.compare(path, [data.GetPoint(v) for v in range(data.GetNumberOfPoints())], body.positions(frame))
    if faces_of(data) != mesh.faces:
        fail("%s: the faces are not those of the run" % path)
    check_texcoords(path, data, mesh)


def main():
    options = arguments(__doc__)
    expected = Expected(options)
    entries = xml.parse(os.path.join(options.export, "run.pvd")).getroot().findall("Collection/DataSet")
    if len(entries) != len(expected.frames) * len(expected.run.bodies):
        fail("run.pvd lists %d files" % len(entries))
    for number, entry in enumerate(entries):
        k = number // len(expected.run.bodies)
        if abs(float(entry.get("timestep")) - k / expected.fps) > 1e-6:
            fail("run.pvd: frame %d is at %s s instead of %g" % (k, entry.get("timestep"), k / expected.fps))
        if entry.get("name") not in expected.run.bodies:
            fail("run.pvd: the run has no body %s" % entry.get("name"))
        body = expected.run.bodies[entry.get("name")]
        check_file(expected, os.path.join(options.export, entry.get("file")), body, expected.frames[k])
    expected.passed("VTK " + vtkVersion.GetVTKVersion())


main()
