// Updates the parts of a page that others change, as they change, but never a field being edited.
// Parts are elements with an id and data-live: "whole" is replaced entirely, "list" child by child (data-key).

const PAUSE = 1500; // milliseconds between updates
const page = document.body.dataset;
const asSent = new Map(); // parts as the server sent them, before figures were drawn into them
let waiting = null;
let newest = null;

function isTouched(element) {
  const active = document.activeElement;
  if (element.contains(active) && active.matches("input, select, textarea, summary, button")) return true;
  return [...element.querySelectorAll("input:not([type=hidden]), select, textarea")].some((field) =>
    field.localName === "select"
      ? [...field.options].some((option) => option.selected !== option.defaultSelected) && field.value !== ""
      : field.type === "file" ? field.files.length > 0 : field.value !== field.defaultValue,
  );
}

function keepOpen(before, after) {
  for (const details of before.querySelectorAll("details[id][open]")) {
    after.querySelector(`#${CSS.escape(details.id)}`)?.setAttribute("open", "");
  }
}

function replace(before, after) {
  if (asSent.get(before.id) === after.outerHTML) return [];
  asSent.set(before.id, after.outerHTML);
  keepOpen(before, after);
  before.replaceWith(after);
  return [after];
}

function renewList(before, after) {
  const now = new Map([...after.children].map((child) => [child.dataset.key, child]));
  const touched = new Set();
  for (const child of [...before.children]) {
    if (isTouched(child)) {
      touched.add(child.dataset.key);
      const gone = child.querySelector("[data-gone]");
      if (gone) gone.hidden = now.has(child.dataset.key);
    } else {
      child.remove();
    }
  }
  // Touched children stay where they are; the others are inserted around them in the server's order.
  let at = before.firstElementChild;
  for (const [key, child] of now) {
    if (touched.has(key)) {
      at = [...before.children].find((kept) => kept.dataset.key === key)?.nextElementSibling ?? null;
    } else {
      before.insertBefore(child, at);
    }
  }
}

async function renew() {
  waiting = null;
  if (document.hidden) return;
  const address = new URL(location.href);
  address.searchParams.delete("preview"); // would choose cells again each time
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const { number, summaries } = fresh.body.dataset;
  if (number === page.number && summaries === page.summaries) return;
  let held = false;
  const replaced = [];
  for (const before of document.querySelectorAll("[data-live]")) {
    const after = fresh.getElementById(before.id);
    if (!after) continue;
    if (before.dataset.live === "list") renewList(before, document.adoptNode(after));
    else if (isTouched(before)) held = true;
    else replaced.push(...replace(before, document.adoptNode(after)));
  }
  const events = Number(number) - Number(page.number);
  Object.assign(page, { number, summaries });
  document.dispatchEvent(new CustomEvent("renewed", { detail: replaced }));
  say(events, held);
  later();
}

function say(events, held) {
  const note = document.getElementById("notification");
  const what = events === 1 ? "1 new event" : `${events} new events`;
  const parts = held ? "the page is renewed, but not where you are writing" : "the page is renewed";
  note.textContent = events > 0 ? `${what}: ${parts}.` : "The figures are renewed.";
  setTimeout(() => { note.textContent = ""; }, 6000);
}

// data-summaries lists the summaries shown and the event each describes: "columns:12 front:-1".
function isOld() {
  if (newest === null) return false;
  const shown = page.summaries.split(" ").filter(Boolean).map((each) => each.split(":"));
  return (
    newest.number > Number(page.number) || shown.some(([what, asOf]) => (newest.summaries[what] ?? -1) > Number(asOf))
  );
}

function later() {
  if (waiting === null && isOld()) {
    waiting = setTimeout(() => renew().catch((error) => console.warn(error)), PAUSE);
  }
}

if (page.events) {
  for (const part of document.querySelectorAll("[data-live=whole]")) asSent.set(part.id, part.outerHTML);
  const source = new EventSource(page.events);
  const hear = (event) => {
    newest = JSON.parse(event.data);
    later();
  };
  source.addEventListener("notification", hear);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) later(); });
  window.addEventListener("pagehide", () => source.close());
}
