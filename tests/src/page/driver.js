'use strict';
// Words for the scripts of tests; runs once the page is loaded.

const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const text = (selector) => one(selector)?.textContent;
const texts = (selector) => all(selector).map((element) => element.textContent);
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** What is to be drawn is drawn, and what was scrolled is told, before the second frame. */
const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

/** Types into the search, and waits until it is done. */
async function type(query) {
  const field = one('#search');
  field.value = query;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await wait(100);
  await frame();
}

async function click(selector) {
  one(selector).click();
  await frame();
}

/** What the focus is on, in the words of a screen reader, up to the first mark. */
const focused = () => (document.activeElement.getAttribute('aria-label') || document.activeElement.id).split('  |  ')[0];
