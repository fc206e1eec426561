// The list of pods.

class PodList {
  constructor(box, state) {
    Object.assign(this, { box, state, pods: [], active: 0 });
    this.list = new RowList(box, { height: () => 42, render: (row) => this.render(row) });
    box.addEventListener('keydown', (event) => this.key(event));
    box.addEventListener('click', (event) => {
      const row = event.target.closest('[data-row]');
      if (row) this.choose(Number(row.dataset.row));
    });
  }

  show(pods) {
    this.pods = pods;
    this.active = Math.max(0, Math.min(this.active, pods.length - 1));
    this.list.reset(pods.length);
    if (!pods.length) this.list.rows.replaceChildren(el('p', { class: 'none' }, page.pods.length ? 'No pod matches.' : page.summary));
  }

  redraw() {
    const focused = this.box.contains(document.activeElement);
    const at = this.pods.indexOf(this.state.pod);
    if (at >= 0) {
      this.active = at;
      this.list.centre(at);
    }
    if (this.pods.length) this.list.redraw();
    if (focused) this.focus(this.active);
  }

  render(row) {
    const pod = this.pods[row];
    return el('div', {
      class: 'pod', role: 'option', id: `pod-${row}`, 'data-row': row, tabindex: row === this.active ? 0 : -1,
      'aria-selected': pod === this.state.pod ? 'true' : 'false', 'aria-posinset': row + 1, 'aria-setsize': this.pods.length,
      'aria-label': `${pod.id}, ${pod.verdict}${pod.node ? ` on ${pod.node}` : ''}`,
    },
    el('span', { class: `sign ${pod.verdict}` }, SIGNS[pod.verdict] || ''),
    el('span', { class: 'name', title: pod.id }, pod.name),
    el('span', { class: 'place' }, pod.node || ''),
    el('span', { class: 'about' }, `${pod.namespace} \u00b7 ${aboutPod(pod)}`));
  }

  key(event) {
    const last = this.pods.length - 1;
    const screen = Math.max(1, Math.floor(this.box.clientHeight / 42) - 1);
    const to = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: last, PageDown: this.active + screen, PageUp: this.active - screen }[event.key];
    if (to !== undefined) this.focus(Math.max(0, Math.min(to, last)));
    else if (event.key === 'Enter' || event.key === ' ') this.choose(this.active);
    else return;
    event.preventDefault();
  }

  focus(row) {
    const before = this.list.drawn.get(this.active);
    if (before) before.tabIndex = -1;
    this.active = row;
    this.list.pinned = row;
    const element = this.list.show(row);
    if (!element) return;
    element.tabIndex = 0;
    element.focus({ preventScroll: true });
  }

  choose(row) {
    this.active = row;
    this.state.choose(this.pods[row]);
  }
}

/** The second line: what it got, or why it got nothing. */
function aboutPod(pod) {
  if (pod.message && !pod.node) return pod.message;
  if (pod.verdict === 'pending') return 'not asked about';
  const drivers = new Map();
  for (const { group } of pod.devices) drivers.set(group.driver, (drivers.get(group.driver) || 0) + 1);
  return [...drivers].map(([driver, count]) => `${count} \u00d7 ${driver}`).join(', ') || 'no device';
}
