// The page in a real browser: Debian's Chromium, driven by playwright-core, without a GPU.
//   node view.mjs WEFT MODULES [SHOTS]
// WEFT is the command, MODULES the folder in which `npm ci` was run; SHOTS, where given, receives screenshots. Exit
// status 77: there is no browser, all is skipped (script/setup browser installs one).
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, statSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {readObjVertices, readPc2, writeBig, writeField, writeObj, writePc2, writeTorn} from './folders.mjs';

const [weft, modules, shots] = process.argv.slice(2).map(path => resolve(path));
const browserPath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(path => path && existsSync(path));
const tests = [];
const only = process.env.WEFT_VIEW_TEST; // part of a name
const test = (name, run) => (!only || name.includes(only)) && tests.push({name, run});
const folder = mkdtempSync(join(tmpdir(), 'weft view \u00fc-'));
const at = name => join(folder, name);
const address = name => pathToFileURL(at(name)).href;

// ---- runs and pages

function command(...words) {
  return execFileSync(weft, words, {cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8'});
}

function makeRuns() {
  command('run', 'sphere', '--set', 'cells=24', '--frames', '16', '-o', 'sphere');
  command('run', 'sphere', '--set', 'cells=16', '--frames', '12', '--solver', 'sa-ppcg', '-o', 'coarse');
  const vertices = 25 * 25;
  writeField(at('sphere/sheet.aggregate.field'), true, [Array.from({length: vertices}, (_, v) => Math.floor(v / 50))]);
  writeField(at('sphere/sheet.heat.field'), false, Array.from({length: 17}, (_, s) => Array.from({length: vertices}, (_, v) => v + s)));
  command('view', 'sphere', '-o', 'one.html');
  command('view', 'sphere', 'coarse', '-o', 'two.html');
}

// ---- pages in the browser

let browser;

// Whatever a page says or asks for is a failure.
async function open(file, options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 800}, ...options});
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', message => page.complaints.push(`console: ${message.text()}`));
  page.on('pageerror', error => page.complaints.push(`error: ${error.message}`));
  page.on('request', request => {
    if (request.url() !== address(file) && !request.url().startsWith('data:')) {
      page.complaints.push(`request: ${request.url()}`);
    }
  });
  await page.goto(address(file));
  await page.evaluate(() => window.weft.ready);
  return page;
}

async function finish(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

async function shot(page, name) {
  if (shots) {
    await page.waitForTimeout(300);
    await page.screenshot({path: join(shots, `${name}.png`)});
  }
}

const positions = (page, run, body) => page.evaluate(([r, b]) => Array.from(window.weft.positions(r, b)), [run, body]);
const state = (page, name) => page.evaluate(key => window.weft[key], name);

function sizeOf(samples) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  samples.forEach(sample => sample.forEach((value, k) => {
    low[k % 3] = Math.min(low[k % 3], value);
    high[k % 3] = Math.max(high[k % 3], value);
  }));
  return Math.hypot(...high.map((value, axis) => value - low[axis]));
}

let worst = 0; // of positions, as a share of the limit

function assertNear(found, expected, limit, what) {
  assert.equal(found.length, expected.length, what);
  for (let k = 0; k < found.length; k += 3) {
    const error = Math.hypot(found[k] - expected[k], found[k + 1] - expected[k + 1], found[k + 2] - expected[k + 2]);
    worst = Math.max(worst, error / limit);
    assert.ok(error <= limit, `${what}: vertex ${k / 3} is off by ${error} m, ${limit} are allowed`);
  }
}

// Shares of the canvas that are drawn on, and how many colours there are.
function picture(page) {
  return page.evaluate(() => {
    const canvas = document.getElementById('canvas'), copy = document.createElement('canvas');
    copy.width = 160;
    copy.height = 120;
    const g = copy.getContext('2d');
    g.drawImage(canvas, 0, 0, 160, 120);
    const {data} = g.getImageData(0, 0, 160, 120), colors = new Set();
    let covered = 0;
    for (let k = 0; k < data.length; k += 4) {
      covered += data[k + 3] > 200 ? 1 : 0;
      colors.add(data[k] >> 4 << 8 | data[k + 1] >> 4 << 4 | data[k + 2] >> 4);
    }
    const box = canvas.getBoundingClientRect();
    return {covered: covered / (160 * 120), colors: colors.size, sharp: Math.abs(canvas.width - box.width * devicePixelRatio) <= 2};
  });
}

// ---- tests

test('holds the positions of the cache in every frame', async () => {
  const page = await open('one.html'), samples = readPc2(at('sphere/sheet.pc2')), limit = 1e-4 * sizeOf(samples);
  for (let frame = 0; frame < samples.length; frame++) {
    await page.evaluate(k => window.weft.setFrame(k), frame);
    assert.equal(await state(page, 'frame'), frame);
    assertNear(await positions(page, 0, 'sheet'), samples[frame], limit, `frame ${frame}`);
  }
  assertNear(await positions(page, 0, 'sphere'), readObjVertices(at('sphere/sphere.obj')), limit, 'obstacle');
  await finish(page);
});

test('scrubs by the slider, and draws another picture', async () => {
  const page = await open('one.html');
  const before = await page.locator('#canvas').screenshot();
  await page.locator('#scrub').fill('14');
  await page.waitForFunction(() => window.weft.frame === 14);
  await page.waitForTimeout(200);
  assert.notDeepEqual(await page.locator('#canvas').screenshot(), before);
  const seen = await picture(page);
  assert.ok(seen.covered > 0.02 && seen.colors > 8, JSON.stringify(seen));
  await shot(page, 'view');
  await finish(page);
});

test('plays, pauses, loops and waits for frames', async () => {
  const page = await open('one.html');
  await page.locator('#play').click();
  assert.equal(await state(page, 'playing'), true);
  await page.waitForFunction(() => window.weft.frame > 2);
  await page.locator('#play').click();
  assert.equal(await state(page, 'playing'), false);
  const frame = await state(page, 'frame');
  await page.waitForTimeout(150);
  assert.equal(await state(page, 'frame'), frame);
  await page.evaluate(() => window.weft.setFrame(16));
  await page.locator('#speed').selectOption('4');
  await page.evaluate(() => window.weft.play());
  await page.waitForFunction(() => window.weft.frame < 10);
  await finish(page);
});

test('answers keys', async () => {
  const page = await open('one.html');
  const press = async (key, name, expected) => {
    await page.keyboard.press(key);
    assert.deepEqual(await state(page, name), expected, key);
  };
  await press('ArrowRight', 'frame', 1);
  await press('Shift+ArrowRight', 'frame', 11);
  await press('ArrowLeft', 'frame', 10);
  await press('End', 'frame', 16);
  await press('ArrowRight', 'frame', 16);
  await press('Home', 'frame', 0);
  await press('2', 'color', 'strain');
  await press('4', 'color', 'contact');
  await press('1', 'color', 'cloth');
  await press('9', 'color', 'cloth');
  await press('+', 'speed', 2);
  await press('-', 'speed', 1);
  await press('-', 'speed', 0.5);
  await press('Space', 'playing', true);
  await press('Space', 'playing', false);
  await page.keyboard.press('w');
  assert.equal((await state(page, 'settings')).wireframe, true);
  await page.keyboard.press('o');
  assert.equal((await state(page, 'settings')).obstacles, false);
  await page.keyboard.press('g');
  assert.equal((await state(page, 'settings')).floor, false);
  const {dark, loop} = await state(page, 'settings');
  await page.keyboard.press('t');
  await page.keyboard.press('l');
  assert.equal((await state(page, 'settings')).dark, !dark);
  assert.equal((await state(page, 'settings')).loop, !loop);
  await page.keyboard.press('?');
  assert.equal(await page.locator('#help').isVisible(), true);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#help').isVisible(), false);
  await finish(page);
});

test('turns, moves and comes closer; a key brings the view back', async () => {
  const page = await open('one.html'), home = await state(page, 'camera');
  const drag = async (from, to, modifier) => {
    if (modifier) {
      await page.keyboard.down(modifier);
    }
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(...to, {steps: 4});
    await page.mouse.up();
    if (modifier) {
      await page.keyboard.up(modifier);
    }
  };
  await drag([300, 300], [400, 340]);
  const turned = await state(page, 'camera');
  assert.ok(Math.abs(turned.yaw - home.yaw) > 0.1 && turned.pitch > home.pitch);
  await drag([300, 300], [340, 300], 'Shift');
  assert.notDeepEqual((await state(page, 'camera')).target, home.target);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction(distance => window.weft.camera.distance < distance, home.distance);
  await page.keyboard.press('f');
  assert.deepEqual(await state(page, 'camera'), home);
  await finish(page);
});

test('colours by strain, speed, contact and every field, with a legend', async () => {
  const page = await open('one.html');
  assert.deepEqual(await state(page, 'colors'), ['cloth', 'strain', 'speed', 'contact', 'aggregate', 'heat']);
  await page.evaluate(() => window.weft.setFrame(16));
  for (const name of ['strain', 'speed', 'contact', 'aggregate', 'heat']) {
    await page.locator(`#choices input[value="${name}"]`).check({force: true});
    const tints = await page.evaluate(() => Array.from(window.weft.tints(0, 'sheet')));
    const colors = new Set();
    for (let k = 0; k < tints.length; k += 3) {
      colors.add(tints.slice(k, k + 3).join());
    }
    assert.ok(tints.every(Number.isFinite), name);
    assert.ok(name === 'contact' ? colors.size === 2 : name === 'aggregate' ? colors.size === 13 : colors.size > 40, `${name}: ${colors.size} colours`);
    assert.ok((await page.locator('#legend').innerText()).toLowerCase().includes(name), name);
    assert.ok((await picture(page)).colors > 8, name);
    await shot(page, `color-${name}`);
  }
  // The legend of an amount has its range.
  assert.match(await page.locator('#legend').innerText(), /0\s+320\s+640/);
  await finish(page);
});

// Read from the run's own file, by a reader that shares nothing with the page.
function readElements(path, frame) {
  const bytes = readFileSync(path), samples = bytes.readInt32LE(16), count = bytes.readInt32LE(20);
  const list = Array.from({length: count}, (_, e) => [0, 1, 2, 3].map(k => bytes.readInt32LE(32 + 16 * e + 4 * k)));
  return {samples, list, states: [...bytes.subarray(32 + 16 * count + frame * count, 32 + 16 * count + (frame + 1) * count)]};
}

test('shows which connections are implicit, explicit and slack', async () => {
  const settings = {method: 'aimex', model: 'choi-ko', cells: 12, time_step: 0.0005, steps_per_frame: 40, 'cloth.0.material': '{"base":"cotton","damping":0}'};
  const words = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  command('run', 'sphere', ...words, '--frames', '10', '--fields', '-o', 'split');
  command('run', 'sphere', ...words, '--set', 'tessellation=irregular', '--frames', '2', '--fields', '-o', 'triangles');
  command('view', 'split', 'triangles', '-o', 'split.html');
  const page = await open('split.html'), file = at('split/sheet.connections.elements');
  await page.evaluate(() => window.weft.complete);
  assert.equal(await page.evaluate(() => window.weft.lines(0, 'sheet')), null);
  await page.locator('#choices input[value="connections"]').check({force: true});
  assert.match(await page.locator('#legend').innerText(), /implicit\s+explicit\s+slack/i);
  for (const frame of [0, 10]) {
    await page.evaluate(k => window.weft.setFrame(k), frame);
    const {samples, list, states} = readElements(file, frame);
    assert.equal(samples, 11);
    assert.deepEqual(await page.evaluate(() => Array.from(window.weft.states(0, 'sheet'))), states);
    assert.deepEqual(new Set(states), new Set(frame ? [0, 1, 2] : [3]), 'all three are there, and before the first step none is known');
    // Each line has its connection's ends, and the colour of its state.
    const at = await positions(page, 0, 'sheet'), shown = await page.evaluate(() => {
      const {positions: p, colors} = window.weft.lines(0, 'sheet');
      return {p: Array.from(p), colors: Array.from(colors)};
    });
    const ends = list.flatMap(([a, b]) => [...at.slice(3 * a, 3 * a + 3), ...at.slice(3 * b, 3 * b + 3)]);
    assertNear(shown.p, ends, 1e-6, 'ends');
    const colors = new Map();
    states.forEach((state, e) => {
      const color = shown.colors.slice(6 * e, 6 * e + 3).join();
      assert.equal(colors.get(state) ?? color, color);
      colors.set(state, color);
    });
    assert.equal(new Set(colors.values()).size, colors.size);
  }
  await shot(page, 'view-connections');
  // Triangles: warp, weft and shear as outlines, one inside the other.
  const {list} = readElements(at('triangles/sheet.connections.elements'), 2);
  assert.deepEqual(new Set(list.map(([, , , turn]) => turn)), new Set([0, 1, 2]));
  assert.equal(await page.evaluate(() => window.weft.lines(1, 'sheet').positions.length), 18 * list.length);
  await page.evaluate(() => window.weft.colorBy('cloth'));
  assert.equal(await page.evaluate(() => window.weft.lines(0, 'sheet')), null);
  await finish(page);
});

test('a curve is tied to the timeline', async () => {
  const page = await open('one.html'), box = await page.locator('.curve canvas').first().boundingBox();
  assert.ok(await page.locator('.curve:visible').count() >= 4);
  await page.mouse.click(box.x + 44 + 0.75 * (box.width - 52), box.y + 40);
  await page.waitForFunction(() => window.weft.frame === 12);
  assert.match(await page.locator('.curve-keys').first().innerText(), /kinetic/);
  await finish(page);
});

test('shows the numbers of the run and the settings of the scene', async () => {
  const page = await open('one.html'), numbers = await page.locator('#numbers').innerText();
  for (const words of ['implicit-euler', '625', '17, 25 a second', '128']) {
    assert.ok(numbers.includes(words), `${words} in ${numbers}`);
  }
  await page.locator('#scene-section > summary').click();
  await page.locator('#scene summary', {hasText: 'solver'}).first().click();
  await page.locator('#scene .setting', {hasText: 'tolerance'}).first().waitFor();
  assert.match(await page.locator('#scene').innerText(), /tolerance\s+0\.0001\b/);
  await finish(page);
});

test('compares two runs in step', async () => {
  const page = await open('two.html');
  const samples = ['sphere', 'coarse'].map(name => readPc2(at(`${name}/sheet.pc2`)));
  for (const frame of [0, 7, 12, 16]) {
    await page.evaluate(k => window.weft.setFrame(k), frame);
    for (const run of [0, 1]) {
      const own = samples[run][Math.min(frame, samples[run].length - 1)];
      assertNear(await positions(page, run, 'sheet'), own, 1e-4 * sizeOf(samples[run]), `run ${run}, frame ${frame}`);
    }
  }
  assert.deepEqual((await state(page, 'runs')).map(run => run.name), ['sphere', 'coarse']);
  assert.equal(await page.locator('#labels span').count(), 2);
  assert.match(await page.locator('#scene').innerText(), /What differs[\s\S]*solver\.name/);
  await page.evaluate(() => window.weft.setFrame(12));
  await page.evaluate(() => window.weft.colorBy('strain'));
  await shot(page, 'view-compare');
  await finish(page);
});

test('follows the size of the window', async () => {
  const page = await open('one.html');
  for (const [width, height] of [[900, 700], [1500, 600], [820, 420], [500, 900], [1280, 800]]) {
    await page.setViewportSize({width, height});
    let seen = {};
    for (let wait = 0; wait < 50 && !(seen.sharp && seen.covered > 0.01); wait++) {
      await page.waitForTimeout(50);
      seen = await picture(page);
    }
    assert.ok(seen.sharp && seen.covered > 0.01, `${width} x ${height}: ${JSON.stringify(seen)}`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `${width} x ${height}: ${overflow} pixels too wide`);
  }
  await finish(page);
});

test('works on a phone, by touch, in the dark', async () => {
  const page = await open('one.html', {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true, deviceScaleFactor: 2, colorScheme: 'dark'});
  assert.equal((await state(page, 'settings')).dark, true);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  await page.locator('#play').tap();
  await page.waitForFunction(() => window.weft.frame > 1);
  await page.locator('#play').tap();
  await page.evaluate(() => window.weft.setFrame(12));
  const before = await state(page, 'camera');
  const session = await page.context().newCDPSession(page);
  const touch = (type, ...points) => session.send('Input.dispatchTouchEvent', {type, touchPoints: points.map(([x, y], id) => ({x, y, id}))});
  await touch('touchStart', [100, 200], [200, 200]);
  await touch('touchMove', [60, 200], [260, 200]);
  await touch('touchEnd');
  await page.waitForFunction(distance => window.weft.camera.distance < distance, before.distance);
  await page.locator('#frame-all').tap();
  assert.deepEqual(await state(page, 'camera'), before);
  await page.locator('#choices label', {hasText: 'Strain'}).tap();
  assert.equal(await state(page, 'color'), 'strain');
  await shot(page, 'view-phone');
  await finish(page);
});

test('plays cloth that tears', async () => {
  const samples = writeTorn(at('torn'));
  command('view', 'torn', '-o', 'torn.html');
  const page = await open('torn.html');
  for (const frame of [0, 1, 2, 3, 4, 1, 3]) {
    await page.evaluate(k => window.weft.setFrame(k), frame);
    assertNear(await positions(page, 0, 'sheet'), samples[frame], 1e-4 * sizeOf(samples.map(s => s.slice(0, 18))), `frame ${frame}`);
    assert.equal(await page.evaluate(() => Math.max(...window.weft.triangles(0, 'sheet'))), frame < 2 ? 5 : 7);
  }
  for (const name of ['strain', 'speed', 'contact']) {
    await page.evaluate(k => window.weft.colorBy(k), name);
    await page.evaluate(() => window.weft.setFrame(2));
  }
  await page.keyboard.press('w');
  await finish(page);
});

test('shows bodies of lines', async () => {
  execFileSync('mkdir', ['-p', at('lines')]);
  const helix = turn => Array.from({length: 60}, (_, k) => [Math.cos(0.3 * k + turn), 0.05 * k, Math.sin(0.3 * k + turn)]).flat();
  const samples = [0, 0.2, 0.4].map(turn => [...helix(turn), ...helix(turn + Math.PI)]);
  const strand = first => Array.from({length: 60}, (_, k) => first + k);
  writeObj(at('lines/hair.obj'), samples[0], [strand(0), strand(60)], 'l');
  writePc2(at('lines/hair.pc2'), 0, samples);
  command('view', 'lines', '-o', 'lines.html');
  const page = await open('lines.html');
  await page.evaluate(() => window.weft.setFrame(2));
  assertNear(await positions(page, 0, 'hair'), samples[2], 1e-4 * sizeOf(samples), 'lines');
  // Without wireframe: the lines are all there is, in the body's own colour and in others.
  const reds = () => page.evaluate(() => {
    const canvas = document.getElementById('canvas'), copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const g = copy.getContext('2d');
    g.drawImage(canvas, 0, 0);
    const {data} = g.getImageData(0, 0, copy.width, copy.height);
    let count = 0;
    for (let k = 0; k < data.length; k += 4) {
      count += data[k + 3] > 100 && data[k] > 90 && data[k] > 1.6 * data[k + 1] ? 1 : 0;
    }
    return count;
  });
  assert.ok(await reds() > 300, `${await reds()} pixels of the lines' own colour`);
  await shot(page, 'view-lines');
  for (const name of ['strain', 'speed', 'contact']) {
    await page.evaluate(k => window.weft.colorBy(k), name);
  }
  await page.keyboard.press('w');
  await finish(page);
});

test('shows files of other programs, with values that are not finite', async () => {
  execFileSync('mkdir', ['-p', at('foreign')]);
  writeObj(at('foreign/<b>cape.obj'), [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0], [[0, 1, 3, 2]]);
  writePc2(at('foreign/<b>cape.pc2'), 0, [[0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0], [0, 0, 1, 1, 0, 0, NaN, 1, 0, 1, 1, 0]]);
  command('view', 'foreign', '-o', 'foreign.html');
  const page = await open('foreign.html');
  await page.evaluate(() => window.weft.setFrame(1));
  const found = await page.evaluate(() => Array.from(window.weft.positions(0, 0), value => (Number.isNaN(value) ? 'nan' : value)));
  assert.deepEqual(found.slice(6, 9), ['nan', 'nan', 'nan']);
  assert.match(await page.locator('#curves').innerText(), /no stats.jsonl/);
  assert.match(await page.locator('#scene').innerText().catch(() => ''), /^$|no scene.json/);
  await finish(page);
});

test('everything that can be used has a name', async () => {
  const page = await open('two.html');
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, canvas, summary')]
    .filter(element => !(element.getAttribute('aria-label') || element.labels?.[0]?.textContent.trim() || element.textContent.trim()))
    .map(element => element.outerHTML.slice(0, 80)));
  assert.deepEqual(nameless, []);
  await finish(page);
});

// The time to the first frame is printed, for docs/view.md; a busy machine may take any.
test('40,401 vertices and 60 frames: below 8 MB', async () => {
  writeBig(at('big'), 60);
  command('view', 'big', '-o', 'big.html');
  const bytes = statSync(at('big.html')).size;
  assert.ok(bytes < 8e6, `${bytes} bytes`);
  const page = await open('big.html');
  console.log(`             ${bytes} bytes, first frame after ${Math.round(await state(page, 'firstFrame'))} ms`);
  await page.evaluate(() => window.weft.complete);
  await page.evaluate(() => window.weft.setFrame(59));
  await finish(page);
});

// ---- running them

async function main() {
  if (!browserPath) {
    console.log(`no Chromium was found; script/setup browser installs it\n[  SKIPPED ] ${tests.length} test(s).`);
    return 77;
  }
  const {chromium} = createRequire(join(modules, 'package.json'))('playwright-core');
  const args = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'];
  browser = await chromium.launch({executablePath: browserPath, args});
  makeRuns();
  const failed = [];
  for (const {name, run} of tests) {
    try {
      await run();
      console.log(`[       OK ] ${name}`);
    } catch (error) {
      failed.push(name);
      console.log(`[  FAILED  ] ${name}\n${error.stack}`);
    }
  }
  const version = browser.version();
  await browser.close();
  console.log(`Chromium ${version}: positions deviate by ${(1e-4 * worst).toExponential(1)} of the scene's size at most`);
  console.log(`[  PASSED  ] ${tests.length - failed.length} test(s).`);
  if (failed.length) {
    console.log(`[  FAILED  ] ${failed.length} test(s), listed above`);
  }
  return failed.length ? 1 : 0;
}

main().then(code => {
  process.exitCode = code;
}, error => {
  console.error(error);
  process.exitCode = 1;
}).finally(() => rmSync(folder, {recursive: true, force: true}));
