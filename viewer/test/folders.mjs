// Run folders for the tests of the page, written by hand: nothing of Weft writes or reads them here.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

export function writePc2(path, start, samples) {
  const points = samples[0].length / 3, bytes = Buffer.alloc(32 + 12 * points * samples.length);
  bytes.write('POINTCACHE2', 'latin1');
  bytes.writeInt32LE(1, 12);
  bytes.writeInt32LE(points, 16);
  bytes.writeFloatLE(start, 20);
  bytes.writeFloatLE(1, 24);
  bytes.writeInt32LE(samples.length, 28);
  samples.forEach((sample, s) => bytes.set(new Uint8Array(Float32Array.from(sample).buffer), 32 + 12 * points * s));
  writeFileSync(path, bytes);
}

// One Float32Array a sample.
export function readPc2(path) {
  const bytes = readFileSync(path), points = bytes.readInt32LE(16), count = bytes.readInt32LE(28);
  return Array.from({length: count}, (_, s) => Float32Array.from({length: 3 * points}, (_, k) => bytes.readFloatLE(32 + 4 * (3 * points * s + k))));
}

export function readObjVertices(path) {
  return readFileSync(path, 'utf8').split('\n').filter(line => line.startsWith('v ')).flatMap(line => line.split(/\s+/).slice(1, 4).map(Number));
}

// Samples of Float32 by vertex; one: constant.
export function writeField(path, categories, samples) {
  const head = Buffer.alloc(32);
  head.write('WEFTFIELD1', 'latin1');
  head.writeInt32LE(samples[0].length, 12);
  head.writeInt32LE(samples.length, 16);
  head.writeInt32LE(categories ? 1 : 0, 20);
  writeFileSync(path, Buffer.concat([head, ...samples.map(sample => Buffer.from(Float32Array.from(sample).buffer))]));
}

// letter: f for faces, l for lines.
export function writeObj(path, positions, faces, letter = 'f') {
  const lines = [];
  for (let k = 0; k < positions.length; k += 3) {
    lines.push(`v ${positions[k]} ${positions[k + 1]} ${positions[k + 2]}`);
  }
  faces.forEach(face => lines.push(`${letter} ${face.map(v => v + 1).join(' ')}`));
  writeFileSync(path, `${lines.join('\n')}\n`);
}

// A square of n x n quads in the plane xz.
export function grid(n) {
  const positions = [], faces = [], at = (i, j) => j * (n + 1) + i;
  for (let j = 0; j <= n; j++) {
    for (let i = 0; i <= n; i++) {
      positions.push(i / n, 0, j / n);
    }
  }
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      faces.push([at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]);
    }
  }
  return {positions, faces};
}

// Two quads; in frame 2 they part along their common edge: vertices 6 and 7 are copies of 1 and 4.
export function writeTorn(dir) {
  mkdirSync(dir, {recursive: true});
  const flat = [0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1, 1, 0, 1, 2, 0, 1], split = [...flat, 1, 0, 0, 1, 0, 1];
  const move = (points, frame) => points.map((value, k) => (k % 3 === 1 ? 0.1 * frame * Math.sin(k + frame) : value + (k >= 18 && k % 3 === 0 ? 0.05 * frame : 0)));
  writeObj(join(dir, 'sheet.obj'), flat, [[0, 3, 4, 1], [1, 4, 5, 2]]);
  writeObj(join(dir, 'sheet.1.obj'), split, [[0, 3, 4, 1], [6, 7, 5, 2]]);
  const samples = [0, 1, 2, 3, 4].map(frame => move(frame < 2 ? flat : split, frame));
  writePc2(join(dir, 'sheet.pc2'), 0, samples.slice(0, 2));
  writePc2(join(dir, 'sheet.1.pc2'), 2, samples.slice(2));
  writeFileSync(join(dir, 'frames.jsonl'), '{"frame": 2, "body": "sheet", "topology": 1, "copies": [1, 4]}\n');
  return samples.map(sample => Float32Array.from(sample));
}

// Waves of several lengths that run over a sheet of 40,401 vertices, with some noise: somewhat harder to
// pack than cloth that flutters.
export function writeBig(dir, frames) {
  mkdirSync(dir, {recursive: true});
  const {positions, faces} = grid(200);
  writeObj(join(dir, 'sheet.obj'), positions, faces);
  let seed = 1;
  const noise = () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648 - 0.5) * 1e-5;
  const samples = Array.from({length: frames}, (_, frame) => positions.map((value, k) => {
    const x = positions[k - k % 3], z = positions[k - k % 3 + 2], t = frame / 25;
    const lift = 0.1 * Math.sin(5 * x + 3 * t) + 0.03 * Math.sin(17 * z - 11 * x + 9 * t) + 0.004 * Math.sin(61 * x + 43 * z + 10 * t);
    return value + noise() + (k % 3 === 1 ? lift : 0.2 * lift);
  }));
  writePc2(join(dir, 'sheet.pc2'), 0, samples);
}
