// What happens: one state, changed by what the reader does, and drawn again as a whole. Only what is in sight is ever drawn.

/** How long typing may pause before the search is done, in milliseconds. */
const PAUSE = 60;

const get = (id) => document.getElementById(id);

const state = {
  terms: [],
  /** Verdicts that are not shown. */
  hidden: new Set(),
  /** The pod whose devices are marked. */
  pod: undefined,
  /** What the details are about: a pod, a device or a node. */
  chosen: undefined,
  choose,
};

const podList = new PodList(get('pod-list'), state);
const map = new DeviceMap(get('grid'), state);

function choose(chosen) {
  const before = state.pod;
  state.chosen = chosen;
  // A device or a node leaves the pod marked: the question may be why that pod did not get it.
  if (!chosen || chosen.kind === 'pod') state.pod = chosen;
  if (before !== state.pod && [before, state.pod].some((pod) => whyOf(pod)?.groups.length)) {
    const inside = get('grid').contains(document.activeElement);
    map.arrange(inside);
    // The nearest nodes come first.
    if (!inside) get('grid').scrollTop = 0;
  }
  reveal(chosen);
  draw();
  remember(chosen);
}

/** Scrolls the map to what was chosen, unless it is in sight. */
function reveal(chosen) {
  if (!chosen) return;
  const target = chosen.kind === 'pod' ? chosen.devices[0] : chosen;
  const node = chosen.kind === 'pod' ? nodesByName.get(chosen.node) : chosen;
  map.unfold(chosen.kind === 'device' ? page.nodes[chosen.group.node] : node);
  map.reveal((row) => row.node === node || (target && target.kind === 'device' && row.cells.some(({ device }) => device === target)));
}

function draw() {
  podList.redraw();
  map.redraw();
  get('details').replaceChildren(...describe(state.chosen, state.pod).filter(Boolean));
  get('details').scrollTop = 0;
}

// Search.

function search() {
  const { terms } = state;
  const pods = page.pods.filter((pod) => !state.hidden.has(pod.verdict) && matches(textsOf(pod), terms));
  podList.show(pods);
  const shared = page.groups.filter((group) => !page.nodes[group.node]);
  if (!terms.length) {
    map.show(page.nodes, shared, undefined);
    get('found').textContent = pods.length < page.pods.length ? `${pods.length} of ${plural(page.pods.length, 'pod')}` : '';
    return;
  }
  const hits = new Uint8Array(devices.length);
  for (const device of devices) hits[device.id] = matches(textsOf(device), terms) ? 1 : 0;
  const hit = ({ devices: own }) => own.some((device) => hits[device.id]);
  const nodes = page.nodes.filter((node) => node.groups.some(hit) || matches(textsOf(node), terms));
  map.show(nodes, shared.filter(hit), hits);
  const count = hits.reduce((sum, one) => sum + one, 0);
  get('found').textContent = `${plural(pods.length, 'pod')}, ${plural(nodes.length, 'node')}, ${plural(count, 'device')}`;
}

let typing;
get('search').addEventListener('input', (event) => {
  clearTimeout(typing);
  typing = setTimeout(() => searchFor(event.target.value), PAUSE);
});

function searchFor(query) {
  clearTimeout(typing);
  state.terms = parse(query);
  search();
}

// Keys that work everywhere.

document.addEventListener('keydown', (event) => {
  const field = get('search');
  if (event.key === '/' && document.activeElement !== field && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === 'Escape') {
    event.preventDefault();
    clear(field);
  }
});

/** First the search, then the choice. */
function clear(field) {
  if (field.value) {
    field.value = '';
    searchFor('');
  } else if (state.chosen || state.pod) {
    choose(undefined);
  } else {
    field.blur();
  }
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-go]');
  if (!button) return;
  choose(find(button.dataset.go, button.dataset.id));
  get('details').focus();
});

function find(kind, id) {
  if (kind === 'pod') return podsByName.get(id);
  if (kind === 'node') return nodesByName.get(id);
  return devices[Number(id)];
}

// The choice stands in the address, so that a link can lead to a pod or a node. No storage is used.

function remember(chosen) {
  const name = chosen && { pod: () => chosen.id, node: () => chosen.name }[chosen.kind]?.();
  try {
    history.replaceState(null, '', name ? `#${chosen.kind}=${encodeURIComponent(name)}` : '#');
  } catch {
    // Some viewers of files forbid it; then there is no link.
  }
}

function recall() {
  const [, kind, name] = /^#(pod|node)=(.+)$/.exec(location.hash) || [];
  if (!kind) return;
  try {
    const chosen = find(kind, decodeURIComponent(name));
    if (chosen) choose(chosen);
  } catch {
    // An address that somebody typed.
  }
}

window.addEventListener('hashchange', recall);

// Theme: the system's, until the button is pressed.

const dark = matchMedia('(prefers-color-scheme: dark)');

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === 'dark' : dark.matches;
}

function nameTheme() {
  get('theme').textContent = isDark() ? 'Light' : 'Dark';
  get('theme').setAttribute('aria-label', isDark() ? 'Use light colours' : 'Use dark colours');
}

get('theme').addEventListener('click', () => {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  nameTheme();
});
dark.addEventListener('change', nameTheme);

// Print: everything, not only what is in sight.

window.addEventListener('beforeprint', () => [podList.list, map].forEach((part) => part.print(true)));
window.addEventListener('afterprint', () => [podList.list, map].forEach((part) => part.print(false)));

// The frame around it.

function drawVerdicts() {
  const counts = new Map();
  for (const { verdict: name } of page.pods) counts.set(name, (counts.get(name) || 0) + 1);
  const button = (name) => el('button', { type: 'button', 'aria-pressed': 'true', 'data-verdict': name },
    el('span', { class: `sign ${name}`, 'aria-hidden': 'true' }, SIGNS[name]), `${name} ${counts.get(name)}`);
  get('verdicts').replaceChildren(...VERDICTS.filter((name) => counts.has(name)).map(button));
}

get('verdicts').addEventListener('click', (event) => {
  const button = event.target.closest('[data-verdict]');
  if (!button) return;
  const name = button.dataset.verdict;
  if (!state.hidden.delete(name)) state.hidden.add(name);
  button.setAttribute('aria-pressed', state.hidden.has(name) ? 'false' : 'true');
  search();
});

function drawLegend() {
  const given = devices.some((device) => device.state === 'given');
  const entries = [['free', 'free'], ['held', page.open ? 'in use' : 'in use before'], given && ['given', 'given in this run'],
    devices.some((device) => device.state === 'unusable') && ['unusable', 'not usable'],
    devices.some((device) => device.tainted) && ['taint free', 'tainted'], [given ? 'given mine' : 'free mine', 'chosen pod\u2019s'],
    explanations.size > 0 && ['refused', 'refused']].filter(Boolean);
  get('legend').replaceChildren(...entries.map(([name, text]) => el('li', {}, el('span', { class: `cell ${name}`, 'aria-hidden': 'true' }), text)));
}

function drawApart() {
  const shared = page.groups.filter((group) => !page.nodes[group.node]);
  get('apart').hidden = !shared.length || !page.nodes.length;
  get('apart').textContent = `${plural(shared.length, 'pool')} below the nodes`;
  get('apart').addEventListener('click', () => {
    const row = map.reveal(({ group }) => group);
    if (row) map.focus(row.index, row.cells.length ? 0 : -1);
  });
}

function start() {
  // The end of a path says more than its beginning.
  get('source').textContent = page.source.split('/').slice(-2).join('/');
  get('source').title = page.source;
  get('summary').textContent = page.summary;
  get('app').hidden = false;
  drawVerdicts();
  drawLegend();
  drawApart();
  nameTheme();
  map.point(get('grid'));
  map.resize();
  search();
  draw();
  recall();
  if (!state.pod && page.open) choose(podsByName.get(page.open));
  document.documentElement.dataset.ready = 'true';
}

start();
