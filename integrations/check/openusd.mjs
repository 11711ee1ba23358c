// OpenUSD as WebAssembly (Autodesk's build, which the npm package three-usdz-loader holds), in Node instead of a browser:
// it gets a place, the data that it would download, and threads.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import workers from 'node:worker_threads';

const require = createRequire(import.meta.url);

// The stage of a file, whose kind is .usda, .usdc or .usdz, as OpenUSD writes it.
export async function stageByOpenUsd(modules, bytes, kind) {
    const folder = path.join(modules, 'three-usdz-loader/external'), own = (name) => path.join(folder, name);
    const data = fs.readFileSync(own('emHdBindings.data'));
    globalThis.location = {pathname: own('x'), href: `file://${own('x')}`};
    const shim = fileURLToPath(new URL('openusd_worker.cjs', import.meta.url));
    const Worker = workers.Worker, threads = [];
    workers.Worker = class extends Worker {
        constructor(script) {
            super(script, {workerData: own('emHdBindings.worker.js')});
            threads.push(this);
        }
    };
    const said = console.error;
    console.error = (...words) => (/UsdVol/.test(words.join(' ')) ? undefined : said(...words)); // not in this build
    const mine = process.listeners('uncaughtException');
    const getUsdModule = require(own('emHdBindings.js'));
    const usd = await getUsdModule({
        wasmBinary: fs.readFileSync(own('emHdBindings.wasm')),
        getPreloadedPackage: () => data.buffer.slice(data.byteOffset, data.byteOffset + data.length),
        mainScriptUrlOrBlob: own('emHdBindings.js'),
        locateFile: (name) => (name.endsWith('worker.js') ? shim : path.join(folder, path.basename(name))),
        printErr: (words) => (/UsdVol/.test(words) ? undefined : said(words)),
    });
    // It would end the process by itself, without the sentence of a check that fails.
    process.listeners('uncaughtException').filter((l) => !mine.includes(l)).forEach((l) => process.off('uncaughtException', l));
    const name = `/stage${kind}`;
    usd.FS.createDataFile('/', name.slice(1), new Uint8Array(bytes), true, true, true);
    const stage = usd.UsdStage.Open(name).ExportToString();
    await Promise.all(threads.map((thread) => thread.terminate()));
    return stage;
}
