// A list of which only the rows that can be seen are in the document: the page stays as small with 10,000 nodes as with 10.

/** Pixels above and below that are drawn too, so that scrolling shows no gaps. */
const MARGIN = 300;
/** How many rows may be printed: more would take the browser minutes. */
const PRINTED = 2000;

/** No markup is ever parsed: text goes in as text. */
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

class RowList {
  /** `height` and `render` take a position. */
  constructor(box, { height, render }) {
    Object.assign(this, { box, height, render, count: 0, tops: [0], drawn: new Map(), pinned: -1, printing: false });
    this.rows = el('div', { class: 'rows', role: 'presentation' });
    box.append(this.rows);
    box.addEventListener('scroll', () => this.draw(), { passive: true });
    // A box that grows shows more rows. Not at once: what is drawn may change the size of the box.
    new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(box);
  }

  /** The rows are others now. */
  reset(count) {
    this.count = count;
    this.tops = new Array(count + 1);
    this.tops[0] = 0;
    for (let row = 0; row < count; row += 1) this.tops[row + 1] = this.tops[row] + this.height(row);
    this.rows.style.height = `${this.tops[count]}px`;
    this.pinned = Math.min(this.pinned, count - 1);
    this.redraw();
  }

  /** The rows are the same and look different. What is measured is measured before anything changes: one layout, not two. */
  redraw() {
    const wanted = [...this.wanted()].sort((a, b) => a - b);
    this.drawn.clear();
    this.rows.replaceChildren(...wanted.map((row) => this.create(row)));
  }

  /** Adds the rows that came into view and drops those that left it. */
  draw() {
    const wanted = this.wanted();
    for (const [row, element] of this.drawn) {
      if (!wanted.has(row)) {
        element.remove();
        this.drawn.delete(row);
      }
    }
    for (const row of wanted) {
      if (!this.drawn.has(row)) this.insert(row);
    }
  }

  create(row) {
    const element = this.render(row);
    element.style.top = `${this.tops[row]}px`;
    element.style.height = `${this.height(row)}px`;
    this.drawn.set(row, element);
    return element;
  }

  /** In order, for whoever reads the document and not the screen. */
  insert(row) {
    let next;
    for (const [other, candidate] of this.drawn) {
      if (other > row && (next === undefined || other < next[0])) next = [other, candidate];
    }
    this.rows.insertBefore(this.create(row), next ? next[1] : null);
  }

  wanted() {
    const { scrollTop, clientHeight } = this.box;
    const first = this.printing ? 0 : this.at(scrollTop - MARGIN);
    const last = this.printing ? Math.min(this.count, PRINTED) - 1 : this.at(scrollTop + clientHeight + MARGIN);
    const wanted = new Set();
    for (let row = first; row <= last && row < this.count; row += 1) wanted.add(row);
    // The row with the focus stays, or the focus would be lost.
    if (this.pinned >= 0) wanted.add(this.pinned);
    return wanted;
  }

  /** The row at a height, by halving. */
  at(top) {
    let [low, high] = [0, Math.max(this.count - 1, 0)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= top) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Makes a row visible and returns it. */
  show(row) {
    const [top, bottom] = [this.tops[row], this.tops[row + 1]];
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.box.scrollTop = bottom - clientHeight;
    this.draw();
    return this.drawn.get(row);
  }

  /** Scrolls to a row that is not in sight, with what is around it; drawing is left to whoever asked. */
  centre(row) {
    const { scrollTop, clientHeight } = this.box;
    const visible = this.tops[row] >= scrollTop && this.tops[row + 1] <= scrollTop + clientHeight;
    if (!visible) this.box.scrollTop = this.tops[row] - clientHeight / 3;
  }

  print(printing) {
    this.printing = printing;
    this.draw();
  }
}
