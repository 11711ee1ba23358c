// A run's folder, read without Weft, for the checks of exports: what each frame must hold. See docs/run-folder.md.
import fs from 'node:fs';
import path from 'node:path';

// Not process.exit: it may wait for ever for V8's threads that compile (nodejs/node#54918). The end of the script may, too;
// node --single-threaded has no such threads.
class Failure extends Error {}
process.on('uncaughtException', (error) => {
    console.error(error instanceof Failure ? `failed: ${error.message}` : error);
    process.exitCode = 1;
});

export function fail(message) {
    throw new Failure(message);
}

function readMesh(file) {
    const mesh = {rest: [], texcoords: [], faces: [], faceTexcoords: [], names: {object: [], group: [], material: []}};
    const layers = {o: 'object', g: 'group', usemtl: 'material'}, now = {object: null, group: null, material: null};
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
        const [word, ...rest] = line.trim().split(/\s+/);
        if (layers[word]) now[layers[word]] = line.trim().slice(word.length).trim();
        if (word === 'v') mesh.rest.push(rest.slice(0, 3).map(Number));
        if (word === 'vt') mesh.texcoords.push(rest.slice(0, 2).map(Number));
        if (word === 'f') {
            const corners = rest.map((c) => c.split('/'));
            mesh.faces.push(corners.map((c) => Number(c[0]) - 1));
            for (const layer of Object.keys(now)) mesh.names[layer].push(now[layer]);
            mesh.faceTexcoords.push(corners.map((c) => (c[1] ? mesh.texcoords[Number(c[1]) - 1] : null)));
        }
    }
    return mesh;
}

function readSamples(file, start) {
    const bytes = fs.readFileSync(file);
    const points = bytes.readInt32LE(16);
    const frame = (k) => Array.from({length: points}, (_, v) =>
        [0, 4, 8].map((a) => bytes.readFloatLE(32 + 12 * (points * (k - start) + v) + a)));
    return {start, count: bytes.readInt32LE(28), frame};
}

class Body {
    constructor(folder, name) {
        const cache = path.join(folder, name + '.pc2');
        this.name = name;
        this.still = !fs.existsSync(cache);
        this.meshes = [readMesh(path.join(folder, name + '.obj'))];
        this.samples = this.still ? [] : [readSamples(cache, 0)];
        this.starts = [0];
        this.copies = [[]];
    }
    addTopology(folder, change) {
        const name = path.join(folder, `${this.name}.${change.topology}`);
        this.meshes.push(readMesh(name + '.obj'));
        this.samples.push(readSamples(name + '.pc2', change.frame));
        this.starts.push(change.frame);
        this.copies.push(change.copies);
    }
    topology(frame) {
        return this.starts.findLastIndex((start) => start <= frame);
    }
    mesh(frame) {
        return this.meshes[this.topology(frame)];
    }
    positions(frame) {
        return this.still ? this.meshes[0].rest : this.samples[this.topology(frame)].frame(frame);
    }
    // In a later topology: copies lie where their origins do.
    positionsIn(frame, topology) {
        const points = [...this.positions(frame)];
        for (let k = this.topology(frame) + 1; k <= topology; k++) {
            points.push(...this.copies[k].map((origin) => points[origin]));
        }
        return points;
    }
}

function readRun(folder) {
    const file = path.join(folder, 'frames.jsonl');
    const changes = fs.existsSync(file)
        ? fs.readFileSync(file, 'utf8').split('\n').filter((l) => l.trim()).map((l) => JSON.parse(l)) : [];
    const torn = new Set(changes.map((c) => `${c.body}.${c.topology}.obj`));
    const names = fs.readdirSync(folder).filter((f) => f.endsWith('.obj') && !torn.has(f)).map((f) => f.slice(0, -4));
    const bodies = new Map(names.map((name) => [name, new Body(folder, name)]));
    for (const change of changes) bodies.get(change.body).addTopology(folder, change);
    const moving = [...bodies.values()].filter((b) => !b.still);
    const scene = path.join(folder, 'scene.json');
    const rate = () => {
        const s = JSON.parse(fs.readFileSync(scene, 'utf8'));
        return 1 / (s.time_step * s.steps_per_frame);
    };
    return {
        bodies,
        frameCount: Math.min(...moving.map((b) => Math.max(...b.samples.map((s) => s.start + s.count)))),
        frameRate: fs.existsSync(scene) ? rate() : 25,
    };
}

// What an export of the run must hold; options as `weft export` took them.
export class Expected {
    constructor(argv) {
        const option = (name, value) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : value);
        if (argv.length < 2) fail('usage: EXPORT RUN [--frames A:B] [--every N] [--fps R] [--up y|z]');
        this.file = argv[0];
        this.run = readRun(argv[1]);
        this.up = option('--up', 'y');
        const every = Number(option('--every', 1));
        const [first, last] = option('--frames', ':').split(':');
        const end = last === '' || last === undefined ? this.run.frameCount - 1 : Number(last);
        this.frames = [];
        for (let f = Number(first || 0); f <= end; f += every) this.frames.push(f);
        this.fps = Number(option('--fps', this.run.frameRate / every));
        this.every = every;
        const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
        for (const body of this.run.bodies.values()) {
            for (const frame of this.frames) {
                for (const p of body.positions(frame)) {
                    for (let a = 0; a < 3; a++) {
                        low[a] = Math.min(low[a], p[a]);
                        high[a] = Math.max(high[a], p[a]);
                    }
                }
            }
        }
        this.size = Math.hypot(...low.map((l, a) => high[a] - l));
        this.worst = 0;
    }
    // Seconds of the k-th exported frame: its number in the run by the numbers a second.
    time(k) {
        return this.frames[k] / (this.fps * this.every);
    }
    turn([x, y, z]) {
        return this.up === 'z' ? [x, -z, y] : [x, y, z];
    }
    // One position, to 1e-6 of the size of the scene.
    compare(what, found, wanted) {
        const w = this.turn(wanted);
        const distance = Math.hypot(found[0] - w[0], found[1] - w[1], found[2] - w[2]);
        this.worst = Math.max(this.worst, distance);
        if (!(distance <= 1e-6 * this.size)) fail(`${what} lies at ${found}, in the run at ${w}`);
    }
    passed(reader) {
        const mapped = [...this.run.bodies.values()].some((b) => b.meshes.some((m) => m.texcoords.length));
        console.log(`checked: ${reader}, ${mapped ? 'faces, vt' : 'faces'} and positions of ${this.run.bodies.size} bodies in ` +
            `${this.frames.length} frames, largest deviation ${this.worst.toPrecision(2)} m, ` +
            `${(this.worst / this.size).toPrecision(2)} of the scene's size`);
    }
}
