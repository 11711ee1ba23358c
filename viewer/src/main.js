// Brings the page to life: unpacks the runs, first frames first, and ties picture, timeline, curves and keys together.
import {Orbit} from './camera.js';
import {colorChoices} from './colors.js';
import {Curves, runInks, shortNumber} from './curves.js';
import {fillNumbers, fillScene} from './panel.js';
import {Player, speeds} from './player.js';
import {Run} from './run.js';
import {Stage} from './stage.js';

const SLICE_MS = 12; // of unpacking, before the page may draw and answer again

const $ = id => document.getElementById(id);

// ---- names

// Runs of folders with the same name are told apart by their paths.
function nameRuns(runs) {
  for (const run of runs) {
    const twins = runs.filter(other => other.meta.name === run.meta.name);
    const same = twins.filter(other => other.meta.dir === run.meta.dir);
    run.label = twins.length === 1 ? run.meta.name : run.meta.dir;
    run.label += same.length > 1 ? ` (${same.indexOf(run) + 1})` : '';
  }
}

// ---- parts of the page

class Page {
  constructor(meta) {
    this.meta = meta;
    this.runs = meta.runs.map((run, k) => new Run(run, k));
    nameRuns(this.runs);
    this.stage = new Stage($('canvas'), this.runs);
    this.player = new Player(this.runs, frames => this.show(frames));
    this.orbit = new Orbit($('canvas'), () => this.redraw());
    this.choices = colorChoices(meta, this.runs);
    this.stage.choice = this.choices[0];
    this.frames = null; // that are shown
    this.pending = false;
    document.title = `${this.runs.map(run => run.label).join(', ')} – Weft`;
    $('title').textContent = this.runs.map(run => run.label).join(' · ');
  }

  async open() {
    await Promise.all(this.runs.map(run => run.loadMeshes()));
    await Promise.all(this.runs.map(run => run.loadFrame()));
    this.resize();
    this.orbit.frame(this.stage.box);
    this.theme(this.startTheme());
    await this.player.seek(0);
    $('message').hidden = true;
    this.drawNow();
    this.firstFrame = performance.now();
    await Promise.all(this.runs.map(run => run.loadNumbers()));
    this.fillPanel();
    this.listen();
  }

  // The rest of the frames, run by run in turn, without holding up the page.
  async loadAll() {
    let since = performance.now();
    while (this.player.loaded() < 1) {
      for (const run of this.runs.filter(r => r.loaded < r.frameCount)) {
        await run.loadFrame();
        if (performance.now() - since > SLICE_MS) {
          this.showLoaded();
          await new Promise(resolve => setTimeout(resolve));
          since = performance.now();
        }
      }
    }
    this.showLoaded();
    this.refresh(); // the speed of frame 0 looks ahead
  }

  showLoaded() {
    const share = this.player.loaded();
    $('buffered').style.width = `${100 * share}%`;
    $('buffered').style.opacity = share < 1 ? 1 : 0;
  }

  // ---- drawing

  show(frames) {
    this.frames = frames;
    this.stage.update(frames);
    this.redraw();
  }

  refresh() {
    if (this.frames) {
      this.show(this.frames);
    }
  }

  redraw() {
    if (!this.pending) {
      this.pending = true;
      requestAnimationFrame(() => this.drawNow());
    }
  }

  drawNow() {
    this.pending = false;
    if (this.frames) {
      this.stage.draw(this.orbit.camera, this.orbit.target);
    }
  }

  resize() {
    const {clientWidth, clientHeight} = $('stage');
    const aspect = this.stage.layout(Math.max(clientWidth, 1), Math.max(clientHeight, 1));
    if (this.orbit.home) {
      this.orbit.resize(aspect);
    } else {
      this.orbit.camera.aspect = aspect;
    }
    this.labels();
    this.drawNow(); // at once: a canvas that changes its size is empty
    this.curves?.draw();
  }

  labels() {
    const holder = $('labels');
    holder.replaceChildren();
    if (this.runs.length < 2) {
      return;
    }
    this.stage.cells.forEach(({x, y, w, h}, k) => {
      const label = document.createElement('span');
      label.textContent = this.runs[k].label;
      label.style.cssText = `left:${x}px;top:${y}px;--run:${runInks[k % runInks.length]};max-width:${w - 20}px`;
      holder.append(label);
      for (const [at, size] of [[x > 0, `left:${x}px;top:${y}px;width:1px;height:${h}px`], [y > 0, `left:${x}px;top:${y}px;width:${w}px;height:1px`]]) {
        if (at) {
          const line = document.createElement('i');
          line.style.cssText = size;
          holder.append(line);
        }
      }
    });
  }

  // ---- panel

  fillPanel() {
    this.curves = new Curves($('curves'), this.runs, this.player);
    fillNumbers($('numbers'), this.runs);
    fillScene($('scene'), this.runs);
    $('scene-section').open = this.runs.length > 1;
    $('obstacles-label').hidden = !this.runs.some(run => run.bodies.some(body => body.obstacle));
    $('choices').append(...this.choices.map((choice, k) => this.choiceButton(choice, k)));
    $('speed').append(...speeds.map(speed => new Option(`${speed}×`, speed, speed === 1, speed === 1)));
    $('scrub').max = this.player.last;
    this.tellTime();
  }

  choiceButton(choice, k) {
    const label = document.createElement('label'), input = document.createElement('input'), text = document.createElement('span');
    input.type = 'radio';
    input.name = 'color';
    input.value = choice.name;
    input.checked = choice === this.stage.choice;
    input.addEventListener('change', () => this.colorBy(choice.name));
    text.textContent = choice.label;
    label.title = k < 9 ? `Colour by ${choice.label.toLowerCase()} (${k + 1})` : '';
    label.append(input, text);
    return label;
  }

  colorBy(name) {
    const choice = this.choices.find(c => c.name === name);
    if (!choice) {
      return false;
    }
    this.stage.choice = choice;
    document.querySelectorAll('#choices input').forEach(input => {
      input.checked = input.value === name;
    });
    this.legend(choice.legend(this.dark));
    this.refresh();
    return true;
  }

  legend(entry) {
    const holder = $('legend');
    holder.hidden = !entry;
    holder.replaceChildren();
    if (!entry) {
      return;
    }
    const add = (tag, className, text, parent = holder) => {
      const element = document.createElement(tag);
      element.className = className;
      element.textContent = text;
      parent.append(element);
      return element;
    };
    add('b', '', entry.title);
    if (entry.gradient) {
      add('div', 'bar', '').style.background = entry.gradient;
      const ends = add('div', 'ends', '');
      add('span', '', shortNumber(entry.low), ends);
      add('span', '', shortNumber((entry.low + entry.high) / 2), ends);
      add('span', '', shortNumber(entry.high), ends);
    } else {
      const swatches = add('div', 'swatches', '');
      entry.swatches.forEach(([color, text]) => add('span', '', text, swatches).style.setProperty('--swatch', color));
    }
    if (entry.note) {
      add('div', 'note', entry.note);
    }
  }

  tellTime() {
    const {player} = this;
    $('scrub').value = player.frame;
    $('scrub').setAttribute('aria-valuetext', `frame ${player.frame} of ${player.last}, ${player.time.toFixed(2)} seconds`);
    const small = document.createElement('small');
    small.textContent = `${player.time.toFixed(2)} s`;
    $('clock').replaceChildren(`${player.frame} / ${player.last}`, small);
    document.body.dataset.playing = player.playing;
    $('play').setAttribute('aria-label', player.playing ? 'Pause' : 'Play');
    $('speed').value = player.speed;
    $('loop').setAttribute('aria-pressed', player.loop);
    this.curves?.draw();
  }

  // ---- light and dark

  startTheme() {
    const media = window.matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', () => this.chosenTheme || this.theme(media.matches));
    return media.matches;
  }

  switchTheme() {
    this.chosenTheme = true; // from now on it does not follow the system
    this.theme(!this.dark);
  }

  theme(dark) {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    this.stage.views.forEach(view => view.theme(dark));
    if (this.stage.choice.connections) {
      this.legend(this.stage.choice.legend(dark));
      this.refresh();
    }
    this.redraw();
    this.curves?.draw();
  }

  // ---- hands

  setSwitch(name, on) {
    this.stage[name] = on;
    $(name).checked = on;
    this.refresh();
  }

  listen() {
    const {player} = this;
    player.onChange(() => this.tellTime());
    $('play').addEventListener('click', () => player.toggle());
    $('start').addEventListener('click', () => player.seek(0));
    $('scrub').addEventListener('input', event => {
      const frame = Number(event.target.value); // pausing puts the slider back to where the timeline is
      player.pause();
      player.seek(frame);
    });
    $('speed').addEventListener('change', event => {
      player.speed = Number(event.target.value);
    });
    $('loop').addEventListener('click', () => this.setLoop(!player.loop));
    $('theme').addEventListener('click', () => this.switchTheme());
    $('help-button').addEventListener('click', () => $('help').showModal());
    $('frame-all').addEventListener('click', () => this.orbit.reset());
    ['wireframe', 'obstacles', 'floor'].forEach(name => $(name).addEventListener('change', event => this.setSwitch(name, event.target.checked)));
    $('curves-section').addEventListener('toggle', () => this.curves.draw());
    $('canvas').addEventListener('webglcontextrestored', () => this.refresh());
    new ResizeObserver(() => this.resize()).observe($('stage'));
    document.addEventListener('keydown', event => this.key(event));
  }

  setLoop(on) {
    this.player.loop = on;
    this.player.changed();
  }

  key(event) {
    const typing = event.target.matches('select') || event.ctrlKey || event.metaKey || event.altKey || $('help').open;
    const action = typing ? null : this.actionOf(event);
    if (action) {
      event.preventDefault();
      action();
    }
  }

  actionOf(event) {
    const {player, stage} = this, step = event.shiftKey ? 10 : 1;
    const go = frame => () => {
      player.pause();
      player.seek(frame);
    };
    // Space presses the button that has the focus.
    if (event.key === ' ' && event.target.matches('button, summary, input[type="checkbox"], input[type="radio"]')) {
      return null;
    }
    if (/^[1-9]$/.test(event.key)) {
      const choice = this.choices[event.key - 1];
      return choice ? () => this.colorBy(choice.name) : null;
    }
    const turn = name => () => this.setSwitch(name, !stage[name]);
    return {
      ' ': () => player.toggle(),
      ArrowLeft: go(player.frame - step),
      ArrowRight: go(player.frame + step),
      ArrowUp: () => this.orbit.zoom(0.9),
      ArrowDown: () => this.orbit.zoom(1 / 0.9),
      Home: go(0),
      End: go(player.last),
      '+': () => player.faster(1),
      '=': () => player.faster(1),
      '-': () => player.faster(-1),
      w: turn('wireframe'),
      o: turn('obstacles'),
      g: turn('floor'),
      f: () => this.orbit.reset(),
      l: () => this.setLoop(!player.loop),
      t: () => this.switchTheme(),
      '?': () => $('help').showModal(),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  }
}

// ---- for tests and scripts: stable names

function hook(page, ready, complete) {
  const frameOf = run => page.player.frameOf(page.runs[run], page.player.frame);
  return {
    ready, // the first frame is drawn, the panel is filled
    complete, // every frame is unpacked
    get firstFrame() {
      return page.firstFrame; // milliseconds from the start of loading
    },
    get runs() {
      return page.runs.map(run => ({name: run.label, frames: run.frameCount, rate: run.rate, bodies: run.bodies.map(body => body.name)}));
    },
    get frame() {
      return page.player.frame;
    },
    get playing() {
      return page.player.playing;
    },
    get speed() {
      return page.player.speed;
    },
    get colors() {
      return page.choices.map(choice => choice.name);
    },
    get color() {
      return page.stage.choice.name;
    },
    get settings() {
      const {wireframe, obstacles, floor} = page.stage;
      return {wireframe, obstacles, floor, dark: page.dark, loop: page.player.loop};
    },
    get camera() {
      const {yaw, pitch, distance, target} = page.orbit;
      return {yaw, pitch, distance, target: target.toArray()};
    },
    setCamera(values) {
      const {target, ...rest} = values;
      Object.assign(page.orbit, rest);
      page.orbit.target.fromArray(target ?? page.orbit.target.toArray());
      page.orbit.place();
    },
    async setFrame(frame) {
      page.player.pause();
      await page.player.seek(frame);
      page.drawNow();
    },
    // Metres, in the user's order, of the frame that is shown. Bodies by name or number.
    positions(run, body) {
      const found = page.runs[run].bodies.find((b, k) => b.name === body || k === body);
      return found.positions(frameOf(run), new Float32Array(3 * found.at(frameOf(run)).x.length));
    },
    triangles(run, body) {
      const found = page.runs[run].bodies.find((b, k) => b.name === body || k === body);
      return found.topologies[found.at(frameOf(run)).topology].triangles;
    },
    // What the cloth is coloured by at each vertex, linear RGB.
    tints(run, body) {
      const found = page.runs[run].bodies.find((b, k) => b.name === body || k === body);
      const out = new Float32Array(3 * found.at(frameOf(run)).x.length);
      return page.stage.choice.fill && page.stage.choice.fill(page.runs[run], found, frameOf(run), out) ? out : null;
    },
    // What the method does with each element: 0 implicit, 1 explicit, 2 slack, 3 not known; null: the run does not tell.
    states(run, body) {
      const found = page.runs[run].bodies.find((b, k) => b.name === body || k === body);
      return found.at(frameOf(run)).states ?? null;
    },
    // The lines that show them: ends as x y z in metres, and linear RGB at each end; null: none are shown.
    lines(run, body) {
      const view = page.stage.views[run], surface = view.shown.find(s => s.body.name === body || page.runs[run].bodies.indexOf(s.body) === body);
      const links = surface?.links?.visible ? surface.links.geometry : null;
      return links && {positions: links.attributes.position.array, colors: links.attributes.color.array};
    },
    colorBy: name => page.colorBy(name),
    play: () => page.player.play(),
    pause: () => page.player.pause(),
  };
}

function reasonOf(error) {
  if (typeof DecompressionStream === 'undefined') {
    return 'this browser is too old; it takes Chrome or Edge 90, Firefox 113, Safari 16.4, or a later one';
  }
  return /webgl/i.test(error.message) ? 'this browser has no WebGL 2, or it is switched off' : error.message;
}

function fail(error) {
  $('message').hidden = false;
  $('message').textContent = `The page cannot be shown: ${reasonOf(error)}.`;
  throw error;
}

function start() {
  const runs = document.getElementById('weft-runs');
  if (!runs) {
    $('message').textContent = 'This page holds no run. `weft view DIR` writes one that does.';
    return;
  }
  try {
    const page = new Page(JSON.parse(runs.textContent));
    const ready = page.open();
    const complete = ready.then(() => page.loadAll());
    window.weft = hook(page, ready, complete);
    complete.catch(fail);
  } catch (error) {
    fail(error);
  }
}

start();
