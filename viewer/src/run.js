// One run: its meshes, and its frames as they are unpacked one after the other.
import {Channel, NONE, Reader, readElements, readPacket, readTopology} from './unpack.js';

// What a body looks like in one frame: 16-bit channels by vertex, and the topology they belong to.
class Body {
  constructor(meta) {
    this.meta = meta;
    this.name = meta.name;
    this.obstacle = meta.obstacle;
    this.topologies = [];
    this.frames = [];
    this.position = [new Channel(), new Channel(), new Channel()];
    this.strain = new Channel();
    this.contact = new Channel();
    this.elements = null; // lines of them, where the run tells what the method does with each
    this.fields = meta.fields.map(() => [new Channel(), new Channel()]);
  }

  channels() {
    return [...this.position, this.strain, this.contact, ...this.fields.flat()];
  }

  topologyOf(frame) {
    let topology = 0;
    this.meta.topologies.forEach((t, k) => {
      topology = frame >= t.first ? k : topology;
    });
    return topology;
  }

  readFrame(reader, frame) {
    const index = this.topologyOf(frame), topology = this.topologies[index];
    const torn = frame > 0 && index !== this.topologyOf(frame - 1);
    if (torn) {
      this.channels().forEach(channel => channel.follow(topology.origin));
    }
    const [x, y, z] = this.position.map(channel => channel.read(reader, topology));
    const out = {topology: index, x, y, z, fields: []};
    if (!this.obstacle) {
      out.strain = new Uint8Array(this.strain.read(reader, topology));
      out.contact = new Uint8Array(this.contact.read(reader, topology));
    }
    this.meta.fields.forEach((field, f) => {
      const packed = !field.constant || frame === 0 || torn;
      out.fields.push(packed ? this.readField(reader, topology, f) : this.frames[frame - 1].fields[f]);
    });
    if (this.meta.elements) {
      out.states = reader.take(this.meta.elements);
    }
    this.frames[frame] = out;
  }

  readField(reader, topology, f) {
    const [low, high] = this.fields[f];
    const values = low.read(reader, topology);
    if (!this.meta.fields[f].categories) {
      return values;
    }
    const tops = high.read(reader, topology);
    return Int32Array.from(values, (value, v) => value | tops[v] << 16);
  }

  present(frame) {
    return frame >= this.meta.from && frame < this.meta.until;
  }

  // Where the body is not there: as in the nearest frame in which it is.
  at(frame) {
    return this.frames[this.meta.still ? 0 : frame];
  }

  // Metres, x y z of each vertex in turn, into `out`; NaN where the run has no finite value.
  positions(frame, out) {
    const {x, y, z} = this.at(frame), {corner, quantum} = this.meta;
    for (let v = 0; v < x.length; v++) {
      const none = x[v] === NONE;
      out[3 * v] = none ? NaN : corner[0] + quantum * x[v];
      out[3 * v + 1] = none ? NaN : corner[1] + quantum * y[v];
      out[3 * v + 2] = none ? NaN : corner[2] + quantum * z[v];
    }
    return out;
  }

  // Metres a second against the frame before (of frame 0: to the next), into `out`.
  speeds(frame, rate, out) {
    const earlier = Math.max(frame - 1, 0), later = Math.min(earlier + 1, this.frames.length - 1);
    const a = this.at(earlier), b = this.at(later), scale = this.meta.quantum * rate;
    const origin = a.topology === b.topology ? null : this.topologies[b.topology].origin;
    for (let v = 0; v < out.length; v++) {
      const i = origin ? origin[v] : v;
      out[v] = scale * Math.hypot(b.x[v] - a.x[i], b.y[v] - a.y[i], b.z[v] - a.z[i]);
    }
    return out;
  }
}

export class Run {
  constructor(meta, index) {
    this.meta = meta;
    this.index = index;
    this.name = meta.name;
    this.rate = meta.rate;
    this.frameCount = meta.frames;
    this.loaded = 0; // frames that are unpacked
    this.bodies = meta.bodies.map(body => new Body(body));
    this.scene = null;
    this.columns = {}; // of stats.jsonl, by name
    this.waiting = []; // [frame, resolve]
  }

  packet(name) {
    return readPacket(`weft-${this.index}-${name}`);
  }

  async loadMeshes() {
    const reader = new Reader(await this.packet('meshes'));
    for (const body of this.bodies) {
      body.topologies = body.meta.topologies.map(() => readTopology(reader));
    }
    const told = this.bodies.filter(body => body.meta.elements);
    if (told.length) {
      const lists = new Reader(await this.packet('elements'));
      told.forEach(body => {
        body.elements = readElements(lists, body.meta.elements);
      });
    }
  }

  async loadNumbers() {
    if (this.meta.scene) {
      const text = new TextDecoder().decode(await this.packet('scene'));
      try {
        this.scene = JSON.parse(text);
      } catch {
        this.scene = text; // by hand, with comments: shown as it is
      }
    }
    const bytes = await this.packet('stats');
    const view = new DataView(bytes.buffer, bytes.byteOffset), rows = this.meta.steps;
    this.meta.columns.forEach((name, k) => {
      this.columns[name] = Float32Array.from({length: rows}, (_, row) => view.getFloat32(4 * (k * rows + row), true));
    });
  }

  // Unpacks the next frame.
  async loadFrame() {
    const frame = this.loaded;
    const reader = new Reader(await this.packet(frame));
    for (const body of this.bodies) {
      if (frame === 0 || !body.meta.still) {
        body.readFrame(reader, frame);
      }
    }
    this.loaded = frame + 1;
    this.waiting = this.waiting.filter(([wanted, resolve]) => wanted >= this.loaded || resolve());
  }

  whenLoaded(frame) {
    return frame < this.loaded ? Promise.resolve() : new Promise(resolve => this.waiting.push([frame, resolve]));
  }

  vertexCount(frame) {
    return this.bodies.reduce((sum, body) => sum + (body.obstacle || !body.present(frame) ? 0 : body.topologies[body.topologyOf(frame)].vertexCount), 0);
  }
}
