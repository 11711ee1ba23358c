// Judges an exported GLB with the Khronos validator, plays it with three.js and compares every frame with the run.
// node check_gltf.mjs EXPORT.glb RUN [--frames A:B] [--every N] [--fps R] [--up y|z]
// Needs the npm packages gltf-validator and three; NODE_MODULES names the folder where they are installed.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';
import {Expected, fail} from './run_folder.mjs';

const modules = path.resolve(process.env.NODE_MODULES ?? 'node_modules');
const load = (file) => import(pathToFileURL(path.join(modules, file)));
const validator = createRequire(path.join(modules, 'x.js'))('gltf-validator');
const three = await load('three/build/three.module.js');
const {GLTFLoader} = await load('three/examples/jsm/loaders/GLTFLoader.js');

const expected = new Expected(process.argv.slice(2));
const bytes = fs.readFileSync(expected.file);

async function validate() {
    const report = await validator.validateBytes(new Uint8Array(bytes), {maxIssues: 0});
    const bad = report.issues.messages.filter((m) => m.severity < 2);
    if (report.issues.numErrors + report.issues.numWarnings > 0) {
        fail(`the Khronos validator finds ${report.issues.numErrors} errors and ${report.issues.numWarnings} warnings: ` +
            bad.slice(0, 5).map((m) => `${m.code} ${m.message} ${m.pointer}`).join('; '));
    }
    console.log(`checked: Khronos validator ${report.validatorVersion}, no error, no warning, ${report.issues.numInfos} infos`);
}

// The vertex of the run that each glTF vertex is: the first are the run's own, copies follow.
function indexOf(parts, count) {
    const copies = parts[0].userData.weft_copies ?? [];
    return [...Array.from({length: count}, (_, v) => v), ...copies];
}

// Every face of n corners is n - 2 triangles of its own vertices and in its own direction, in the part that has its names; in
// each part in the order of the faces.
function checkFaces(name, parts, mesh) {
    const index = indexOf(parts, mesh.rest.length), used = parts.map(() => 0);
    const names = (part) => [part.geometry.userData.object ?? null, part.geometry.userData.group ?? null, part.material.name];
    mesh.faces.forEach((face, f) => {
        const wanted = [mesh.names.object[f], mesh.names.group[f], mesh.names.material[f] ?? name];
        const p = parts.findIndex((part) => JSON.stringify(names(part)) === JSON.stringify(wanted));
        if (p < 0) fail(`${name}: no part has the names of face ${f}: ${wanted}`);
        const corner = parts[p].geometry.index.array, uv = parts[p].geometry.attributes.uv;
        for (let k = 0; k < face.length - 2; k++, used[p]++) {
            const t = used[p], places = [0, 1, 2].map((c) => face.indexOf(index[corner[3 * t + c]]));
            if (places.includes(-1)) fail(`${name}: triangle ${t} of part ${p} is no part of face ${f}`);
            const turns = places.map((at, c) => (places[(c + 1) % 3] - at + face.length) % face.length);
            if (turns[0] + turns[1] + turns[2] !== face.length) fail(`${name}: triangle ${t} runs the other way round`);
            places.forEach((at, c) => checkTexcoord(`${name}: face ${f}`, uv, corner[3 * t + c], mesh.faceTexcoords[f][at]));
        }
    });
    parts.forEach((part, p) => {
        if (3 * used[p] !== part.geometry.index.array.length) fail(`${name}: part ${p} has triangles of no face`);
        if (!part.geometry.attributes.normal) fail(`${name}: there are no normals`);
    });
}

function checkTexcoord(what, uv, vertex, wanted) {
    if (!wanted) return;
    if (!uv) fail(`${what}: no texture coordinates`);
    if (Math.hypot(uv.getX(vertex) - wanted[0], uv.getY(vertex) - (1 - wanted[1])) > 1e-6) {
        fail(`${what}: texture coordinate ${uv.getX(vertex)} ${uv.getY(vertex)} instead of ${wanted[0]} ${1 - wanted[1]}`);
    }
}

async function play() {
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const gltf = await new GLTFLoader().parseAsync(buffer, '');
    const nodes = new Map();
    gltf.scene.traverse((node) => {
        if (!node.isMesh) return;
        const own = gltf.parser.associations.get(node)?.nodes ?? gltf.parser.associations.get(node.parent).nodes;
        const name = gltf.parser.json.nodes[own].name;
        nodes.set(name, [...(nodes.get(name) ?? []), node]);
    });
    if (nodes.size !== expected.run.bodies.size) fail(`${nodes.size} meshes where the run has ${expected.run.bodies.size} bodies`);
    const last = expected.frames.at(-1);
    for (const [name, body] of expected.run.bodies) {
        if (!nodes.has(name)) fail(`there is no node ${name}`);
        checkFaces(name, nodes.get(name), body.mesh(last));
    }
    const mixer = new three.AnimationMixer(gltf.scene);
    for (const clip of gltf.animations) {
        const action = mixer.clipAction(clip);
        action.setLoop(three.LoopOnce);
        action.clampWhenFinished = true;
        action.play();
    }
    const times = gltf.animations[0]?.tracks[0].times ?? [0];
    if (times.length !== expected.frames.length) fail(`${times.length} times where ${expected.frames.length} frames were exported`);
    expected.frames.forEach((frame, k) => {
        if (Math.abs(times[k] - expected.time(k)) > 1e-5) fail(`frame ${frame} is at ${times[k]} s`);
        mixer.setTime(times[k]);
        checkFrame(nodes, frame, last);
    });
}

function checkFrame(nodes, frame, last) {
    const x = new three.Vector3();
    for (const [name, body] of expected.run.bodies) {
        const wanted = body.positionsIn(frame, body.topology(last)), parts = nodes.get(name);
        parts[0].updateWorldMatrix(true, false);
        const index = indexOf(parts, wanted.length);
        if (index.length !== parts[0].geometry.attributes.position.count) fail(`${name}: weft_copies lists ${index.length - wanted.length} vertices`);
        index.forEach((v, g) => {
            parts[0].getVertexPosition(g, x).applyMatrix4(parts[0].matrixWorld);
            expected.compare(`${name}, frame ${frame}: vertex ${v}`, x.toArray(), wanted[v]);
        });
    }
}

await validate();
await play();
expected.passed(`three.js r${three.REVISION}`);
