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
    corners = [t for face in mesh.face_texcoords for t in face]
    field = data.GetFieldData().GetArray("vt_corners")
    if wanted is None and any(corners):
        if field is None or field.GetNumberOfTuples() != len(corners):
            fail("%s: texture coordinates of corners are missing" % what)
        for k, t in enumerate(corners):
            if t is not None and math.dist(field.GetTuple(k), t) > 1e-6:
                fail("%s: corner %d has texture coordinate %s instead of %s" % (what, k, field.GetTuple(k), t))
    if (array is None) != (wanted is None):
        fail("%s: texture coordinates are %s" % (what, "missing" if array is None else "there though vertices have two"))
    for v, t in (wanted or {}).items():
        if math.dist(array.GetTuple(v)[:2], t) > 1e-6:
            fail("%s: vertex %d has texture coordinate %s instead of %s" % (what, v, array.GetTuple(v), t))


def check_names(what, data, mesh):
    for layer, wanted in mesh.names.items():
        numbers = data.GetCellData().GetArray(layer)
        names = data.GetFieldData().GetAbstractArray(layer + "s")
        if (numbers is None) != (not any(wanted)):
            fail("%s: %ss are %s" % (what, layer, "missing" if numbers is None else "there"))
        for face, name in enumerate(wanted if numbers is not None else []):
            k = int(numbers.GetTuple1(face))
            if (names.GetValue(k) if k >= 0 else None) != name:
                fail("%s: face %d has the %s %d instead of %s" % (what, face, layer, k, name))


def check_file(expected, path, body, frame):
    data = read(path)
    mesh = body.mesh(frame)
    expected.compare(path, [data.GetPoint(v) for v in range(data.GetNumberOfPoints())], body.positions(frame))
    if faces_of(data) != mesh.faces:
        fail("%s: the faces are not those of the run" % path)
    check_texcoords(path, data, mesh)
    check_names(path, data, mesh)


def main():
    options = arguments(__doc__)
    expected = Expected(options)
    entries = xml.parse(os.path.join(options.export, "run.pvd")).getroot().findall("Collection/DataSet")
    if len(entries) != len(expected.frames) * len(expected.run.bodies):
        fail("run.pvd lists %d files" % len(entries))
    for number, entry in enumerate(entries):
        k = number // len(expected.run.bodies)
        if abs(float(entry.get("timestep")) - expected.time(k)) > 1e-6:
            fail("run.pvd: frame %d is at %s s instead of %g" % (k, entry.get("timestep"), expected.time(k)))
        if entry.get("name") not in expected.run.bodies:
            fail("run.pvd: the run has no body %s" % entry.get("name"))
        body = expected.run.bodies[entry.get("name")]
        check_file(expected, os.path.join(options.export, entry.get("file")), body, expected.frames[k])
    expected.passed("VTK " + vtkVersion.GetVTKVersion())


main()
