// Updates the parts of a page that others change, as they change, but never a field being edited.
// Parts are elements with an id and data-live="whole": they are replaced entirely. The queue has its own way.

import { words } from "./texts.js";

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
    if (isTouched(before)) held = true;
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
  note.textContent = words(held ? "held" : "renewed");
  setTimeout(() => { note.textContent = ""; }, 4000);
}

// data-summaries lists the summaries shown and the event each describes: "columns:12 front:-1".
function isOld() {
  if (newest === null) return false;
  const shown = page.summaries.split(" ").filter(Boolean).map((each) => each.split(":"));
  return (
    newest.number > Number(page.number) || shown.some(([what, asOf]) => (newest.summaries[what] ?? -3) > Number(asOf))
  );
}

function later() {
  if (waiting === null && isOld()) {
    waiting = setTimeout(() => renew().catch((error) => console.warn(error)), PAUSE);
  }
}

// Bars of what is being worked out: the server says how much is done, and how long the rest will take at that pace.
function advance(progress) {
  for (const [what, [done, left]] of Object.entries(progress)) {
    for (const bar of document.querySelectorAll(`progress[data-what="${what}"]`)) bar.value = done;
    const seconds = left === null ? null : Math.max(1, Math.round(left));
    for (const note of document.querySelectorAll(`[data-left="${what}"]`)) {
      if (seconds === null) note.textContent = "";
      else if (seconds < 90) note.textContent = words("seconds left", { seconds });
      else note.textContent = words("minutes left", { minutes: Math.round(seconds / 60) });
    }
  }
}

if (page.events) {
  for (const part of document.querySelectorAll("[data-live=whole]")) asSent.set(part.id, part.outerHTML);
  const source = new EventSource(page.events);
  const queue = document.querySelector("[data-guesses]") !== null;
  const hear = (event) => {
    newest = JSON.parse(event.data);
    advance(newest.progress);
    if (!queue) later();
    else if (newest.number > Number(page.number)) document.dispatchEvent(new CustomEvent("news"));
  };
  // A line that the server closes for good, rather than one that breaks, means that the session has ended.
  source.addEventListener("error", async () => {
    if (source.readyState !== EventSource.CLOSED) return;
    const answer = await fetch(page.events, { headers: { Accept: "application/json" } }).catch(() => null);
    if (answer?.status === 401 || answer?.redirected) document.dispatchEvent(new CustomEvent("signed-out"));
    answer?.body?.cancel();
  });
  source.addEventListener("notification", hear);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) later(); });
  window.addEventListener("pagehide", () => source.close());
}
