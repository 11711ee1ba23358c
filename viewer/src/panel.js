// The numbers of the runs and the settings of their scenes.
import {shortNumber} from './curves.js';

const finite = values => (values ? values.filter(Number.isFinite) : []);
const sum = values => values.reduce((total, value) => total + value, 0);
const mean = values => (values.length ? sum(values) / values.length : NaN);
const largest = values => values.reduce((a, b) => Math.max(a, b), -Infinity);
const whole = value => value.toLocaleString('en').replace(/,/g, '\u202f');

function seconds(value) {
  if (!Number.isFinite(value)) {
    return '–';
  }
  return value >= 60 ? `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`
    : value >= 1 ? `${Number(value.toPrecision(3))} s` : `${Number((1000 * value).toPrecision(3))} ms`;
}

function meanAndMost(values, text) {
  const list = finite(values);
  return list.length ? `${text(mean(list))}, most ${text(largest(list))}` : null;
}

function nameOf(value) {
  return value && typeof value === 'object' ? value.name : value;
}

// [label, text] for one run; text null: it does not have it.
function numbersOf(run) {
  const cloths = run.bodies.filter(body => !body.obstacle), last = run.frameCount - 1, c = run.columns;
  const count = (of, frame) => sum(cloths.map(body => (body.present(frame) ? body.meta.topologies[body.topologyOf(frame)][of] : 0)));
  const torn = sum(cloths.map(body => body.meta.topologies.at(-1).vertices - body.meta.topologies[0].vertices));
  const scene = run.scene && typeof run.scene === 'object' ? run.scene : {};
  const strain = Math.max(0, ...cloths.map(body => body.meta.strainMax));
  return [
    ['Method', nameOf(scene.method) ?? null],
    ['Solver', nameOf(scene.solver) ?? null],
    ['Vertices', whole(count('vertices', last)) + (torn ? `, ${whole(torn)} torn off` : '')],
    ['Triangles', whole(count('triangles', last))],
    ['Segments of lines', count('segments', last) ? whole(count('segments', last)) : null],
    ['Bodies', `${cloths.length} cloth${run.bodies.length > cloths.length ? `, ${run.bodies.length - cloths.length} obstacle${run.bodies.length > cloths.length + 1 ? 's' : ''}` : ''}`],
    ['Frames', `${run.frameCount}, ${shortNumber(run.rate)} a second`],
    ['Steps', run.meta.steps ? whole(run.meta.steps) : null],
    ['Time, all steps', c.step_s ? seconds(sum(finite(c.step_s))) : null],
    ['Time per step', meanAndMost(c.step_s, seconds)],
    ['Iterations a step', meanAndMost(c.iterations, shortNumber)],
    ['Convergence rate', meanAndMost(c.rate, shortNumber)],
    ['Largest strain', `${shortNumber(100 * strain)} %`],
    ['Most contacts', c.contacts ? whole(largest(finite(c.contacts))) : null],
    ['Squeezed pairs', c.squeezed ? whole(largest(finite(c.squeezed))) : null],
    ['Rejected substeps', c.rejected ? whole(sum(finite(c.rejected))) : null],
    ['Damaged lines of stats', run.meta.damagedLines ? whole(run.meta.damagedLines) : null],
  ];
}

function cell(tag, text, scope) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (scope) {
    element.scope = scope;
  }
  return element;
}

export function fillNumbers(holder, runs) {
  const lists = runs.map(numbersOf), table = document.createElement('table');
  if (runs.length > 1) {
    const head = table.createTHead().insertRow();
    head.append(cell('td', ''), ...runs.map(run => cell('th', run.label, 'col')));
  }
  const body = table.createTBody();
  lists[0].forEach(([label], row) => {
    const texts = lists.map(list => list[row][1]);
    if (texts.every(text => text === null)) {
      return;
    }
    const line = body.insertRow();
    line.append(cell('th', label, 'row'), ...texts.map(text => cell('td', text ?? '–')));
  });
  holder.append(table);
}

// ---- settings

const plain = value => (Array.isArray(value) && value.every(item => typeof item !== 'object') && value.length <= 8)
  || value === null || typeof value !== 'object';

function settingText(value) {
  return Array.isArray(value) ? value.map(settingText).join(', ') : typeof value === 'number' ? shortSetting(value) : String(value);
}

const shortSetting = value => String(Number(value.toPrecision(8)));

// Objects fold out; the first level of names of bodies stands in the summary.
function tree(value, open) {
  const list = document.createElement('div');
  list.className = 'tree';
  for (const [key, item] of Object.entries(value)) {
    if (plain(item)) {
      const row = document.createElement('div');
      row.className = 'setting';
      row.append(cell('span', key), cell('span', settingText(item)));
      list.append(row);
    } else {
      list.append(branch(key, item, open));
    }
  }
  return list;
}

function branch(key, item, open) {
  const details = document.createElement('details'), size = Object.keys(item).length;
  const title = Array.isArray(item) ? `${key} (${size})` : item.name ? `${key}: ${item.name}` : key;
  details.append(cell('summary', title));
  // Filled when it is opened first: lists of pinned vertices may be long.
  const fill = () => details.append(tree(size > 200 ? Object.fromEntries(Object.entries(item).slice(0, 200)) : item, false));
  details.addEventListener('toggle', fill, {once: true});
  details.open = open;
  return details;
}

function flatten(item, path, out) {
  if (plain(item)) {
    out.set(path, settingText(item));
    return out;
  }
  Object.entries(item).forEach(([key, child]) => flatten(child, path ? `${path}.${key}` : key, out));
  return out;
}

// What differs between the scenes, up to a limit.
function differences(runs) {
  const maps = runs.map(run => flatten(run.scene, '', new Map()));
  const paths = [...new Set(maps.flatMap(map => [...map.keys()]))];
  return paths.map(path => [path, maps.map(map => map.get(path))]).filter(([, texts]) => texts.some(text => text !== texts[0]));
}

const DIFFERENCES_MAX = 40;

function fillDifferences(holder, runs) {
  const found = differences(runs), table = document.createElement('table');
  holder.append(cell('h3', found.length ? 'What differs' : 'The scenes are the same'));
  if (found.length === 0) {
    return;
  }
  table.createTHead().insertRow().append(cell('td', ''), ...runs.map(run => cell('th', run.label, 'col')));
  const body = table.createTBody();
  found.slice(0, DIFFERENCES_MAX).forEach(([path, texts]) => {
    body.insertRow().append(cell('th', path, 'row'), ...texts.map(text => cell('td', text ?? '–')));
  });
  holder.append(table);
  if (found.length > DIFFERENCES_MAX) {
    holder.append(cell('p', `and ${found.length - DIFFERENCES_MAX} more`));
  }
}

export function fillScene(holder, runs) {
  if (runs.length > 1 && runs.every(run => run.scene && typeof run.scene === 'object')) {
    fillDifferences(holder, runs);
  }
  runs.forEach(run => {
    if (runs.length > 1) {
      holder.append(cell('h3', run.label));
    }
    if (!run.scene) {
      holder.append(cell('p', 'There is no scene.json in this folder.'));
    } else if (typeof run.scene === 'string') {
      holder.append(cell('pre', run.scene));
    } else {
      holder.append(tree(run.scene, false));
    }
  });
}
