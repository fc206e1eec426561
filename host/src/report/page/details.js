// The pane on the right: what is known about the pod, device or node that was chosen, or else about everything.

/** How many names are shown before the rest is folded away. */
const FEW = 12;
/** More than this is not worth reading here. */
const MANY = 2000;

/** A button that leads to something: page.js listens for `data-go`. */
function go(kind, id, label) {
  return el('button', { type: 'button', class: 'go', 'data-go': kind, 'data-id': id }, label);
}

function goPod(name) {
  return podsByName.has(name) ? go('pod', name, name) : el('code', {}, name);
}

function goNode(name) {
  return nodesByName.has(name) ? go('node', name, name) : el('code', {}, name);
}

function goDevice(device, label) {
  return go('device', device.id, label || device.name);
}

function verdict(name) {
  return el('span', { class: `verdict ${name}` }, el('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[name] || ''), name);
}

function section(title, ...children) {
  const shown = children.flat().filter(Boolean);
  return shown.length ? [el('h3', {}, title), ...shown] : [];
}

function pairs(entries, mono) {
  const shown = entries.filter(([, value]) => value !== undefined && value !== null && value !== '');
  if (!shown.length) return undefined;
  return el('dl', { class: mono ? 'mono' : undefined }, ...shown.flatMap(([key, value]) => [el('dt', {}, key), el('dd', {}, value)]));
}

/** Some names at once, the others on demand. */
function names(buttons) {
  const first = el('span', { class: 'names' }, ...buttons.slice(0, FEW));
  if (buttons.length <= FEW) return first;
  const rest = buttons.slice(FEW, MANY);
  const beyond = buttons.length - FEW - rest.length;
  return el('div', {}, first,
    el('details', {}, el('summary', { class: 'quiet' }, `${buttons.length - FEW} more`),
      el('span', { class: 'names' }, ...rest, beyond > 0 && `and ${beyond} more`)));
}

/** The same for paragraphs. */
function folded(paragraphs) {
  const rest = paragraphs.slice(FEW);
  const more = rest.length > 0 && el('details', {}, el('summary', { class: 'quiet' }, `${rest.length} more`), ...rest);
  return [...paragraphs.slice(0, FEW), more];
}

function describe(chosen, pod) {
  if (!chosen) return overview();
  return { pod: describePod, device: describeDevice, node: describeNode }[chosen.kind](chosen, pod);
}

function describePod(pod) {
  const attempts = pod.attempts > 1 ? `, ${pod.attempts} attempts` : '';
  const feasible = [...namesIn(pod.feasible)];
  const why = whyOf(pod);
  const would = pod.devices.filter(({ held }) => !held.length);
  const message = pod.verdict !== 'scheduled' && pod.message && `${[pod.at, pod.code].filter(Boolean).join(' \u00b7 ')}: ${pod.message}`;
  return [
    el('h2', {}, pod.id),
    el('p', {}, verdict(pod.verdict), pod.node && ' on ', pod.node && goNode(pod.node)),
    why && el('p', { class: 'answer' }, why.summary.join(' ')),
    message && el('p', { class: 'message' }, message),
    pod.verdict === 'pending' && el('p', { class: 'quiet' }, 'Not asked about: explain it by its name, or all pods with --all.'),
    ...[...new Set([...(why?.notes || []), ...(pod.warnings || [])])].map((text) => el('p', { class: 'hint' }, text)),
    ...section('To make it fit', (why?.nearest || []).map(remedy)),
    ...section('Nodes by reason, the nearest to fitting first', folded((why?.groups || []).map((group, index) => groupCard(group, why, index === 0)))),
    ...section('Would get', would.length > 0 && names(would.map((device) => goDevice(device)))),
    ...section('Claims', pod.entries.map((entry) => claimCard(entry, pod))),
    // With the reasons above this says nothing new.
    ...(why?.groups.length ? [] : section(pod.node ? 'Refused elsewhere' : 'Reasons', (pod.reasons || []).map(reasonCard))),
    ...section('Nodes that fitted when it was tried', !why && feasible.length && names(feasible.map((node) => goNode(node.name)))),
    ...section('Attempts', pod.visited > 0 && el('p', { class: 'quiet' }, `${plural(pod.visited, 'node')} visited${attempts}`),
      (pod.retries || []).map(retryCard)),
  ];
}

function claimCard({ name, claim, object }, pod) {
  const title = el('p', {}, el('strong', {}, name), claim && claim !== name && el('span', { class: 'mono quiet' }, ` ${claim}`));
  if (!object) return el('div', { class: 'card' }, title, el('p', { class: 'quiet' }, claim ? 'This claim does not exist.' : 'There is no claim yet.'));
  const others = object.users.filter((user) => user !== pod.id);
  return el('div', { class: 'card' }, title,
    ...object.requests.flatMap(requestLines),
    ...(object.constraints || []).map((text) => el('p', { class: 'quiet' }, text)),
    object.devices.length > 0 ? names(object.devices.map((device) => goDevice(device)))
      : el('p', { class: 'quiet' }, 'No device is allocated.'),
    object.devices.length > 0 && !object.given && pod.verdict !== 'running' && el('p', { class: 'quiet' }, 'It was allocated before this run.'),
    others.length > 0 && el('p', {}, 'Shared with ', names(others.map(goPod))));
}

function requestLines({ name, text, selectors }) {
  return [
    el('p', {}, el('span', { class: 'quiet' }, `${name}: `), text),
    ...(selectors || []).map(expressionLine),
  ];
}

/** Breaks, where it must, behind a bracket and not in a word. */
function expressionLine(expression) {
  const pieces = expression.split(/(?<=[\])]\.?)/);
  return el('p', {}, el('code', {}, ...pieces.flatMap((piece) => [piece, el('wbr')])));
}

function reasonCard({ plugin, message, count, nodes }) {
  const where = count > 0 ? plural(count, 'node') : 'The pod as a whole';
  const known = [...namesIn(nodes)];
  return el('div', { class: 'card' },
    el('p', {}, el('strong', {}, where), plugin && el('span', { class: 'quiet' }, ` ${plugin}`)),
    el('p', {}, message),
    known.length > 0 && names(known.map((node) => goNode(node.name))));
}

/** One thing to do, or several of which any will do. */
function step(ways) {
  if (ways.length === 1) return el('li', {}, ways[0]);
  return el('li', {}, 'one of', el('ol', { class: 'ways' }, ...ways.map((way) => el('li', {}, way))));
}

/** What would have to be done, all of it, on one node or whatever the node, and whether that was tried. */
function remedy({ node, steps, tried, left }, index) {
  const or = index > 0 ? 'or ' : '';
  const place = el('p', {}, ...(node ? [`${or}on `, goNode(node)] : [or]), tried && el('span', { class: 'quiet' }, ` ${tried}`));
  return el('div', { class: 'card' }, place, el('ul', { class: 'steps' }, ...steps.map(step)), left && el('p', {}, `Then still: ${left}`));
}

/** Nodes with the same reasons. */
function groupCard({ fits, text, nodes }, why, open) {
  const alike = [...namesIn(nodes)];
  const said = new Set(alike.map((node) => why.said.get(node)));
  const counted = new Map();
  for (const device of alike.flatMap(({ groups }) => groups).flatMap(({ devices: own }) => own)) {
    const reason = why.reasons.get(device);
    if (reason !== undefined) counted.set(reason, (counted.get(reason) || 0) + 1);
  }
  const reasons = [...counted].sort(([, a], [, b]) => b - a);
  return el('details', { class: 'card', open: open && '' },
    el('summary', {}, el('strong', { class: fits ? 'good' : 'bad' }, plural(alike.length, 'node')), `: ${text}`),
    names(alike.map((node) => goNode(node.name))),
    // Where the nodes differ in numbers the map has those of each.
    said.size > 1 && el('p', { class: 'quiet' }, 'The numbers are from the least to the most; the map has those of each node.'),
    ...folded(reasons.map(([reason, count]) => el('p', {}, `${plural(count, 'device')}: ${reason}`))));
}

function retryCard({ attempt, afterSeconds, why, previous }) {
  return el('div', { class: 'card' },
    el('p', {}, el('strong', {}, `Attempt ${attempt}`), ` after ${afterSeconds} s`),
    el('p', { class: 'quiet' }, why),
    previous && el('p', { class: 'quiet' }, `Before: ${previous.at}: ${previous.message}`));
}

const STATES = { free: 'free', held: page.open ? 'in use' : 'in use before this run', given: 'given in this run', unusable: 'not usable' };

function describeDevice(device, pod) {
  const { group } = device;
  const node = page.nodes[group.node];
  const reason = refusalOf(pod, device);
  const of = (kind) => fieldsOf(device, kind);
  return [
    el('h2', {}, device.name),
    el('p', {}, el('strong', {}, STATES[device.state] + (device.tainted ? ', tainted' : '')), ' \u00b7 ', el('span', { class: 'mono' }, group.driver),
      node && ' on ', node && goNode(node.name)),
    device.state === 'unusable' && el('p', { class: 'hint' }, group.unusable),
    reason !== undefined && el('p', { class: 'message' }, `Not for ${pod.id}: ${reason}`),
    pod && !device.held.length && pod.devices.includes(device) && el('p', {}, goPod(pod.id), ' would get it.'),
    ...section('Holder', device.held.map(holderCard)),
    ...section('Taints', pairs(of('taint'), true)),
    ...section('Attributes', pairs(of('attribute'), true)),
    ...section('Capacity', pairs(of('capacity'), true)),
    ...section('Pool', pairs(placeOf(group))),
    ...(group.problems || []).map((text) => el('p', { class: 'hint' }, `Pool: ${text}`)),
  ];
}

function fieldsOf({ row }, wanted) {
  const found = [];
  for (let at = 1; at < row.length; at += 2) {
    const [kind, name] = page.fields[row[at]];
    const value = row[at + 1];
    if (kind === wanted) found.push([name, typeof value === 'string' ? value : JSON.stringify(value)]);
  }
  return found;
}

function holderCard({ claim, request, admin }) {
  return el('div', { class: 'card' },
    el('p', {}, claim.users.length ? names(claim.users.map(goPod)) : el('span', { class: 'quiet' }, 'Reserved for nobody')),
    el('p', { class: 'quiet' }, 'claim ', el('code', {}, claim.id), `, request ${request}`, admin && ', admin access'));
}

function placeOf(group) {
  return [
    ['used from', group.reach],
    ['nodes', group.nodes && group.nodes.length > 0 && group.reach !== 'all nodes' ? names([...namesIn(group.nodes)].map(({ name }) => goNode(name))) : undefined],
    ['name', el('code', {}, group.pool)],
    ['generation', group.generation],
  ];
}

function describeNode(node, pod) {
  const users = new Set(node.groups.flatMap((group) => group.devices).flatMap(({ held }) => held.flatMap(({ claim }) => claim.users)));
  for (const pod of page.pods) if (pod.node === node.name) users.add(pod.id);
  return [
    el('h2', {}, node.name),
    node.unschedulable && el('p', { class: 'hint' }, 'Unschedulable: it takes no new pods.'),
    el('p', {}, node.total ? freeOf(node, plural(node.total, 'device')) : 'No driver publishes devices here.'),
    ...standingOf(node, pod),
    ...node.groups.flatMap(({ driver, problems }) => (problems || []).map((text) => el('p', { class: 'hint' }, `${driver}: ${text}`))),
    ...section('Drivers', counts(node.groups)),
    ...section('Pods', users.size > 0 && names([...users].map(goPod))),
    ...section('Labels', pairs(Object.entries(node.labels || {}).map(([key, value]) => [key, String(value)]), true)),
  ];
}

/** How the chosen pod stands to a node. */
function standingOf(node, pod) {
  const why = whyOf(pod);
  if (!why) return [];
  const said = why.said.get(node);
  const fits = why.groups.some((group) => group.fits && inRanges(group.nodes, node.index));
  const [, lines] = (why.full || []).find(([name]) => name === node.name) || [];
  const line = (text) => {
    const code = el('code', {}, text.trimStart());
    code.style.paddingLeft = `${text.length - text.trimStart().length}ch`;
    return code;
  };
  return [
    said && el('p', { class: 'message' }, `Not for ${pod.id}: ${said}`),
    fits && el('p', {}, goPod(pod.id), ' fits here.'),
    ...section('In full', lines && el('div', { class: 'lines' }, ...lines.map(line))),
  ];
}

function freeOf({ free, unusable }, total) {
  return `${free} of ${total} free${unusable ? `, ${unusable} not usable` : ''}`;
}

/** A table of drivers with what is free and what is not. */
function counts(groups) {
  const drivers = new Map();
  const shown = [['free', 'free'], ['held', page.open ? 'in use' : 'before'], ['given', 'given'], ['unusable', 'not usable']];
  const count = (key, name) => drivers.set(key, { ...drivers.get(key), [name]: (drivers.get(key)?.[name] || 0) + 1 });
  for (const { driver, devices: own } of groups) {
    drivers.set(driver, drivers.get(driver) || {});
    for (const { state } of own) [state, 'all'].forEach((name) => count(driver, name));
  }
  if (!drivers.size) return undefined;
  const there = shown.filter(([state]) => state === 'free' || state === 'held' || [...drivers.values()].some((each) => each[state]));
  const row = (tag, cells) => el('tr', {}, ...cells.map((cell) => el(tag, { scope: tag === 'th' ? 'col' : undefined }, String(cell))));
  const rows = [...drivers].map(([driver, each]) => row('td', [driver, ...there.map(([state]) => each[state] || 0), each.all || 0]));
  return el('table', {}, el('thead', {}, row('th', ['driver', ...there.map(([, title]) => title), 'all'])), el('tbody', {}, ...rows));
}

function overview() {
  const broken = page.groups.flatMap((group) => (group.problems || []).map((text) => ({ group, text })));
  const pool = ({ group, text }) => el('p', { class: 'hint' }, el('code', {}, `${group.driver} ${group.pool}`), ` ${text}`);
  const warning = ({ object, message }) => el('p', { class: 'hint' }, object && el('strong', {}, `${object}: `), message);
  return [
    el('h2', {}, 'Overview'),
    el('p', {}, page.summary),
    ...section('Drivers', counts(page.groups)),
    ...section('Warnings', folded(page.warnings.map(warning))),
    ...section('Pools', folded(broken.map(pool))),
    ...section('Keys', pairs([
      ['/', 'search; words narrow it, node:gpu-a or pod:train too'],
      ['Tab', 'search, pods, devices, details'],
      ['arrows', 'from pod to pod, from device to device'],
      ['Enter', 'choose: a pod shows its devices, a device its holder; the line above some nodes shows them all'],
      ['Escape', 'clear the search, then the choice'],
    ])),
  ];
}
