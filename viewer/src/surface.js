// A body as geometry. Cloth is smooth all over; obstacles keep their creases: a vertex is split where its faces turn by
// more than the crease angle, as seen in the first frame.
import {BufferAttribute, BufferGeometry} from 'three';

const CREASE = Math.cos(40 * Math.PI / 180);

function faceNormals(positions, triangles) {
  const out = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    const length = Math.hypot(x, y, z) || 1;
    out[t] = x / length;
    out[t + 1] = y / length;
    out[t + 2] = z / length;
  }
  return out;
}

// index: triangles over the split vertices; source: the vertex of each of them.
function splitCreases(positions, topology) {
  const {triangles, vertexCount} = topology, normals = faceNormals(positions, triangles);
  const groups = Array.from({length: vertexCount}, () => []); // [triangle that began it, number]
  const index = new Uint32Array(triangles.length), source = [];
  for (let i = 0; i < triangles.length; i++) {
    const t = i - i % 3, mine = groups[triangles[i]];
    let group = mine.find(([u]) => normals[t] * normals[u] + normals[t + 1] * normals[u + 1] + normals[t + 2] * normals[u + 2] > CREASE);
    if (!group) {
      group = [t, source.length];
      mine.push(group);
      source.push(triangles[i]);
    }
    index[i] = group[1];
  }
  return {index, source: Uint32Array.from(source)};
}

// Sums of the face normals, weighted by area, around each vertex.
function smoothNormals(p, index, out) {
  out.fill(0);
  for (let t = 0; t < index.length; t += 3) {
    const a = 3 * index[t], b = 3 * index[t + 1], c = 3 * index[t + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    if (x + y + z !== x + y + z) {
      continue; // a corner is not finite
    }
    out[a] += x; out[a + 1] += y; out[a + 2] += z;
    out[b] += x; out[b + 1] += y; out[b + 2] += z;
    out[c] += x; out[c + 1] += y; out[c + 2] += z;
  }
  for (let k = 0; k < out.length; k += 3) {
    const inv = 1 / (Math.sqrt(out[k] * out[k] + out[k + 1] * out[k + 1] + out[k + 2] * out[k + 2]) || 1);
    out[k] *= inv;
    out[k + 1] *= inv;
    out[k + 2] *= inv;
  }
}

// The geometry of one topology of a body; a body that tears has several.
export class Surface {
  constructor(body, topology, frame) {
    this.body = body;
    this.topology = topology;
    this.points = new Float32Array(3 * topology.vertexCount);
    body.positions(frame, this.points);
    const split = body.obstacle ? splitCreases(this.points, topology) : null;
    this.source = split ? split.source : null;
    this.index = split ? split.index : topology.triangles;
    const count = split ? split.source.length : topology.vertexCount;
    this.position = new BufferAttribute(split ? new Float32Array(3 * count) : this.points, 3);
    this.normal = new BufferAttribute(new Float32Array(3 * count), 3);
    this.color = body.obstacle ? null : new BufferAttribute(new Float32Array(3 * count).fill(1), 3);
    this.geometry = new BufferGeometry();
    this.geometry.setIndex(new BufferAttribute(this.index, 1));
    this.geometry.setAttribute('position', this.position);
    this.geometry.setAttribute('normal', this.normal);
    if (this.color) {
      this.geometry.setAttribute('color', this.color);
    }
    this.wire = null;
    this.isLines = topology.triangles.length === 0; // strands: their edges are all there is to see
    this.frame = -1;
  }

  // Made when they are first asked for.
  wireGeometry() {
    if (!this.wire) {
      this.wirePosition = this.source ? new BufferAttribute(this.points, 3) : this.position;
      this.wire = new BufferGeometry();
      this.wire.setIndex(new BufferAttribute(this.topology.edges, 1));
      this.wire.setAttribute('position', this.wirePosition);
      if (this.isLines && this.color) {
        this.wire.setAttribute('color', this.color);
      }
    }
    return this.wire;
  }

  linkGeometry() {
    const count = this.body.elements.element.length;
    this.link = new BufferGeometry();
    this.link.setAttribute('position', new BufferAttribute(new Float32Array(6 * count), 3));
    this.link.setAttribute('color', new BufferAttribute(new Float32Array(6 * count), 3));
    return this.link;
  }

  // Of a triangle the ends go towards its middle, so that its elements lie beside each other.
  updateLinks(frame, colors) {
    const {element, corners, inset} = this.body.elements, {states} = this.body.at(frame);
    const {position, color} = this.link.attributes, p = this.points;
    for (let k = 0; k < element.length; k++) {
      const [a, b, c] = corners.subarray(3 * k, 3 * k + 3), share = inset[k];
      for (let axis = 0; axis < 3; axis++) {
        const middle = (p[3 * a + axis] + p[3 * b + axis] + p[3 * c + axis]) / 3;
        position.array[6 * k + axis] = p[3 * a + axis] + share * (middle - p[3 * a + axis]);
        position.array[6 * k + 3 + axis] = p[3 * b + axis] + share * (middle - p[3 * b + axis]);
      }
      color.array.set(colors[states[element[k]]], 6 * k);
      color.array.set(colors[states[element[k]]], 6 * k + 3);
    }
    position.needsUpdate = color.needsUpdate = true;
  }

  update(frame) {
    if (this.frame === frame || (this.frame >= 0 && this.body.meta.still)) {
      return;
    }
    this.frame = frame;
    this.body.positions(frame, this.points);
    const out = this.position.array;
    for (let k = 0; this.source && k < this.source.length; k++) {
      out.set(this.points.subarray(3 * this.source[k], 3 * this.source[k] + 3), 3 * k);
    }
    smoothNormals(out, this.index, this.normal.array);
    this.position.needsUpdate = this.normal.needsUpdate = true;
    if (this.wirePosition) {
      this.wirePosition.needsUpdate = true;
    }
  }
}
