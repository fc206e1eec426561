// The map: a row for each node with its devices, a column for each driver; below, devices that several nodes use.

/** From one cell to the next; page.css has the size of a cell. */
const PITCH = 20;
/** Room for the name of a node, and of a pool that several nodes use. */
const LABEL = 132;
const WIDE_LABEL = 250;
const MORE_LABEL = 140;
/** Between columns of drivers, and between nodes side by side. */
const GAP = 12;
const LANE_GAP = 26;
/** A column is never narrower, whatever it holds. */
const LEAST = 4 * PITCH;
const ROW_HEIGHT = 35;
/** Width of a sheet between its margins. */
const PAPER = 670;
/** The line above nodes with the same reasons, and the least of their own lines that are shown at first. */
const HEAD_HEIGHT = 30;
const PREVIEW = 2;
const POINT = `Point at a device, or go there with the arrow keys.${page.open ? '' : ' The map shows the end of the run.'}`;
/** Above the first line of cells. */
const ABOVE = 9;

/**
 * Columns and lanes for a width. Where all columns fit, each line has as many nodes as there is room for; where they do not, the
 * widest columns give way first and their devices take several lines.
 */
function layOut(width) {
  const most = new Map();
  for (const node of page.nodes) {
    const counts = new Map();
    for (const { driver, devices: own } of node.groups) counts.set(driver, (counts.get(driver) || 0) + own.length);
    for (const [driver, count] of counts) most.set(driver, Math.max(most.get(driver) || 0, count));
  }
  const columns = [...most].sort(([a], [b]) => (a < b ? -1 : 1)).map(([driver, count]) => ({ driver, wanted: Math.max(LEAST, count * PITCH) }));
  shrink(columns, width - LABEL - GAP * columns.length);
  let x = LABEL;
  for (const column of columns) {
    Object.assign(column, { x, perLine: Math.floor(column.width / PITCH) });
    x += column.width + GAP;
  }
  const lanes = Math.max(1, Math.min(6, page.nodes.length, Math.floor((width + LANE_GAP) / (x + LANE_GAP))));
  // What is left over goes to the names, below which reasons stand.
  const spare = Math.floor((width + LANE_GAP) / lanes) - LANE_GAP - x;
  const extra = Math.max(0, Math.min(spare, MORE_LABEL));
  for (const column of columns) column.x += extra;
  return { columns: new Map(columns.map((column) => [column.driver, column])), lanes, label: LABEL + extra, laneWidth: x + extra, width };
}

/** Shares the room out: from the smallest column on, each takes what it wants, or an equal part of what is left. */
function shrink(columns, room) {
  const ascending = [...columns].sort((a, b) => a.wanted - b.wanted);
  ascending.forEach((column, index) => {
    const part = Math.floor(room / (ascending.length - index));
    column.width = Math.max(LEAST, Math.min(column.wanted, part));
    room -= column.width;
  });
}

class DeviceMap {
  constructor(box, state) {
    Object.assign(this, { box, state, hits: undefined, nodes: page.nodes, pools: [], rows: [], lines: [], active: { row: 0, device: -1 } });
    this.list = new RowList(box, { height: (line) => this.lines[line].height, render: (line) => this.renderLine(line) });
    box.addEventListener('keydown', (event) => this.key(event));
    box.addEventListener('click', (event) => this.click(event));
    box.addEventListener('mouseover', (event) => this.point(event.target));
    box.addEventListener('focusin', (event) => this.point(event.target));
    new ResizeObserver(() => this.resize()).observe(box);
  }

  resize() {
    const width = this.box.clientWidth - 24;
    if (this.layout && this.layout.width === width) {
      // A higher box has room for more of each group.
      if (this.height !== this.box.clientHeight && this.rows.some(({ section }) => section)) requestAnimationFrame(() => this.arrange());
      return;
    }
    this.layout = layOut(width);
    this.drawDrivers();
    this.arrange();
  }

  /** All rows, as wide as paper; or those in sight again. */
  print(printing) {
    this.list.printing = printing;
    this.layout = layOut(printing ? PAPER : this.box.clientWidth - 24);
    this.drawDrivers();
    this.arrange();
  }

  /** `hits` has a byte per device; without it there is no search. */
  show(nodes, pools, hits) {
    Object.assign(this, { nodes, pools, hits, rows: [] });
    this.list.pinned = -1;
    if (this.layout) this.arrange();
  }

  drawDrivers() {
    const heads = [];
    for (let lane = 0; lane < this.layout.lanes; lane += 1) {
      for (const { driver, x, width } of this.layout.columns.values()) {
        const head = el('span', { title: driver }, driver);
        head.style.left = `${this.laneLeft(lane) + x}px`;
        head.style.width = `${width + GAP - 4}px`;
        heads.push(head);
      }
    }
    document.getElementById('drivers').replaceChildren(...heads);
  }

  laneLeft(lane) {
    return lane * (this.layout.laneWidth + LANE_GAP);
  }

  /** Nodes and pools become rows, rows become lines. What Tab leads to stays, if that is wanted. */
  arrange(stays = true) {
    const { lanes } = this.layout;
    const focused = this.box.contains(document.activeElement);
    const before = stays ? this.rows[this.active.row] : undefined;
    const device = before?.cells[this.active.device]?.device;
    Object.assign(this, { rows: [], lines: [] });
    const sections = this.sections();
    this.shareOut(sections);
    for (const section of sections) {
      if (section.group) this.add({ section, cells: [], width: this.layout.width, label: this.layout.width, height: HEAD_HEIGHT }, 0);
      const shown = section.folds && !section.group.open ? section.preview : section.nodes.length;
      section.nodes.slice(0, shown).forEach((node, index) => this.add(this.nodeRow(node), index % lanes));
    }
    if (this.pools.length) this.lines.push({ rows: [], height: 36, heading: 'Devices that are not one node\u2019s own' });
    this.pools.forEach((group) => this.add(this.poolRow(group), 0));
    const same = ({ node, group, section }) => before && node === before.node && group === before.group && section?.group === before.section?.group;
    const row = this.rows.find(same);
    this.active = row ? { row: row.index, device: row.cells.findIndex((cell) => cell.device === device) } : { row: 0, device: -1 };
    if (this.list.pinned >= 0) this.list.pinned = row ? row.line : -1;
    this.box.setAttribute('aria-rowcount', this.rows.length);
    this.list.reset(this.lines.length);
    if (!this.rows.length) this.list.rows.replaceChildren(el('p', { class: 'none' }, 'No node or device matches.'));
    else if (focused) this.focus(this.active.row, this.active.device);
  }

  add(row, lane) {
    if (lane === 0) this.lines.push({ rows: [], height: 0 });
    const line = this.lines[this.lines.length - 1];
    line.rows.push(row);
    line.height = Math.max(line.height, row.height);
    Object.assign(row, { index: this.rows.length, left: this.laneLeft(lane), line: this.lines.length - 1 });
    this.rows.push(row);
  }

  /** Nodes with the same reasons for the chosen pod, the nearest to fitting first and its own before them; or all nodes. */
  sections() {
    const { pod } = this.state;
    const groups = whyOf(pod)?.groups || [];
    if (!groups.length) return [{ nodes: this.nodes }];
    const wanted = new Set(this.nodes);
    const sections = groups.map((group) => {
      const all = [...namesIn(group.nodes)];
      const own = all.filter(({ name }) => name === pod.node);
      return { group, all: all.length, nodes: [...own, ...all].filter((node) => wanted.delete(node)) };
    });
    return [...sections, { nodes: [...wanted] }].filter(({ nodes }) => nodes.length);
  }

  /** How many nodes of each section are shown at first: some of each, and of the nearest as many as there is room for. */
  shareOut(sections) {
    const { lanes } = this.layout;
    this.height = this.box.clientHeight;
    const least = ({ nodes }) => Math.min(PREVIEW, Math.ceil(nodes.length / lanes));
    let left = Math.floor(this.height / ROW_HEIGHT) - sections.reduce((sum, section) => sum + 1 + least(section), 0);
    for (const section of sections) {
      const more = Math.max(0, Math.min(left, Math.ceil(section.nodes.length / lanes) - PREVIEW));
      left -= more;
      section.preview = lanes * (PREVIEW + more);
      section.folds = section.group && sections.length > 1 && !this.hits && !this.list.printing && section.nodes.length > section.preview;
    }
  }

  toggle({ group }) {
    group.open = !group.open;
    this.arrange();
  }

  /** Opens the section that has a node. */
  unfold(node) {
    const group = node && whyOf(this.state.pod)?.groups.find(({ nodes }) => inRanges(nodes, node.index));
    if (!group || group.open || this.rows.some((row) => row.node === node)) return;
    group.open = true;
    this.arrange();
  }

  nodeRow(node) {
    const filled = new Map();
    const cells = [];
    for (const group of node.groups) {
      const { x, perLine } = this.layout.columns.get(group.driver);
      for (const device of group.devices) {
        const position = filled.get(group.driver) || 0;
        filled.set(group.driver, position + 1);
        cells.push({ device, x: x + (position % perLine) * PITCH, y: ABOVE + Math.floor(position / perLine) * PITCH });
      }
    }
    return { node, cells, width: this.layout.laneWidth, label: this.layout.label - 8, height: heightOf(cells) };
  }

  poolRow(group) {
    const perLine = Math.max(4, Math.floor((this.layout.width - WIDE_LABEL) / PITCH));
    const cells = group.devices.map((device, position) => ({
      device, x: WIDE_LABEL + (position % perLine) * PITCH, y: ABOVE + Math.floor(position / perLine) * PITCH,
    }));
    return { group, cells, width: this.layout.width, label: WIDE_LABEL - 8, height: heightOf(cells) };
  }

  renderLine(index) {
    const line = this.lines[index];
    if (line.heading) return el('div', { class: 'section', role: 'presentation' }, line.heading);
    return el('div', { class: 'line', role: 'presentation' }, ...line.rows.map((row) => this.renderRow(row)));
  }

  renderRow(row) {
    const label = row.node ? this.renderNode(row) : row.group ? this.renderPool(row) : this.renderHead(row);
    const element = el('div', { role: 'row', 'aria-rowindex': row.index + 1 }, label);
    element.style.left = `${row.left}px`;
    element.style.width = `${row.width}px`;
    if (row.node && this.state.pod && this.state.pod.node === row.node.name) element.className = 'chosen';
    row.cells.forEach((cell, position) => element.append(this.renderCell(row, cell, position)));
    return element;
  }

  renderNode(row) {
    const { node } = row;
    const { text, kind } = statusOf(node, this.state.pod);
    return this.renderLabel(row, node.name, text, kind);
  }

  renderPool(row) {
    const { pool, driver, reach, unusable } = row.group;
    return this.renderLabel(row, `${driver} ${pool}`, unusable || reach, unusable ? 'wait' : '');
  }

  /** What the nodes below have in common. */
  renderHead(row) {
    const { group, nodes, all } = row.section;
    const count = nodes.length < all ? `${nodes.length} of ${plural(all, 'node')}` : plural(all, 'node');
    const button = this.renderLabel(row, count, group.text, group.fits ? 'good' : 'bad');
    button.classList.add('fold');
    if (row.section.folds) button.setAttribute('aria-expanded', group.open ? 'true' : 'false');
    return button;
  }

  renderLabel(row, name, text, kind) {
    const button = el('button', {
      type: 'button', class: 'node', role: 'rowheader', 'data-row': row.index, title: `${name}: ${text}`,
      tabindex: this.isActive(row, -1) ? 0 : -1, 'aria-label': `${row.node ? 'node ' : ''}${name}, ${text}`,
    }, el('span', { class: 'name' }, name), el('span', { class: `about ${kind}` }, text));
    button.style.width = `${row.label}px`;
    return button;
  }

  renderCell(row, { device, x, y }, position) {
    const { pod, chosen } = this.state;
    const button = document.createElement('button');
    const classes = ['cell', device.state];
    if (device.tainted) classes.push('taint');
    if (isJoined(row.cells[position - 1], row.cells[position])) classes.push('joined');
    if (pod && pod.devices.includes(device)) classes.push('mine');
    if (refusalOf(pod, device) !== undefined) classes.push('refused');
    if (this.hits && !this.hits[device.id]) classes.push('other');
    if (device === chosen) classes.push('shown');
    button.type = 'button';
    button.className = classes.join(' ');
    button.tabIndex = this.isActive(row, position) ? 0 : -1;
    button.dataset.row = row.index;
    button.dataset.device = device.id;
    button.setAttribute('role', 'gridcell');
    button.setAttribute('aria-label', this.inWords(device));
    if (device === chosen) button.setAttribute('aria-selected', 'true');
    button.style.left = `${x}px`;
    button.style.top = `${y}px`;
    return button;
  }

  /** All that colours and signs say. */
  inWords(device) {
    const { pod } = this.state;
    const users = [...new Set(device.held.flatMap(({ claim }) => (claim.users.length ? claim.users : [`claim ${claim.id}`])))];
    const reason = refusalOf(pod, device);
    return [
      device.name, `${device.group.driver} ${device.group.pool}`, STATES[device.state] + (device.tainted ? ', tainted' : ''),
      device.state === 'unusable' && device.group.unusable,
      users.slice(0, 3).join(', ') + (users.length > 3 ? ` and ${users.length - 3} more` : ''),
      reason !== undefined && `refused: ${reason}`,
    ].filter(Boolean).join('  |  ');
  }

  point(target) {
    const cell = target.closest('[data-device]');
    const node = target.closest('.node');
    const text = cell ? this.inWords(devices[Number(cell.dataset.device)]) : node && node.title;
    document.getElementById('pointed').textContent = text || POINT;
  }

  redraw() {
    const focused = this.box.contains(document.activeElement);
    this.list.redraw();
    if (focused) this.focus(this.active.row, this.active.device);
  }

  /** Brings the row of a node or a device into sight. */
  reveal(found) {
    const row = this.rows.find(found);
    if (row) this.list.centre(row.line);
    return row;
  }

  isActive(row, device) {
    return this.active.row === row.index && this.active.device === device;
  }

  click(event) {
    const button = event.target.closest('button');
    if (!button) return;
    const row = this.rows[Number(button.dataset.row)];
    const device = button.dataset.device === undefined ? -1 : row.cells.findIndex((cell) => cell.device.id === Number(button.dataset.device));
    this.activate(row.index, device);
    this.choose();
  }

  choose() {
    const row = this.rows[this.active.row];
    if (row.section) {
      if (row.section.folds) this.toggle(row.section);
      return;
    }
    const chosen = this.active.device < 0 ? row.node || row.cells[0]?.device : row.cells[this.active.device].device;
    if (chosen) this.state.choose(chosen);
  }

  key(event) {
    if (!this.rows.length || event.altKey || event.metaKey) return;
    const to = this.target(event);
    if (to) this.focus(to.row, to.device);
    else if (event.key === 'Enter' || event.key === ' ') this.choose();
    else return;
    event.preventDefault();
  }

  /** Where a key leads from the active cell. */
  target({ key, ctrlKey }) {
    const { row, device } = this.active;
    const last = this.rows[row].cells.length - 1;
    const far = this.rows.length - 1;
    const step = Math.max(1, Math.floor(this.box.clientHeight / ROW_HEIGHT) - 1);
    switch (key) {
      case 'ArrowRight': return device < last ? { row, device: device + 1 } : this.beside(row, 1);
      case 'ArrowLeft': return device >= 0 ? { row, device: device - 1 } : this.beside(row, -1);
      case 'Home': return { row: ctrlKey ? 0 : row, device: -1 };
      case 'End': return ctrlKey ? { row: far, device: -1 } : { row, device: last };
      case 'ArrowDown': return this.vertical(1);
      case 'ArrowUp': return this.vertical(-1);
      case 'PageDown': return { row: Math.min(row + step, far), device: -1 };
      case 'PageUp': return { row: Math.max(row - step, 0), device: -1 };
      default: return undefined;
    }
  }

  /** The end of the node beside this one that is next to it, or where the focus is. */
  beside(row, direction) {
    const next = this.rows[row + direction];
    if (!next || next.line !== this.rows[row].line) return this.active;
    return { row: next.index, device: direction > 0 ? -1 : next.cells.length - 1 };
  }

  /** One line up or down: in the row itself where it has several, else the nearest cell of the next row. */
  vertical(direction) {
    const { row, device } = this.active;
    const here = this.rows[row];
    const from = here.cells[device];
    if (from) {
      const below = here.cells.findIndex((cell) => cell.x === from.x && cell.y === from.y + direction * PITCH);
      if (below >= 0) return { row, device: below };
    }
    const next = this.neighbour(here, direction);
    if (!next) return { row, device };
    if (!from || !next.cells.length) return { row: next.index, device: -1 };
    const distance = (cell) => Math.abs(cell.x - from.x) * 1000 + direction * cell.y;
    const nearest = next.cells.reduce((best, cell, index) => (distance(cell) < distance(next.cells[best]) ? index : best), 0);
    return { row: next.index, device: nearest };
  }

  /** The row above or below in the same lane. */
  neighbour(row, direction) {
    for (let line = row.line + direction; this.lines[line]; line += direction) {
      const { rows } = this.lines[line];
      if (rows.length) return rows.find(({ left }) => left === row.left) || rows[rows.length - 1];
    }
    return undefined;
  }

  /** Makes a cell the one that Tab leads to. */
  activate(row, device) {
    const before = this.cellElement();
    if (before) before.tabIndex = -1;
    this.active = { row, device };
    this.list.pinned = this.rows[row].line;
  }

  focus(row, device) {
    this.activate(row, device);
    this.list.show(this.rows[row].line);
    const element = this.cellElement();
    if (!element) return;
    element.tabIndex = 0;
    element.focus({ preventScroll: true });
  }

  /** The element of the active cell, if it is drawn. */
  cellElement() {
    const row = this.rows[this.active.row];
    const line = row && this.list.drawn.get(row.line);
    const element = line && line.querySelector(`[aria-rowindex="${row.index + 1}"]`);
    return element && element.children[this.active.device + 1];
  }
}

function heightOf(cells) {
  return Math.max(ROW_HEIGHT, ...cells.slice(-1).map(() => Math.max(...cells.map(({ y }) => y)) + PITCH + ABOVE - 3));
}

/** Whether two cells stand side by side and belong to one claim. */
function isJoined(before, cell) {
  const claim = cell.device.held[0]?.claim;
  return before !== undefined && claim !== undefined && before.device.held[0]?.claim === claim && before.y === cell.y && before.x + PITCH === cell.x;
}

/** The line under a node's name: how it stands to the chosen pod, or else what is free. */
function statusOf(node, pod) {
  const free = node.total ? freeOf(node, node.total) : 'no devices';
  if (!pod) return { text: free + (node.unschedulable ? ', unschedulable' : ''), kind: node.unusable ? 'wait' : '' };
  if (pod.node === node.name) return { text: { running: '\u2713 runs here', scheduled: page.open ? '\u2713 would run here' : '\u2713 placed here', 'fits-alone': 'would run here, alone' }[pod.verdict] || '', kind: 'good' };
  const why = whyOf(pod);
  const refused = why?.said.get(node) || (pod.reasons || []).find(({ nodes }) => inRanges(nodes, node.index))?.message;
  if (refused) return { text: `\u00d7 ${refused}`, kind: 'bad' };
  if (why?.groups.some(({ fits, nodes }) => fits && inRanges(nodes, node.index))) return { text: '\u2713 would fit', kind: 'good' };
  if (inRanges(pod.feasible, node.index)) return { text: '\u2713 also fitted', kind: 'good' };
  return { text: free, kind: '' };
}
