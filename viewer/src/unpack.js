// Unpacks what src/view/ packed; docs/view.md describes the format. The walk through a mesh is that of
// src/view/mesh_order.c, number by number: the two must change together.

const FAN_MAX = 64;
const LOW_ONLY = 16;
export const NONE = 65535; // stands for a value that is not finite

// ---- packets

function fromBase64(text) {
  if (Uint8Array.fromBase64) {
    return Uint8Array.fromBase64(text);
  }
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) {
    bytes[k] = binary.charCodeAt(k);
  }
  return bytes;
}

// The packet of an element; its text is dropped, as nothing reads it again.
export async function readPacket(id) {
  const element = document.getElementById(id);
  if (!element) {
    throw new Error(`${id} is missing, so the file is cut: write or send it again`);
  }
  const stream = new Blob([fromBase64(element.textContent)]).stream().pipeThrough(new DecompressionStream('deflate'));
  element.remove();
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  byte() {
    return this.bytes[this.at++];
  }
  take(size) {
    this.at += size;
    return this.bytes.slice(this.at - size, this.at);
  }
  count() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) {
        return value;
      }
    }
  }
  difference(before) {
    const d = this.count();
    return before + (d % 2 ? -(d + 1) / 2 : d / 2);
  }
  indices(count) {
    const out = new Uint32Array(count);
    let before = 0;
    for (let k = 0; k < count; k++) {
      before = out[k] = this.difference(before);
    }
    return out;
  }
}

// ---- meshes

export function readTopology(reader) {
  const vertexCount = reader.count();
  const triangles = reader.indices(3 * reader.count());
  let edges;
  if (reader.byte()) {
    edges = edgesOf(triangles, null);
  } else {
    const sizes = Array.from({length: reader.count()}, () => reader.count());
    edges = edgesOf(reader.indices(sizes.reduce((sum, size) => sum + size, 0)), sizes);
  }
  let origin = null;
  if (reader.byte()) {
    origin = new Uint32Array(vertexCount);
    for (let v = 0; v < vertexCount; v++) {
      origin[v] = reader.difference(v);
    }
  }
  return {vertexCount, triangles, edges, origin, ...meshOrder(vertexCount, triangles)};
}

// Elements as lines: a connection is one, a triangle three. The elements of one triangle lie one inside the other, `inset`
// of the way to its middle. corners: three a line, its ends and the third corner (of a connection: its first again).
export function readElements(reader, count) {
  const element = [], corners = [], inset = [];
  let before = 0;
  for (let e = 0; e < count; e++) {
    const head = reader.byte(), size = head & 3, turn = head >> 2;
    const v = Array.from({length: size}, () => (before = reader.difference(before)));
    for (let k = 0; k < (size === 2 ? 1 : 3); k++) {
      element.push(e);
      corners.push(v[k], v[(k + 1) % size], size === 2 ? v[0] : v[(k + 2) % size]);
      inset.push(size === 2 ? 0 : 0.1 * (turn + 1));
    }
  }
  return {count, element: Uint32Array.from(element), corners: Uint32Array.from(corners), inset: Float32Array.from(inset)};
}

// Each side of each face once, as pairs of vertices. sizes null: all are triangles.
function edgesOf(corners, sizes) {
  const pairs = new Float64Array(corners.length);
  let start = 0;
  for (let f = 0; start < corners.length; f++) {
    const size = sizes ? sizes[f] : 3;
    for (let k = 0; k < size; k++) {
      const a = corners[start + k], b = corners[start + (k + 1 < size ? k + 1 : 0)];
      pairs[start + k] = a < b ? a * 4294967296 + b : b * 4294967296 + a;
    }
    start += size;
  }
  pairs.sort();
  const out = new Uint32Array(2 * pairs.length);
  let count = 0;
  for (let k = 0; k < pairs.length; k++) {
    if (k === 0 || pairs[k] !== pairs[k - 1]) {
      out[count++] = Math.floor(pairs[k] / 4294967296);
      out[count++] = pairs[k] % 4294967296;
    }
  }
  return out.slice(0, count);
}

function fansOf(vertexCount, triangles) {
  const start = new Uint32Array(vertexCount + 1), around = new Uint32Array(triangles.length);
  for (const v of triangles) {
    start[v + 1]++;
  }
  for (let v = 0; v < vertexCount; v++) {
    start[v + 1] += start[v];
  }
  const next = start.slice();
  for (let i = 0; i < triangles.length; i++) {
    around[next[triangles[i]]++] = (i / 3) | 0;
  }
  return {start, around};
}

function meshOrder(vertexCount, triangles) {
  const {start, around} = fansOf(vertexCount, triangles);
  const order = new Int32Array(vertexCount), parents = new Int32Array(3 * vertexCount);
  const seen = new Uint8Array(vertexCount), reached = new Uint8Array(triangles.length / 3);
  const queue = new Uint32Array(triangles.length / 3);
  let count = 0, head = 0, tail = 0;

  function add(vertex, a, b, c) {
    parents[3 * count] = a;
    parents[3 * count + 1] = b;
    parents[3 * count + 2] = c;
    order[count++] = vertex;
    seen[vertex] = 1;
  }
  function addAlone(vertex) {
    const last = count > 0 ? order[count - 1] : -1;
    add(vertex, last, last, last);
  }
  function reach(triangle) {
    reached[triangle] = 1;
    queue[tail++] = triangle;
  }
  function third(t, p, q) {
    for (let k = 0; k < 3; k++) {
      const u = triangles[3 * t + k], v = triangles[3 * t + (k + 1) % 3];
      if ((u === p && v === q) || (u === q && v === p)) {
        return triangles[3 * t + (k + 2) % 3];
      }
    }
    return -1;
  }
  function cross(p, q, apex) {
    const hub = start[q + 1] - start[q] < start[p + 1] - start[p] ? q : p;
    const end = Math.min(start[hub + 1], start[hub] + FAN_MAX);
    for (let i = start[hub]; i < end; i++) {
      const t = around[i];
      const corner = reached[t] ? -1 : third(t, p, q);
      if (corner < 0) {
        continue;
      }
      if (!seen[corner]) {
        add(corner, p, q, apex);
      }
      reach(t);
    }
  }

  for (let seed = 0; seed < reached.length; seed++) {
    if (reached[seed]) {
      continue;
    }
    for (let k = 0; k < 3; k++) {
      if (!seen[triangles[3 * seed + k]]) {
        addAlone(triangles[3 * seed + k]);
      }
    }
    reach(seed);
    while (head < tail) {
      const t = queue[head++];
      for (let k = 0; k < 3; k++) {
        cross(triangles[3 * t + k], triangles[3 * t + (k + 1) % 3], triangles[3 * t + (k + 2) % 3]);
      }
    }
  }
  for (let v = 0; v < vertexCount; v++) {
    if (!seen[v]) {
      addAlone(v);
    }
  }
  return {order, parents};
}

// ---- channels

// One number for each vertex and frame. The frames before are those that were handed out: nobody may change them.
export class Channel {
  constructor() {
    this.before = this.before2 = null;
  }

  follow(origin) {
    const moved = values => values && Uint16Array.from(origin, v => values[v]);
    this.before = moved(this.before);
    this.before2 = moved(this.before2);
  }

  read(reader, topology) {
    const {order, parents, vertexCount} = topology;
    const head = reader.byte(), mode = head % LOW_ONLY;
    const time = mode % 3, space = Math.floor(mode / 3);
    const low = reader.bytes.subarray(reader.at, reader.at += vertexCount);
    const high = head & LOW_ONLY ? null : reader.bytes.subarray(reader.at, reader.at += vertexCount);
    // What the guess in time leaves, by vertex; then the guess itself.
    const left = new Uint16Array(vertexCount);
    for (let k = 0; k < vertexCount; k++) {
      const folded = low[k] + (high ? high[k] * 256 : 0);
      let value = folded & 1 ? -((folded + 1) >> 1) : folded >> 1;
      const a = parents[3 * k];
      if (space > 0 && a >= 0) {
        value += left[a];
        if (space === 2) {
          value += left[parents[3 * k + 1]] - left[parents[3 * k + 2]];
        }
      }
      left[order[k]] = value;
    }
    const {before, before2} = this;
    if (time === 1) {
      for (let v = 0; v < vertexCount; v++) {
        left[v] += before[v];
      }
    } else if (time === 2) {
      for (let v = 0; v < vertexCount; v++) {
        left[v] += 2 * before[v] - before2[v];
      }
    }
    this.before2 = before;
    this.before = left;
    return left;
  }
}
