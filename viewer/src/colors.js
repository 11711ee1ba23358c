// What the cloth is coloured by: its own colour, strain, speed, contact, and whatever fields the runs bring.
import {NONE} from './unpack.js';

export const dyes = [
  ['#b33833', '#c76b59'], ['#2b5e8c', '#5c85a8'], ['#dba845', '#e6c480'],
  ['#4d7a57', '#7a9c78'], ['#734d78', '#997899'], ['#dbd1bf', '#c7bdab'],
];
export const stones = ['#a8abad', '#b3a899', '#949ea8', '#9ea396'];
const touching = [0.93, 0.42, 0.16], apart = [0.80, 0.81, 0.82], unknown = [0.55, 0.56, 0.58];

const toLinear = c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const linear = color => color.map(toLinear);
const css = color => `rgb(${color.map(c => Math.round(255 * c)).join(' ')})`;

// The next round number whose quarters are short too.
function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].find(step => step * unit >= value * (1 - 1e-9)) * unit;
}

// Distinct colours for whole numbers: neighbours are far apart in hue, and every third is lighter.
function classColor(number) {
  const hue = (((number * 137.508) % 360) + 360) % 360, light = [0.52, 0.66, 0.42][((number % 3) + 3) % 3];
  const a = 0.54 * Math.min(light, 1 - light);
  return [0, 8, 4].map(n => {
    const k = (n + hue / 30) % 12;
    return light - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}

class Ramp {
  constructor(steps) {
    this.steps = steps.map(step => step.map(c => c / 255));
    this.table = new Float32Array(3 * 1025);
    for (let k = 0; k <= 1024; k++) {
      this.table.set(linear(this.at(k / 1024)), 3 * k);
    }
  }
  at(t) {
    const place = Math.min(Math.max(t, 0), 1) * (this.steps.length - 1), k = Math.min(Math.floor(place), this.steps.length - 2);
    return this.steps[k].map((c, i) => c + (place - k) * (this.steps[k + 1][i] - c));
  }
  put(out, v, t) {
    const k = 3 * Math.round(1024 * Math.min(Math.max(t, 0), 1));
    out[3 * v] = this.table[k];
    out[3 * v + 1] = this.table[k + 1];
    out[3 * v + 2] = this.table[k + 2];
  }
  gradient() {
    return `linear-gradient(to right, ${this.steps.map(css).join(', ')})`;
  }
}

function put(out, v, color) {
  out[3 * v] = color[0];
  out[3 * v + 1] = color[1];
  out[3 * v + 2] = color[2];
}

function most(runs, pick) {
  let value = 0;
  runs.forEach(run => run.bodies.forEach(body => {
    value = Math.max(value, body.obstacle ? 0 : pick(body.meta));
  }));
  return value;
}

// Each choice: name, label, fill(run, body, frame, out) or null for the cloth's own colour, legend() as an object. fill
// answers whether the body has such values.
export function colorChoices(meta, runs) {
  const ramp = new Ramp(meta.colorMap);
  const plain = {name: 'cloth', label: 'Cloth', fill: null, legend: () => null};
  return [plain, strainChoice(meta, runs, ramp), speedChoice(runs, ramp), contactChoice(), ...connectionChoices(runs), ...fieldChoices(runs, ramp)];
}

function strainChoice(meta, runs, ramp) {
  const high = roundUp(Math.max(most(runs, m => m.strainUsual), 1e-4));
  const top = most(runs, m => m.strainMax);
  return {
    name: 'strain', label: 'Strain',
    fill(run, body, frame, out) {
      const {strain} = body.at(frame), scale = body.meta.strainMax / meta.strainLevels ** 2 / high;
      for (let v = 0; v < strain.length; v++) {
        ramp.put(out, v, scale * strain[v] * strain[v]);
      }
      return true;
    },
    value: (run, body, frame, v) => body.meta.strainMax * (body.at(frame).strain[v] / meta.strainLevels) ** 2,
    legend: () => ({title: 'Strain, %', gradient: ramp.gradient(), low: 0, high: 100 * high, note: top > high ? `most: ${(100 * top).toPrecision(3)}` : ''}),
  };
}

function speedChoice(runs, ramp) {
  const high = roundUp(Math.max(most(runs, m => m.speedUsual), 1e-4));
  let scratch = new Float32Array(0);
  return {
    name: 'speed', label: 'Speed',
    fill(run, body, frame, out) {
      scratch = scratch.length === out.length / 3 ? scratch : new Float32Array(out.length / 3);
      body.speeds(frame, run.rate, scratch);
      for (let v = 0; v < scratch.length; v++) {
        ramp.put(out, v, scratch[v] / high);
      }
      return true;
    },
    legend: () => ({title: 'Speed, m/s', gradient: ramp.gradient(), low: 0, high}),
  };
}

function contactChoice() {
  const near = linear(touching), far = linear(apart);
  return {
    name: 'contact', label: 'Contact',
    fill(run, body, frame, out) {
      const {contact} = body.at(frame);
      for (let v = 0; v < contact.length; v++) {
        put(out, v, contact[v] ? near : far);
      }
      return true;
    },
    legend: () => ({title: 'Contact', swatches: [[css(touching), 'touches'], [css(apart), 'free']]}),
  };
}

// ---- connections: what the method does with each element, by weft_element_state; the last is not known

const states = [['implicit', [0.11, 0.16, 0.25], [0.62, 0.74, 0.92]], ['explicit', [0.95, 0.50, 0.10]], ['slack', [0.72, 0.80, 0.90], [0.26, 0.31, 0.38]], ['not known', unknown]];
export const stateColors = dark => states.map(([, day, night]) => linear(dark && night ? night : day));

function connectionChoices(runs) {
  const told = runs.some(run => run.bodies.some(body => body.meta.elements));
  const swatches = dark => states.slice(0, 3).map(([name, day, night]) => [css(dark && night ? night : day), name]);
  return told ? [{name: 'connections', label: 'Connections', fill: null, connections: true, legend: dark => ({title: 'Connections', swatches: swatches(dark)})}] : [];
}

// ---- fields

function fieldChoices(runs, ramp) {
  const found = new Map();
  runs.forEach(run => run.bodies.forEach(body => body.meta.fields.forEach(field => {
    const same = found.get(field.name);
    found.set(field.name, same ? {...field, low: Math.min(same.low, field.low), high: Math.max(same.high, field.high)} : field);
  })));
  return [...found.values()].map(field => (field.categories ? classChoice(field) : amountChoice(field, ramp)));
}

const title = name => name.charAt(0).toUpperCase() + name.slice(1).replace(/[-_]/g, ' ');
const indexOf = (body, name) => body.meta.fields.findIndex(field => field.name === name);

function amountChoice(field, ramp) {
  const grey = linear(unknown), span = field.high - field.low || 1;
  return {
    name: field.name, label: title(field.name),
    fill(run, body, frame, out) {
      const k = indexOf(body, field.name);
      if (k < 0) {
        return false;
      }
      const values = body.at(frame).fields[k], own = body.meta.fields[k];
      for (let v = 0; v < values.length; v++) {
        if (values[v] === NONE) {
          put(out, v, grey);
        } else {
          ramp.put(out, v, (own.low + (own.high - own.low) * values[v] / (NONE - 1) - field.low) / span);
        }
      }
      return true;
    },
    legend: () => ({title: title(field.name), gradient: ramp.gradient(), low: field.low, high: field.high}),
  };
}

const LEGEND_CLASSES = 12;

function classChoice(field) {
  const known = new Map();
  const grey = linear(unknown);
  function colorOf(number) {
    if (number < 0) {
      return grey;
    }
    if (!known.has(number)) {
      known.set(number, linear(classColor(number)));
    }
    return known.get(number);
  }
  function legend() {
    const low = Math.max(field.low, 0), count = field.high - low + 1;
    const swatches = [];
    for (let k = low; k <= field.high && k < low + LEGEND_CLASSES; k++) {
      swatches.push([css(classColor(k)), String(k)]);
    }
    return {title: title(field.name), swatches, note: count > LEGEND_CLASSES ? `… ${count} classes` : ''};
  }
  return {
    name: field.name, label: title(field.name), legend, crisp: true,
    fill(run, body, frame, out) {
      const k = indexOf(body, field.name);
      if (k < 0) {
        return false;
      }
      const values = body.at(frame).fields[k];
      for (let v = 0; v < values.length; v++) {
        put(out, v, colorOf(values[v]));
      }
      return true;
    },
  };
}
