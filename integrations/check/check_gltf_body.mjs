// Poses the body of a glTF file with three.js at every sample that a run took of its animation, and compares all vertices.
// node check_gltf_body.mjs BODY.gltf RUN NAME
// RUN/NAME.motion.pc2 has samples from the animation's first key on, RUN/scene.json their rate. Vertices that the file has
// more than once are one in the run: each of them must be where three.js has one, and each of three.js where the run has one.
// Needs the npm package three; NODE_MODULES names the folder where it is installed.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {fail} from './run_folder.mjs';

const modules = path.resolve(process.env.NODE_MODULES ?? 'node_modules');
const load = (file) => import(pathToFileURL(path.join(modules, file)));
const three = await load('three/build/three.module.js');
const {GLTFLoader} = await load('three/examples/jsm/loaders/GLTFLoader.js');

const [file, run, name] = process.argv.slice(2);
const tolerance = 2e-6; // m; three.js reckons in single precision where it skins

// As a GLB, since the loader would fetch buffers as a browser does; without pictures, which nobody needs here.
function binary() {
    const json = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (json.buffers.length !== 1) fail(`${file} has ${json.buffers.length} buffers, and one is expected`);
    const bytes = fs.readFileSync(path.join(path.dirname(file), decodeURIComponent(json.buffers[0].uri)));
    delete json.buffers[0].uri;
    for (const key of ['images', 'textures', 'samplers', 'materials']) delete json[key];
    for (const mesh of json.meshes) for (const primitive of mesh.primitives) delete primitive.material;
    const chunk = (type, data, fill) => {
        const padded = Buffer.concat([data, Buffer.alloc((4 - (data.length % 4)) % 4, fill)]);
        const head = Buffer.alloc(8);
        head.writeUInt32LE(padded.length, 0);
        head.write(type, 4, 'latin1');
        return Buffer.concat([head, padded]);
    };
    const body = Buffer.concat([chunk('JSON', Buffer.from(JSON.stringify(json)), ' '), chunk('BIN\0', bytes, 0)]);
    const head = Buffer.alloc(12);
    head.write('glTF', 0, 'latin1');
    head.writeUInt32LE(2, 4);
    head.writeUInt32LE(12 + body.length, 8);
    const all = Buffer.concat([head, body]);
    return all.buffer.slice(all.byteOffset, all.byteOffset + all.length);
}

function posed(scene) {
    const out = [];
    const vertex = new three.Vector3();
    scene.updateMatrixWorld(true);
    scene.traverse((node) => {
        if (!node.isMesh) return;
        node.skeleton?.update();
        for (let v = 0; v < node.geometry.attributes.position.count; v++) {
            node.getVertexPosition(v, vertex); // morph targets and bones
            out.push(vertex.applyMatrix4(node.matrixWorld).toArray());
        }
    });
    return out;
}

function farthest(from, to) {
    let most = 0;
    for (const a of from) {
        let least = Infinity;
        for (const b of to) least = Math.min(least, Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]));
        most = Math.max(most, least);
    }
    return most;
}

const bytes = fs.readFileSync(path.join(run, `${name}.motion.pc2`));
const points = bytes.readInt32LE(16), samples = bytes.readInt32LE(28);
const scene_json = JSON.parse(fs.readFileSync(path.join(run, 'scene.json'), 'utf8'));
const {rate} = scene_json.obstacles.find((o) => o.name === name).deform;

const gltf = await new GLTFLoader().parseAsync(binary(), '');
const clip = gltf.animations[0];
const first = Math.min(...clip.tracks.map((t) => t.times[0]));
const mixer = new three.AnimationMixer(gltf.scene);
const action = mixer.clipAction(clip);
action.setLoop(three.LoopOnce);
action.clampWhenFinished = true;
action.play();
let worst = 0, looked = 0;
for (let k = 0; k < samples && first + k / rate <= clip.duration; k += 7, looked++) {
    mixer.setTime(first + k / rate);
    const ours = [];
    for (let v = 0; v < points; v++) ours.push([0, 1, 2].map((c) => bytes.readFloatLE(32 + 12 * (k * points + v) + 4 * c)));
    const theirs = posed(gltf.scene);
    const apart = Math.max(farthest(ours, theirs), farthest(theirs, ours));
    worst = Math.max(worst, apart);
    if (apart > tolerance) fail(`sample ${k}: a vertex is ${apart} m from where three.js has it`);
}
console.log(`checked: ${looked} samples of ${points} vertices within ${worst.toExponential(1)} m of three.js ${three.REVISION}`);
