'use strict';
// Stands before the page's own scripts, to hear what they complain about, and gives the scripts of tests their words.

const complaints = [];
addEventListener('error', (event) => complaints.push(String(event.message)), true);
addEventListener('unhandledrejection', (event) => complaints.push(String(event.reason)));
document.addEventListener('securitypolicyviolation', (event) => complaints.push(`${event.violatedDirective} ${event.blockedURI}`));
for (const level of ['error', 'warn', 'log']) console[level] = (...words) => complaints.push(words.join(' '));

const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const text = (selector) => one(selector)?.textContent;
const texts = (selector) => all(selector).map((element) => element.textContent);
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
/** What is to be drawn is drawn, and what was scrolled is told, before the second frame. */
const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));

/** A key where the focus is. Returns whether the page made something of it. */
async function press(key, options = {}) {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...options });
  const taken = !document.activeElement.dispatchEvent(event);
  await frame();
  return taken;
}

async function type(query) {
  const field = one('#search');
  field.value = query;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await wait(300);
}

async function click(selector) {
  one(selector).click();
  await frame();
}

/** What the focus is on, in the words of a screen reader. */
const focused = () => document.activeElement.getAttribute('aria-label') || document.activeElement.id;

async function run(steps) {
  let result;
  try {
    await wait(200);
    result = await steps();
  } catch (error) {
    complaints.push(`${error.stack}`);
  }
  const pre = document.createElement('pre');
  pre.id = 'result';
  pre.textContent = JSON.stringify({ result: result === undefined ? null : result, complaints });
  document.body.replaceChildren(pre);
}
