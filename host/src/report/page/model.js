'use strict';
// The data document, with its positions turned into references, and the search over it.

const page = JSON.parse(document.getElementById('data').textContent);

/** Everything that can be pointed at: page.pods, page.nodes, page.groups, page.claims, and these. */
const devices = [];
const podsByName = new Map();
const claimsByName = new Map();
const nodesByName = new Map();
/** By the pod's name; see whyOf. */
const explanations = new Map();

const SIGNS = {
  scheduled: '\u2713', 'fits-alone': '\u2026', unschedulable: '\u00d7', waiting: '\u2026', error: '!', 'input-error': '?',
  pending: '\u25cb', running: '\u25b8', ended: '\u25a0', deleted: '\u2013',
};
/** What needs attention comes first. */
const VERDICTS = ['error', 'input-error', 'unschedulable', 'fits-alone', 'waiting', 'pending', 'scheduled', 'running', 'ended', 'deleted'];

function link() {
  page.nodes.forEach((node, index) => {
    Object.assign(node, { index, kind: 'node', groups: [], total: 0, free: 0, unusable: 0 });
    nodesByName.set(node.name, node);
  });
  page.groups.forEach(linkGroup);
  page.claims.forEach(linkClaim);
  for (const explanation of page.explained) explanations.set(explanation.pod, explanation);
  page.pods.forEach(linkPod);
  page.pods.sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict) || a.index - b.index);
  for (const device of devices) {
    const node = page.nodes[device.group.node];
    if (node) {
      node.total += 1;
      node.free += device.state === 'free' ? 1 : 0;
      node.unusable += device.state === 'unusable' ? 1 : 0;
    }
  }
}

function linkGroup(group, index) {
  group.index = index;
  const node = page.nodes[group.node];
  if (node) node.groups.push(group);
  group.devices = group.devices.map((row) => {
    const tainted = row.some((field, at) => at % 2 === 1 && page.fields[field][0] === 'taint');
    const state = group.unusable ? 'unusable' : 'free';
    const device = { kind: 'device', id: devices.length, name: row[0], row, group, tainted, state, held: [] };
    devices.push(device);
    return device;
  });
}

function linkClaim(claim) {
  claim.id = `${claim.namespace}/${claim.name}`;
  claimsByName.set(claim.id, claim);
  claim.users = claim.users || [];
  claim.devices = (claim.devices || []).map(({ at: [group, position], request, admin }) => {
    const device = page.groups[group].devices[position];
    device.held.push({ claim, request, admin });
    // Admin access takes a device from nobody.
    if (!admin) device.state = claim.given ? 'given' : 'held';
    return device;
  });
}

function linkPod(pod, index) {
  pod.kind = 'pod';
  pod.index = index;
  pod.id = `${pod.namespace}/${pod.name}`;
  // A name given twice keeps its first owner.
  if (!podsByName.has(pod.id)) podsByName.set(pod.id, pod);
  pod.entries = pod.claims.map(([name, claim]) => ({ name, claim, object: claimsByName.get(`${pod.namespace}/${claim}`) }));
  // A pod without a node may share an allocated claim; the devices are not its own then.
  const has = ({ object }) => (object && object.users.includes(pod.id) ? object.devices : []);
  pod.devices = pod.entries.flatMap(has);
  for (const [group, position] of explanations.get(pod.id)?.would || []) {
    const device = page.groups[group].devices[position];
    if (!pod.devices.includes(device)) pod.devices.push(device);
  }
}

/**
 * Why a pod is where it is, if somebody looked: what was said of each node that does not fit, and why it did not get each device. Put
 * together when it is first needed: it may be as large as the cluster.
 */
function whyOf(pod) {
  const why = pod && explanations.get(pod.id);
  if (!why || why.said) return why;
  why.said = new Map();
  why.reasons = new Map();
  for (const [node, text, ...runs] of why.refused) {
    why.said.set(page.nodes[node], why.texts[text]);
    for (let at = 0; at < runs.length; at += 4) {
      const [reason, group, first, last] = runs.slice(at, at + 4);
      // A device that several nodes use may have been refused on any: the first will do.
      for (const device of page.groups[group].devices.slice(first, last + 1)) {
        if (!why.reasons.has(device)) why.reasons.set(device, why.texts[reason]);
      }
    }
  }
  return why;
}

/** Why the pod did not get this device, if somebody looked. */
function refusalOf(pod, device) {
  return whyOf(pod)?.reasons.get(device);
}

function inRanges(ranges, index) {
  return (ranges || []).some(([first, last]) => first <= index && index <= last);
}

function* namesIn(ranges) {
  for (const [first, last] of ranges || []) {
    for (let index = first; index <= last; index += 1) yield page.nodes[index];
  }
}

function plural(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

// Search. A query is words that must all match; `field:word` looks at one field only.

const FIELDS = ['pod', 'node', 'device', 'claim', 'driver'];

function parse(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const colon = word.indexOf(':');
    const field = word.slice(0, Math.max(colon, 0));
    return FIELDS.includes(field) ? { field, word: word.slice(colon + 1) } : { field: 'any', word };
  });
}

function matches(texts, terms) {
  return terms.every(({ field, word }) => (texts[field] || '').includes(word));
}

/** What is searched is put together when it is first needed: with 100,000 devices this is not free. */
function textsOf(thing) {
  if (!thing.texts) {
    const texts = { pod: podTexts, node: nodeTexts, device: deviceTexts }[thing.kind](thing);
    const any = Object.values(texts).join(' ');
    thing.texts = { ...texts, any };
    for (const field of Object.keys(thing.texts)) thing.texts[field] = thing.texts[field].toLowerCase();
  }
  return thing.texts;
}

function podTexts(pod) {
  const groups = [...new Set(pod.devices.map((device) => device.group))];
  return {
    pod: pod.id,
    node: pod.node || '',
    device: pod.devices.map((device) => device.name).join(' '),
    claim: pod.entries.map(({ name, claim }) => `${name} ${claim || ''}`).join(' '),
    driver: groups.map((group) => group.driver).join(' '),
    rest: `${pod.verdict} ${pod.message || ''} ${(explanations.get(pod.id)?.groups || []).map(({ text }) => text).join(' ')}`,
  };
}

function nodeTexts(node) {
  const labels = Object.entries(node.labels || {}).map(([key, value]) => `${key}=${value}`);
  return { node: node.name, rest: labels.join(' ') };
}

function deviceTexts(device) {
  const { group, row, held } = device;
  const described = [];
  for (let at = 1; at < row.length; at += 2) described.push(`${page.fields[row[at]][1]}=${row[at + 1]}`);
  return {
    pod: held.flatMap(({ claim }) => claim.users).join(' '),
    node: page.nodes[group.node]?.name || '',
    device: device.name,
    claim: held.map(({ claim }) => claim.id).join(' '),
    driver: group.driver,
    rest: `${group.pool} ${described.join(' ')} ${group.unusable || ''}`,
  };
}

link();
