// Curves of the run over its time, tied to the timeline: the line moves with it, and clicking or dragging moves it.

export const runInks = ['#2f6fb0', '#d9822b', '#3f8f5f', '#a5508f', '#7a6a2f', '#4aa3a3', '#b5484a', '#6a5fb0'];
const kindInks = {kinetic: '#d9822b', stretch: '#b5484a', shear: '#a5508f', bend: '#3f8f5f', gravity: '#8a8f98', total: '#2f6fb0'};
const spare = ['#4aa3a3', '#7a6a2f', '#6a5fb0', '#c06a8a'];

const pad = {left: 44, right: 8, top: 8, bottom: 18};

function niceStep(span, wanted) {
  const raw = span / Math.max(wanted, 1), unit = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].find(step => step * unit >= raw) * unit;
}

export function shortNumber(value) {
  if (!Number.isFinite(value)) {
    return '–';
  }
  const size = Math.abs(value);
  if (size >= 1e5 || (size > 0 && size < 1e-3)) {
    return value.toExponential(1).replace('e+', 'e');
  }
  return String(Number(value.toPrecision(3)));
}

// The last row that ends not after a time; -1: none.
function rowAt(times, time) {
  let low = -1, high = times.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (times[middle] <= time + 1e-6) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// series: [{label, ink, times, values}]
class Curve {
  constructor(holder, title, unit, options, player) {
    this.options = options;
    this.unit = unit;
    this.player = player;
    this.series = [];
    this.hover = null;
    const figure = document.createElement('figure');
    figure.className = 'curve';
    const caption = document.createElement('figcaption');
    this.name = document.createElement('span');
    this.name.className = 'curve-name';
    this.name.textContent = unit ? `${title}, ${unit}` : title;
    this.readout = document.createElement('span');
    this.readout.className = 'curve-readout';
    caption.append(this.name, this.readout);
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.keys = document.createElement('div');
    this.keys.className = 'curve-keys';
    figure.append(caption, this.canvas, this.keys);
    holder.append(figure);
    this.figure = figure;
    this.title = title;
    this.listen();
  }

  listen() {
    const timeOf = event => {
      const box = this.canvas.getBoundingClientRect();
      return (event.clientX - box.left - pad.left) / (box.width - pad.left - pad.right) * this.player.duration;
    };
    this.canvas.addEventListener('pointerdown', event => {
      this.canvas.setPointerCapture(event.pointerId);
      this.player.pause();
      this.player.seekTime(timeOf(event));
    });
    this.canvas.addEventListener('pointermove', event => {
      this.hover = timeOf(event);
      if (event.buttons & 1) {
        this.player.seekTime(this.hover);
      }
      this.draw();
    });
    this.canvas.addEventListener('pointerleave', () => {
      this.hover = null;
      this.draw();
    });
  }

  set(series) {
    this.series = series;
    this.keys.replaceChildren(...(series.length > 1 ? series : []).map(s => {
      const key = document.createElement('span');
      key.style.setProperty('--ink', s.ink);
      key.textContent = s.label;
      return key;
    }));
    this.figure.hidden = this.options.optional && !series.some(s => s.values.some(Number.isFinite));
    this.range = this.rangeOf(series);
    const [low, high] = this.range;
    this.canvas.setAttribute('aria-label', `${this.title}: ${series.map(s => s.label).join(', ')}; from ${shortNumber(low)} to ${shortNumber(high)} ${this.unit}`);
    this.draw();
  }

  rangeOf(series) {
    let low = this.options.low ?? Infinity, high = this.options.high ?? -Infinity;
    for (const s of series) {
      for (const value of s.values) {
        if (Number.isFinite(value)) {
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
    }
    if (!(high > low)) {
      high = Number.isFinite(low) ? low + (Math.abs(low) || 1) : 1;
      low = Number.isFinite(low) ? low : 0;
    }
    const margin = 0.04 * (high - low);
    return [this.options.low === low ? low : low - margin, this.options.high === high ? high : high + margin];
  }

  draw() {
    const {canvas} = this, width = canvas.clientWidth, height = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
    if (this.figure.hidden || width === 0) {
      return;
    }
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const g = canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    this.axes(g, width, height, style.getPropertyValue('--muted'), style.getPropertyValue('--line'), style.fontFamily);
    this.lines(g, width, height);
    this.cursor(g, width, height, style.getPropertyValue('--ink'));
    this.tell();
  }

  x(time, width) {
    return pad.left + time / (this.player.duration || 1) * (width - pad.left - pad.right);
  }

  y(value, height) {
    const [low, high] = this.range;
    return height - pad.bottom - (value - low) / (high - low) * (height - pad.top - pad.bottom);
  }

  axes(g, width, height, muted, line, font) {
    const [low, high] = this.range, {duration} = this.player;
    g.font = `10.5px ${font}`;
    g.fillStyle = muted;
    g.strokeStyle = line;
    g.lineWidth = 1;
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    const step = niceStep(high - low, 3);
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
      const y = Math.round(this.y(k * step, height)) + 0.5;
      g.beginPath();
      g.moveTo(pad.left, y);
      g.lineTo(width - pad.right, y);
      g.stroke();
      g.fillText(shortNumber(k * step), pad.left - 6, y);
    }
    g.textBaseline = 'alphabetic';
    const tick = niceStep(duration || 1, 5);
    for (let k = 0; k * tick <= duration + 1e-9; k++) {
      g.textAlign = k === 0 ? 'left' : this.x(k * tick, width) > width - 24 ? 'right' : 'center';
      g.fillText(`${shortNumber(k * tick)}${k === 0 ? ' s' : ''}`, this.x(k * tick, width), height - 4);
    }
  }

  lines(g, width, height) {
    g.lineJoin = 'round';
    for (const s of this.series) {
      g.strokeStyle = s.ink;
      g.lineWidth = 1.4;
      g.beginPath();
      let open = false;
      for (let k = 0; k < s.values.length; k++) {
        if (!Number.isFinite(s.values[k])) {
          open = false;
          continue;
        }
        const x = this.x(s.times[k], width), y = this.y(s.values[k], height);
        if (open) {
          g.lineTo(x, y);
        } else {
          g.moveTo(x, y);
        }
        open = true;
      }
      g.stroke();
    }
  }

  cursor(g, width, height, ink) {
    const mark = (time, alpha) => {
      const x = Math.round(this.x(time, width)) + 0.5;
      g.globalAlpha = alpha;
      g.strokeStyle = ink;
      g.beginPath();
      g.moveTo(x, pad.top - 4);
      g.lineTo(x, height - pad.bottom);
      g.stroke();
      g.globalAlpha = 1;
    };
    mark(this.player.time, 0.55);
    if (this.hover !== null) {
      mark(Math.min(Math.max(this.hover, 0), this.player.duration), 0.3);
    }
    for (const s of this.series) {
      const row = rowAt(s.times, this.hover ?? this.player.time);
      if (row >= 0 && Number.isFinite(s.values[row])) {
        g.fillStyle = s.ink;
        g.beginPath();
        g.arc(this.x(s.times[row], width), this.y(s.values[row], height), 2.6, 0, 7);
        g.fill();
      }
    }
  }

  // The values at the cursor.
  tell() {
    const values = this.series.map(s => {
      const row = rowAt(s.times, this.hover ?? this.player.time);
      return row < 0 ? '–' : shortNumber(s.values[row]);
    });
    this.readout.textContent = values.length > 1 ? '' : `${values[0]} ${this.unit}`;
    [...this.keys.children].forEach((key, k) => {
      key.dataset.value = values[k];
    });
  }
}

const named = {
  iterations: 'Iterations a step', rate: 'Convergence rate', step_s: 'Time per step', contacts: 'Contacts', max_stretch: 'Longest thread',
  setup_s: 'Solver setup', solve_s: 'Solving', residual: 'Residual', squeezed: 'Squeezed pairs', levels: 'Levels',
};
const unitOf = name => (name.endsWith('_s') || name.startsWith('stages.') ? 's' : name.startsWith('energy.') ? 'J' : '');

export class Curves {
  constructor(holder, runs, player) {
    this.runs = runs;
    this.player = player;
    this.all = [];
    this.has = runs.some(run => run.meta.steps > 0);
    if (!this.has) {
      const note = document.createElement('p');
      note.className = 'note';
      note.textContent = 'This run has no stats.jsonl, so there are no curves.';
      holder.append(note);
      return;
    }
    this.energy(holder);
    this.plain(holder, 'iterations', '', {low: 0, optional: true});
    this.plain(holder, 'rate', '', {low: 0, high: 1, optional: true}); // direct solvers have none
    this.plain(holder, 'step_s', 's', {low: 0, optional: true});
    this.chosen(holder);
  }

  times(run) {
    return run.columns.time ?? Float32Array.from({length: run.meta.steps}, (_, k) => (k + 1) / run.meta.steps * this.player.duration);
  }

  seriesOf(column) {
    return this.runs.filter(run => run.columns[column]).map(run => ({
      label: run.label, ink: runInks[run.index % runInks.length], times: this.times(run), values: run.columns[column],
    }));
  }

  add(holder, title, unit, options) {
    const curve = new Curve(holder, title, unit, options, this.player);
    this.all.push(curve);
    return curve;
  }

  plain(holder, column, unit, options) {
    this.add(holder, named[column], unit, options).set(this.seriesOf(column));
  }

  // One run: every kind. Several: the kind that is chosen, a line a run.
  energy(holder) {
    const kinds = [...new Set(this.runs.flatMap(run => run.meta.columns))].filter(name => name.startsWith('energy.')).map(name => name.slice(7));
    const curve = this.add(holder, 'Energy', 'J', {optional: true});
    if (this.runs.length === 1) {
      const run = this.runs[0];
      curve.set(kinds.map((kind, k) => ({
        label: kind, ink: kindInks[kind] ?? spare[k % spare.length], times: this.times(run), values: run.columns[`energy.${kind}`],
      })));
      return;
    }
    const select = this.select('Kind of energy', kinds.map(kind => [kind, kind]), kinds.includes('total') ? 'total' : kinds[0]);
    select.addEventListener('change', () => curve.set(this.seriesOf(`energy.${select.value}`)));
    curve.name.append(' ', select);
    curve.set(this.seriesOf(`energy.${select.value}`));
  }

  // Whatever else the method counts.
  chosen(holder) {
    const taken = ['step', 'frame', 'time', 'iterations', 'rate', 'step_s'];
    const names = [...new Set(this.runs.flatMap(run => run.meta.columns))].filter(name => !taken.includes(name) && !name.startsWith('energy.'));
    if (names.length === 0) {
      return;
    }
    const curve = this.add(holder, '', '', {});
    const select = this.select('Another curve', names.map(name => [name, named[name] ?? name.replace('stages.', 'time: ').replace(/_/g, ' ')]), names.includes('contacts') ? 'contacts' : names[0]);
    const show = () => {
      curve.unit = unitOf(select.value);
      curve.title = select.selectedOptions[0].textContent;
      curve.set(this.seriesOf(select.value));
    };
    select.addEventListener('change', show);
    curve.name.append(select);
    show();
  }

  select(label, options, value) {
    const select = document.createElement('select');
    select.setAttribute('aria-label', label);
    select.append(...options.map(([name, text]) => new Option(text, name, name === value, name === value)));
    return select;
  }

  draw() {
    this.all.forEach(curve => curve.draw());
  }
}
