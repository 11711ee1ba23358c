// Reads an exported USD file, text, crate or package, with OpenUSD, TinyUSDZ and three.js's parsers, and compares every
// frame with the run.
// node check_usd.mjs EXPORT.usda|usdc|usdz RUN [--frames A:B] [--every N] [--fps R] [--up y|z]
// Needs the npm packages three-usdz-loader, tinyusdz and three; NODE_MODULES names the folder where they are installed.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {stageByOpenUsd} from './openusd.mjs';
import {Expected, fail} from './run_folder.mjs';

const modules = path.resolve(process.env.NODE_MODULES ?? 'node_modules');
const versionOf = (name) => JSON.parse(fs.readFileSync(path.join(modules, name, 'package.json'), 'utf8')).version;
const load = (file) => import(pathToFileURL(path.join(modules, file)));
const expected = new Expected(process.argv.slice(2));
const bytes = fs.readFileSync(expected.file);
const kind = {'#usd': '.usda', 'PXR-': '.usdc', 'PK\x03\x04': '.usdz'}[bytes.toString('latin1', 0, 4)] ?? fail('this is no file of USD');

// ---- TinyUSDZ: the file as a scene, and what it prints of the layer that it has read

async function readTiny() {
    // Its module is built for browsers, and looks for one.
    globalThis.window = globalThis;
    globalThis.document = {currentScript: null};
    process.type = 'renderer';
    const wasmBinary = fs.readFileSync(path.join(modules, 'tinyusdz/tinyusdz.wasm'));
    // Its package does not say that it is a module, which only the ending tells the Node 18 of Debian 12.
    fs.copyFileSync(path.join(modules, 'tinyusdz/tinyusdz.js'), path.join(modules, 'tinyusdz/tinyusdz.mjs'));
    const tiny = await (await load('tinyusdz/tinyusdz.mjs')).default({wasmBinary});
    const scene = new tiny.TinyUSDZLoaderNative();
    if (!scene.loadFromBinary(new Uint8Array(bytes), `a${kind}`)) fail(`TinyUSDZ: ${scene.error()}`);
    if (scene.numMeshes() !== expected.run.bodies.size) fail(`TinyUSDZ finds ${scene.numMeshes()} meshes`);
    const layer = new tiny.TinyUSDZLoaderNative(), whole = layerOf(bytes);
    if (!layer.loadAsLayerFromBinary(new Uint8Array(whole), `a${kind === '.usdz' ? '.usdc' : kind}`)) fail(`TinyUSDZ: ${layer.error()}`);
    return layer.layerToString();
}

// The layer in a package: nothing may be packed, and its bytes begin at a multiple of 64.
function layerOf(file) {
    if (kind !== '.usdz') return file;
    const start = 30 + file.readUInt16LE(26) + file.readUInt16LE(28);
    if (file.readUInt32LE(0) !== 0x04034b50 || file.readUInt16LE(8) !== 0 || start % 64 !== 0) fail('no package of USD');
    const layer = file.subarray(start, start + file.readUInt32LE(18));
    if (crc32(layer) !== file.readUInt32LE(14)) fail('the check sum of the package is wrong');
    return layer;
}

function crc32(data) {
    let check = ~0;
    for (const byte of data) {
        check ^= byte;
        for (let k = 0; k < 8; k++) check = (check >>> 1) ^ (check & 1 ? 0xedb88320 : 0);
    }
    return ~check >>> 0;
}

// Attributes of the meshes in a layer as TinyUSDZ and OpenUSD print it: a line each, samples on lines of their own.
function attributesOf(layer) {
    const meshes = new Map(), stage = new Map(), subsets = new Map();
    let mesh = null, samples = null, parent = null;
    for (const line of layer.split('\n')) {
        const def = /^ *def Mesh "(.*)"/.exec(line);
        const name = /string name = "(.*)"/.exec(line);
        const value = /^ *(?:custom )?(?:uniform )?[A-Za-z0-9]+(?:\[\])? ([A-Za-z:]+)(\.timeSamples)? = (.*)$/.exec(line);
        const sample = /^ *(-?[\d.]+): ([[(].*[\])]),?$/.exec(line);
        const head = /^ {4}([A-Za-z]+) = (.*)$/.exec(line);
        const other = /^ *def (\w+) "(.*)"/.exec(line);
        if (other && !def) mesh = new Map(); // a GeomSubset, a Material: not of the mesh
        if (other?.[1] === 'GeomSubset') subsets.get(parent).push({name: other[2], attributes: mesh});
        if (def) {
            meshes.set((parent = def[1]), (mesh = new Map()));
            subsets.set(parent, []);
        } else if (name && mesh) mesh.set('name', name[1]);
        else if (mesh && value) {
            const numbers = value[3].trim().startsWith('[') ? numbersOf(value[3]) : value[3];
            samples = value[2] ? new Map() : null;
            mesh.set(value[1], samples ? {samples} : {value: numbers});
        } else if (samples && sample) samples.set(Number(sample[1]), numbersOf(sample[2]));
        else if (!mesh && head) stage.set(head[1], head[2]);
    }
    const plainly = (set) => ({name: set.name, family: JSON.parse(set.attributes.get('familyName').value), faces: set.attributes.get('indices').value});
    return {meshes, stage, subsets: new Map([...subsets].map(([name, sets]) => [name, sets.map(plainly)]))};
}

function numbersOf(words) {
    const end = Math.max(words.lastIndexOf(']'), words.lastIndexOf(')'));
    return JSON.parse(words.slice(0, end + 1).replaceAll('(', '[').replaceAll(')', ']')).flat();
}

// ---- three.js

const subsets = new Map();

async function readThree() {
    const {USDAParser} = await load('three/examples/jsm/loaders/usd/USDAParser.js');
    const {USDCParser} = await load('three/examples/jsm/loaders/usd/USDCParser.js');
    const layer = layerOf(bytes);
    const {specsByPath} = kind === '.usda' ? new USDAParser().parseData(layer.toString())
        : new USDCParser().parseData(new Uint8Array(layer).buffer);
    const meshes = new Map();
    for (const [place, spec] of Object.entries(specsByPath)) {
        if (spec.fields.typeName === 'GeomSubset') {
            const mesh = place.split('/').at(-2), of = (name) => specsByPath[`${place}.${name}`]?.fields;
            const name = place.split('/').at(-1);
            if (!subsets.has(mesh)) subsets.set(mesh, []);
            subsets.get(mesh).push({name, family: of('familyName').default, faces: Array.from(of('indices').default), bound: specsByPath[`${place}.material:binding`]?.fields.targetPaths});
        }
        const [prim, attribute] = place.split('.');
        const mesh = prim.split('/').at(-1);
        if (specsByPath[prim]?.fields.typeName !== 'Mesh') continue;
        if (!meshes.has(mesh)) meshes.set(mesh, new Map());
        const samples = spec.fields.timeSamples;
        if (attribute && samples) {
            meshes.get(mesh).set(attribute, {samples: new Map(Array.from(samples.times).map((t, k) => [t, plain(samples.values[k])]))});
        } else if (attribute) {
            meshes.get(mesh).set(attribute, {value: plain(spec.fields.default)});
        }
    }
    return meshes;
}

const plain = (value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);

// ---- the comparison

// The value at a time code: of the last sample that is not later.
function at(mesh, attribute, code) {
    const found = mesh.get(attribute);
    if (!found) return undefined;
    if (!found.samples) return found.value;
    return found.samples.get([...found.samples.keys()].filter((t) => t <= code).reduce((a, b) => Math.max(a, b)));
}

const identifier = (name) => name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=[0-9])/, '_');

function same(what, found, wanted) {
    if (JSON.stringify(found) !== JSON.stringify(wanted)) fail(`${what} differ from the run's`);
}

function checkTexcoords(what, mesh, code, topology) {
    const wanted = topology.faceTexcoords.flat();
    if (!wanted.some((t) => t)) return;
    const values = at(mesh, 'primvars:st', code), index = at(mesh, 'primvars:st:indices', code);
    if (!values || index?.length !== wanted.length) fail(`${what}: texture coordinates are missing`);
    wanted.forEach((t, k) => {
        const i = 2 * index[k];
        if (t && Math.hypot(values[i] - t[0], values[i + 1] - t[1]) > 1e-6) fail(`${what}: corner ${k} has another texture coordinate`);
    });
}

// Row vectors: the last row is the translation.
function moved(points, matrix) {
    if (!matrix) return points;
    const m = matrix.flat();
    return points.map((_, k) => {
        const p = points.slice(k - (k % 3), k - (k % 3) + 3), a = k % 3;
        return p[0] * m[a] + p[1] * m[4 + a] + p[2] * m[8 + a] + m[12 + a];
    });
}

// Objects, groups and materials of the faces, where their number stays.
function checkNames(reader, body, found) {
    const first = body.mesh(expected.frames[0]);
    if (expected.frames.some((f) => body.mesh(f).faces.length !== first.faces.length)) return;
    const families = {object: 'object', group: 'group', materialBind: 'material'};
    for (const [family, layer] of Object.entries(families)) {
        const names = first.faces.map(() => null);
        for (const set of found.filter((s) => s.family === family)) set.faces.forEach((f) => (names[f] = set.name));
        // A prim has the name in letters, digits and lines, with a number where another has it; the name itself is beside it.
        names.forEach((prim, f) => {
            const wanted = first.names[layer][f], word = wanted && identifier(wanted);
            if (prim !== word && !prim?.startsWith(`${word}_`)) fail(`${reader}: ${body.name}, face ${f} has the ${layer} ${prim} instead of ${wanted}`);
            const words = [JSON.stringify(wanted), `'${wanted}'`]; // USD has both kinds of quotes
            if (prim !== wanted && !words.some((w) => printed.includes(`string name = ${w}`))) fail(`${body.name}: ${wanted} is not named`);
        });
    }
}

function check(reader, meshes, name) {
    if (meshes.size !== expected.run.bodies.size) fail(`${reader} finds ${meshes.size} meshes`);
    expected.worst = 0;
    for (const body of expected.run.bodies.values()) {
        const mesh = meshes.get(name(body.name));
        if (!mesh) fail(`${reader}: there is no mesh ${name(body.name)}`);
        if (!body.still) same(`${reader}: times of ${body.name}`, [...(mesh.get('xformOp:transform') ?? mesh.get('points')).samples.keys()], expected.frames);
        expected.frames.forEach((frame) => {
            const k = frame;
            const what = `${reader}: ${body.name}, frame ${frame}`, topology = body.mesh(frame);
            const rest = at(mesh, 'points', k), wanted = body.positions(frame), points = moved(rest, at(mesh, 'xformOp:transform', k));
            if (points.length !== 3 * wanted.length) fail(`${what}: ${points.length / 3} vertices where the run has ${wanted.length}`);
            wanted.forEach((x, v) => expected.compare(`${what}: vertex ${v}`, points.slice(3 * v, 3 * v + 3), x));
            same(`${what}: faces`, at(mesh, 'faceVertexIndices', k), topology.faces.flat());
            same(`${what}: sizes of faces`, at(mesh, 'faceVertexCounts', k), topology.faces.map((f) => f.length));
            checkTexcoords(what, mesh, k, topology);
            checkExtent(what, at(mesh, 'extent', k), rest);
            checkNormals(what, at(mesh, 'normals', k), rest.length);
        });
    }
    expected.passed(reader);
}

function checkNormals(what, normals, count) {
    if (normals?.length !== count) fail(`${what}: normals are missing`);
    for (let k = 0; k < count; k += 3) {
        if (Math.abs(Math.hypot(...normals.slice(k, k + 3)) - 1) > 1e-5) fail(`${what}: a normal is not of length 1`);
    }
}

function checkExtent(what, extent, points) {
    for (let a = 0; a < 3; a++) {
        const along = points.filter((_, k) => k % 3 === a);
        const low = along.reduce((x, y) => Math.min(x, y)), high = along.reduce((x, y) => Math.max(x, y));
        if (Math.abs(extent[a] - low) + Math.abs(extent[3 + a] - high) > 1e-6 * expected.size) fail(`${what}: wrong extent`);
    }
}

function checkStage(stage) {
    const wanted = {metersPerUnit: '1', upAxis: `"${expected.up.toUpperCase()}"`, startTimeCode: String(expected.frames[0]),
        endTimeCode: String(expected.frames.at(-1)), defaultPrim: '"run"'};
    for (const [key, value] of Object.entries(wanted)) {
        if (stage.get(key) !== value) fail(`${key} is ${stage.get(key)} instead of ${value}`);
    }
    if (Math.abs(Number(stage.get('timeCodesPerSecond')) / (expected.fps * expected.every) - 1) > 1e-6) fail('wrong timeCodesPerSecond');
}

const printed = await stageByOpenUsd(modules, bytes, kind);
const stage = attributesOf(printed);
checkStage(stage.stage);
check(`OpenUSD 22 (three-usdz-loader ${versionOf('three-usdz-loader')})`, stage.meshes, identifier);
const layer = attributesOf(await readTiny());
checkStage(layer.stage);
check(`TinyUSDZ ${versionOf('tinyusdz')}`, layer.meshes, identifier);
check(`three.js ${versionOf('three')}`, await readThree(), identifier);
for (const body of expected.run.bodies.values()) {
    const name = identifier(body.name);
    checkNames('OpenUSD', body, stage.subsets.get(name) ?? []);
    checkNames('three.js', body, subsets.get(name) ?? []);
}
