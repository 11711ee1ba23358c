"""Reads an exported Alembic file by the published description of Ogawa and AbcGeom, strictly, and compares every frame
with the run.

python3 check_abc.py EXPORT.abc RUN [--frames A:B] [--every N] [--fps R] [--up y|z]

It follows what the reference library's reader does and asks for more: every byte of the file belongs to exactly one
block, every sample's key is that of its bytes, metadata are in order. Needs nothing but Python. docs/export-alembic.md
describes the layout.
"""
import math
import struct

from run_folder import Expected, arguments, fail

DATA = 1 << 63
POD_SIZE = [1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8]
STRING = 12
POD_FORMAT = "BBbHhIiQqefd"
SCALAR, ARRAY = "scalar", "array"
XFORM = {"schema": "AbcGeom_Xform_v3", "schemaObjTitle": "AbcGeom_Xform_v3:.xform"}
MESH = {
    "schema": "AbcGeom_PolyMesh_v1",
    "schemaBaseType": "AbcGeom_GeomBase_v1",
    "schemaObjTitle": "AbcGeom_PolyMesh_v1:.geom",
}
FACE_SET = {
    "schema": "AbcGeom_FaceSet_v1",
    "schemaBaseType": "AbcGeom_GeomBase_v1",
    "schemaObjTitle": "AbcGeom_FaceSet_v1:.faceset",
}
CURVES = {
    "schema": "AbcGeom_Curve_v2",
    "schemaBaseType": "AbcGeom_GeomBase_v1",
    "schemaObjTitle": "AbcGeom_Curve_v2:.geom",
}


def murmur(data):
    """MurmurHash3_x64_128 with seed 0, little endian."""
    full = (1 << 64) - 1
    turn = lambda x, r: ((x << r) | (x >> (64 - r))) & full
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    for at in range(0, whole, 16):
        k1, k2 = struct.unpack_from("<QQ", data, at)
        h1 ^= turn(k1 * c1 & full, 31) * c2 & full
        h1 = ((turn(h1, 27) + h2) * 5 + 0x52DCE729) & full
        h2 ^= turn(k2 * c2 & full, 33) * c1 & full
        h2 = ((turn(h2, 31) + h1) * 5 + 0x38495AB5) & full
    k1, k2 = struct.unpack("<QQ", data[whole:].ljust(16, b"\0"))
    h2 ^= turn(k2 * c2 & full, 33) * c1 & full
    h1 ^= turn(k1 * c1 & full, 31) * c2 & full
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = (h1 + h2) & full
    h2 = (h2 + h1) & full

    def final(k):
        k = (k ^ (k >> 33)) * 0xFF51AFD7ED558CCD & full
        k = (k ^ (k >> 33)) * 0xC4CEB9FE1A85EC53 & full
        return k ^ (k >> 33)

    h1, h2 = final(h1), final(h2)
    h1 = (h1 + h2) & full
    h2 = (h2 + h1) & full
    return struct.pack("<QQ", h1, h2)


# ---- the container


class Ogawa:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.blocks = {0: 16}  # where each starts, and its size
        if self.bytes[:5] != b"Ogawa" or len(self.bytes) < 16:
            fail("%s is not an Ogawa file" % path)
        if self.bytes[5] != 255:
            fail("the file is not marked as whole")
        if self.bytes[6:8] != b"\0\1":
            fail("version %d.%d of Ogawa" % (self.bytes[6], self.bytes[7]))
        self.root = self.group(struct.unpack_from("<Q", self.bytes, 8)[0])

    def claim(self, start, size):
        if start < 16 or start + size > len(self.bytes):
            fail("a block at %d of %d bytes lies outside of the file" % (start, size))
        if self.blocks.setdefault(start, size) != size:
            fail("two blocks of different sizes start at %d" % start)

    def number(self, start):
        if start + 8 > len(self.bytes):
            fail("a block at %d lies outside of the file" % start)
        return struct.unpack_from("<Q", self.bytes, start)[0]

    def group(self, start):
        if start == 0:
            return []
        count = self.number(start)
        if count == 0 or count > len(self.bytes) // 8:
            fail("the group at %d has %d children" % (start, count))
        self.claim(start, 8 + 8 * count)
        return list(struct.unpack_from("<%dQ" % count, self.bytes, start + 8))

    def child_group(self, child):
        if child & DATA:
            fail("data where a group belongs")
        return self.group(child)

    def data(self, child):
        if not child & DATA:
            fail("a group where data belong")
        start = child ^ DATA
        if start == 0:
            return b""
        size = self.number(start)
        if size == 0:
            fail("data of no bytes at %d" % start)
        self.claim(start, 8 + size)
        return self.bytes[start + 8 : start + 8 + size]

    def check_covered(self):
        end = 0
        for start, size in sorted(self.blocks.items()):
            if start != end:
                fail("bytes from %d to %d belong to %s" % (min(start, end), max(start, end), "two blocks" if start < end else "no block"))
            end = start + size
        if end != len(self.bytes):
            fail("%d bytes at the end belong to no block" % (len(self.bytes) - end))


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if self.at + size > len(self.data):
            fail("a header is cut")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size=4):
        return int.from_bytes(self.take(size), "little")

    def double(self):
        return struct.unpack("<d", self.take(8))[0]

    def more(self):
        return self.at < len(self.data)


# ---- archive, objects, properties


def metadata(text):
    if not text:
        return {}
    pairs = [pair.split("=") for pair in text.decode("utf-8").split(";")]
    if any(len(pair) != 2 for pair in pairs):
        fail("metadata that cannot be split: %s" % text)
    if [p[0] for p in pairs] != sorted(p[0] for p in pairs):
        fail("metadata out of order: %s" % text)
    return dict(pairs)


class Archive:
    def __init__(self, path):
        self.ogawa = ogawa = Ogawa(path)
        if len(ogawa.root) != 6:
            fail("the archive has %d parts instead of 6" % len(ogawa.root))
        layout, library = (ogawa.data(child) for child in ogawa.root[:2])
        if len(layout) != 4 or int.from_bytes(layout, "little") != 0:
            fail("unknown version of the layout")
        if len(library) != 4 or int.from_bytes(library, "little") < 9999:
            fail("no version of the library")
        self.metadata = metadata(ogawa.data(ogawa.root[3]))
        self.samplings = self.read_samplings(Cursor(ogawa.data(ogawa.root[4])))
        self.table = [{}]
        table = Cursor(ogawa.data(ogawa.root[5]))
        while table.more():
            self.table.append(metadata(table.take(table.number(1))))
        self.top = Object(self, "", {}, ogawa.root[2])

    @staticmethod
    def read_samplings(cursor):
        found = []
        while cursor.more():
            most, cycle, count = cursor.number(), cursor.double(), cursor.number()
            found.append((most, cycle, [cursor.double() for _ in range(count)]))
        if not found or found[0][1:] != (1.0, [0.0]):
            fail("the first time sampling is not the default one")
        return found

    def meta(self, index):
        if index == 255 or index >= len(self.table):
            fail("metadata %d are not in the table" % index)
        return self.table[index]


class Object:
    def __init__(self, archive, name, meta, place):
        self.name, self.metadata, self.children = name, meta, []
        group = archive.ogawa.child_group(place)
        if len(group) < 2:
            fail("object %s has %d parts" % (name, len(group)))
        self.properties = Compound(archive, group[0])
        headers = archive.ogawa.data(group[-1])
        if len(headers) < 32:
            fail("object %s has no keys" % name)
        self.keys = headers[-32:]
        cursor = Cursor(headers[:-32])
        for place in group[1:-1]:
            child = cursor.take(cursor.number()).decode("utf-8")
            if "/" in child or not child:
                fail("an object has the name '%s'" % child)
            self.children.append(Object(archive, child, archive.meta(cursor.number(1)), place))
        if cursor.more():
            fail("object %s has more headers than children" % name)


class Compound:
    def __init__(self, archive, place):
        self.members, self.metadata = {}, {}
        group = archive.ogawa.child_group(place)
        if not group:
            return
        cursor = Cursor(archive.ogawa.data(group[-1]))
        for place in group[:-1]:
            self.read_member(archive, cursor, place)
        if cursor.more():
            fail("there are more headers than properties")

    def read_member(self, archive, cursor, place):
        info = cursor.number()
        size = [1, 2, 4][info >> 2 & 3]
        if info >> 28:
            fail("unknown bits in the header of a property")
        member = Property(archive, info, size, cursor) if info & 3 else None
        name = cursor.take(cursor.number(size)).decode("utf-8")
        if name in self.members:
            fail("two properties %s" % name)
        if member is None:
            member = Compound(archive, place)
        else:
            member.name = name
            member.read(archive, place)
        member.metadata = archive.meta(info >> 20 & 255)
        self.members[name] = member


class Property:
    def __init__(self, archive, info, size, cursor):
        self.kind = SCALAR if info & 3 == 1 else ARRAY
        self.single = bool(info & 1)
        self.pod, self.extent = info >> 4 & 15, info >> 12 & 255
        self.homogeneous = bool(info & 0x400)
        self.count = cursor.number(size)
        self.first, self.last = 1, self.count - 1
        if info & 0x200:
            self.first, self.last = cursor.number(size), cursor.number(size)
        elif info & 0x800:
            self.first = self.last = 0
        self.sampling = cursor.number(size) if info & 0x100 else 0
        if self.sampling >= len(archive.samplings):
            fail("time sampling %d is not there" % self.sampling)
        if not self.first <= self.last < self.count:
            fail("samples %d to %d of %d change" % (self.first, self.last, self.count))

    def read(self, archive, place):
        group = archive.ogawa.child_group(place)
        stored = 1 if self.last == 0 else self.last - self.first + 2
        step = 2 if self.kind == ARRAY else 1
        if len(group) != stored * step:
            fail("%s has %d parts instead of %d" % (self.name, len(group), stored * step))
        sizes = [archive.ogawa.data(d) for d in group[1::2]] if self.kind == ARRAY else []
        if self.pod != STRING and any(sizes):
            fail("%s has dimensions, which one row of items does not need" % self.name)
        self.stored = [self.sample(archive.ogawa.data(child)) for child in group[::step]]
        if self.pod == STRING and [int.from_bytes(size, "little") for size in sizes] != [len(s) for s in self.stored]:
            fail("%s: dimensions are not the number of strings" % self.name)
        if self.single != all(len(s) == 1 for s in self.stored):
            fail("%s: whether it has one item is told wrong" % self.name)
        if self.homogeneous != (len({len(s) for s in self.stored}) == 1):
            fail("%s: whether its size changes is told wrong" % self.name)

    def sample(self, data):
        if data[:16] != murmur(data[16:]):
            fail("%s: a key is not that of its bytes" % self.name)
        if self.pod == STRING:
            if data[-1:] != b"\0":
                fail("%s: the last string has no end" % self.name)
            return [text.decode("utf-8") for text in data[16:-1].split(b"\0")]
        width = POD_SIZE[self.pod] * self.extent
        if (len(data) - 16) % width:
            fail("%s: a sample of %d bytes" % (self.name, len(data) - 16))
        numbers = struct.unpack("<%d%s" % ((len(data) - 16) // POD_SIZE[self.pod], POD_FORMAT[self.pod]), data[16:])
        return [numbers[k : k + self.extent] for k in range(0, len(numbers), self.extent)]

    def at(self, index):
        if index >= self.count:
            fail("%s has no sample %d" % (self.name, index))
        if self.last == 0 or index < self.first:
            return self.stored[0]
        return self.stored[min(index, self.last) - self.first + 1]

    def constant(self):
        return self.last == 0


# ---- the schemas


def take(compound, name, kind, pod, extent, meta):
    found = compound.members.get(name)
    if found is None:
        fail("there is no %s" % name)
    if not isinstance(found, Property) or (found.kind, found.pod, found.extent) != (kind, pod, extent):
        fail("%s has another type" % name)
    for key, value in meta.items():
        if found.metadata.get(key) != value:
            fail("%s: %s is %s instead of %s" % (name, key, found.metadata.get(key), value))
    return found


def schema_of(item, meta, name):
    if item.metadata != meta:
        fail("%s has metadata %s" % (item.name, item.metadata))
    schema = item.properties.members.get(name)
    if not isinstance(schema, Compound) or list(item.properties.members) != [name]:
        fail("%s has no %s" % (item.name, name))
    if schema.metadata != {key: value for key, value in meta.items() if key != "schemaObjTitle"}:
        fail("%s of %s has metadata %s" % (name, item.name, schema.metadata))
    return schema


def check_xform(item, expected):
    """The matrices of each frame, or None: it moves nothing."""
    schema = schema_of(item, XFORM, ".xform")
    inherits = take(schema, ".inherits", SCALAR, 0, 1, {})
    if inherits.at(0) != [(1,)]:
        fail("%s does not move with what is above it" % item.name)
    if ".ops" not in schema.members:
        if set(schema.members) != {".inherits", ".childBnds"}:
            fail("%s moves what is in it" % item.name)
        return None
    if take(schema, ".ops", SCALAR, 1, 1, {}).at(0) != [(0x30,)] or "isNotConstantIdentity" not in schema.members:
        fail("%s: the operation is no matrix" % item.name)
    values = take(schema, ".vals", SCALAR, 11, 16, {})
    if not values.count == inherits.count == len(expected.frames):
        fail("%s: %d matrices" % (item.name, values.count))
    return [values.at(k)[0] for k in range(values.count)]


def moved(points, m):
    """Row vectors: the last row is the translation."""
    return [tuple(p[0] * m[a] + p[1] * m[4 + a] + p[2] * m[8 + a] + m[12 + a] for a in range(3)) for p in points]


def check_child_bounds(expected, what, members, k, points):
    box = take(members, ".childBnds", SCALAR, 11, 6, {"interpretation": "box"})
    box = box.at(min(k, box.count - 1))[0]
    for a in range(3):
        along = [p[a] for p in points]
        if abs(box[a] - min(along)) + abs(box[a + 3] - max(along)) > 2e-6 * expected.size:
            fail("%s: wrong bounds of children" % what)


def check_names(item, schema, expected, body):
    """Materials as FaceSets, objects and groups as strings, where the number of faces stays."""
    mesh = body.mesh(expected.frames[0])
    parameters = schema.members[".arbGeomParams"].members
    if any(len(body.mesh(f).faces) != len(mesh.faces) for f in expected.frames):
        return
    for layer in ("object", "group"):
        found = [None] * len(mesh.faces)
        if layer in parameters:
            values = parameters[layer].members[".vals"].at(0)
            found = [values[i] or None for (i,) in parameters[layer].members[".indices"].at(0)]
        if found != mesh.names[layer]:
            fail("%s: %ss of faces are not the run's" % (body.name, layer))
    found = [None] * len(mesh.faces)
    for child in item.children:
        faces = take(schema_of(child, FACE_SET, ".faceset"), ".faces", ARRAY, 6, 1, {})
        for (f,) in faces.at(0):
            found[f] = child.name
    if found != [name and name.replace("/", "_") for name in mesh.names["material"]]:
        fail("%s: materials of faces are not the run's" % body.name)


def check_rich(what, schema, k, points):
    normals = take(schema, "N", ARRAY, 10, 3, {"geoScope": "vtx", "interpretation": "normal"}).at(k)
    if len(normals) != len(points) or any(abs(math.hypot(*n) - 1) > 1e-5 for n in normals):
        fail("%s: normals" % what)
    if ".velocities" in schema.members and len(schema.members[".velocities"].at(k)) != len(points):
        fail("%s: velocities" % what)


def check_times(archive, expected, mesh, still):
    most, cycle, times = archive.samplings[mesh.sampling]
    if most != len(expected.frames) or abs(cycle - 1 / expected.fps) > 1e-9 or abs(times[0] - expected.time(0)) > 1e-9:
        fail("time sampling of %d samples, %g s, from %s" % (most, cycle, times))
    if mesh.count != (1 if still else len(expected.frames)):
        fail("%d samples" % mesh.count)


def check_faces(what, schema, k, mesh):
    indices = [i for (i,) in take(schema, ".faceIndices", ARRAY, 6, 1, {}).at(k)]
    counts = [c for (c,) in take(schema, ".faceCounts", ARRAY, 6, 1, {}).at(k)]
    if counts != [len(face) for face in mesh.faces]:
        fail("%s: the sizes of the faces differ" % what)
    if indices != [v for face in mesh.faces for v in reversed(face)]:
        fail("%s: the faces are not the run's, each backwards" % what)


def check_uv(what, schema, k, mesh):
    wanted = [t for face in mesh.face_texcoords for t in reversed(face)]
    if not any(wanted):
        return
    meta = {
        "arrayExtent": "1",
        "geoScope": "fvr",
        "interpretation": "vector",
        "isGeomParam": "true",
        "podExtent": "2",
        "podName": "float32_t",
    }
    uv = schema.members.get("uv")
    if not isinstance(uv, Compound) or uv.metadata != meta:
        fail("%s: uv is missing or has other metadata" % what)
    values = take(uv, ".vals", ARRAY, 10, 2, meta).at(k)
    indices = [i for (i,) in take(uv, ".indices", ARRAY, 5, 1, {}).at(k)]
    if len(indices) != len(wanted) or max(indices) >= len(values):
        fail("%s: indices of uv" % what)
    for corner, (i, t) in enumerate(zip(indices, wanted)):
        if t is not None and math.dist(values[i], t) > 1e-6:
            fail("%s: corner %d has uv %s instead of %s" % (what, corner, values[i], t))


def check_bounds(expected, what, schema, k, points):
    box = take(schema, ".selfBnds", SCALAR, 11, 6, {"interpretation": "box"}).at(k)[0]
    for a in range(3):
        along = [p[a] for p in points]
        if abs(box[a] - min(along)) + abs(box[a + 3] - max(along)) > 1e-6 * expected.size:
            fail("%s: wrong bounds" % what)


def check_mesh(archive, expected, item, body, matrices, above):
    schema = schema_of(item, MESH, ".geom")
    positions = take(schema, "P", ARRAY, 10, 3, {"geoScope": "vtx", "interpretation": "point"})
    check_times(archive, expected, positions, body.still or matrices)
    check_names(item, schema, expected, body)
    changes = len({body.topology(f) for f in expected.frames}) > 1
    if take(schema, ".faceIndices", ARRAY, 6, 1, {}).constant() == changes:
        fail("%s: the topology %s" % (body.name, "changes" if changes else "does not change"))
    for k, frame in enumerate(expected.frames[: None if matrices else positions.count]):
        what = "%s, frame %d" % (body.name, frame)
        k = 0 if matrices else k
        points = positions.at(k)
        places = moved(points, matrices[expected.frames.index(frame)]) if matrices else points
        expected.compare(what, places, body.positions(frame))
        check_child_bounds(expected, what, above, expected.frames.index(frame), places)
        check_rich(what, schema, k, points)
        check_faces(what, schema, k, body.mesh(frame))
        check_uv(what, schema, k, body.mesh(frame))
        check_bounds(expected, what, schema, k, points)


def check_curves(archive, expected, item, body, _, __):
    schema = schema_of(item, CURVES, ".geom")
    positions = take(schema, "P", ARRAY, 10, 3, {"geoScope": "vtx", "interpretation": "point"})
    check_times(archive, expected, positions, body.still)
    basis = take(schema, "curveBasisAndType", SCALAR, 1, 4, {}).at(0)
    if basis != [(1, 0, 0, 0)]:
        fail("%s: curves %s are not linear and open" % (body.name, basis))
    scope = {"arrayExtent": "1", "geoScope": "con", "isGeomParam": "true", "podExtent": "1", "podName": "float32_t"}
    width = take(schema, "width", ARRAY, 10, 1, scope).at(0)
    if len(width) != 1 or not width[0][0] > 0:
        fail("%s: width %s" % (body.name, width))
    for k, frame in enumerate(expected.frames[: positions.count]):
        what = "%s, frame %d" % (body.name, frame)
        points, lines = positions.at(k), body.mesh(frame).lines
        counts = [c for (c,) in take(schema, "nVertices", ARRAY, 6, 1, {}).at(k)]
        if counts != [len(line) for line in lines]:
            fail("%s: the sizes of the curves differ" % what)
        wanted = body.positions(frame)
        expected.compare(what, points, [wanted[v] for line in lines for v in line])
        check_bounds(expected, what, schema, k, points)


def main():
    options = arguments(__doc__)
    expected = Expected(options)
    archive = Archive(options.export)
    archive.ogawa.check_covered()
    for key in ("_ai_AlembicVersion", "_ai_Application"):
        if key not in archive.metadata:
            fail("the archive does not say %s" % key)
    if sorted(o.name for o in archive.top.children) != sorted(expected.run.bodies):
        fail("the archive holds %s" % [o.name for o in archive.top.children])
    for k, frame in enumerate(expected.frames):
        places = [p for b in expected.run.bodies.values() for p in b.positions(frame)]
        places = [(x, -z, y) for x, y, z in places] if expected.up == "z" else places
        check_child_bounds(expected, "the archive, frame %d" % frame, archive.top.properties, k, places)
    keys = set()
    for item in archive.top.children:
        matrices = check_xform(item, expected)
        if [c.name for c in item.children] != [item.name + "Shape"]:
            fail("%s does not hold its shape alone" % item.name)
        body = expected.run.bodies[item.name]
        check = check_curves if body.mesh(expected.frames[0]).lines else check_mesh
        check(archive, expected, item.children[0], body, matrices, item.properties.members[".xform"])
        keys.add(item.children[0].keys)
    if len(keys) != len(archive.top.children):
        fail("two meshes have the same key")
    expected.passed("check of the container")


main()
