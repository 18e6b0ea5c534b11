// The queue in place: Enter saves and goes on, what is typed is kept, others' news are marked where they are.
// Nothing that is visible is ever moved or removed; htmx replaces a line by what the server says of it.

import { words } from "./texts.js";

const page = document.body.dataset;
const UNDO = 10000; // milliseconds
let lastSaved = null;

const linesOf = (part = document) => [...part.querySelectorAll("[data-line]")];
const lineAt = (element) => element.closest?.("[data-line]");
const fieldsOf = (line) => [...line.querySelectorAll("[name^='value.']:not([type=hidden])")];
const draftKey = (line) => `cellworth-draft ${page.campaign} ${line.dataset.key}`;

function valueOf(line) {
  const fields = fieldsOf(line);
  return fields.length && fields[0].type === "radio" ? (fields.find((f) => f.checked)?.value ?? "") : (fields[0]?.value ?? "");
}

function setValue(line, value) {
  for (const field of fieldsOf(line)) {
    if (field.type === "radio") field.checked = field.value === value;
    else field.value = value;
  }
}

function fieldOf(line) {
  return line.querySelector("[name^='value.']:checked, [data-value]");
}

// What is typed, kept in this browser by campaign and value until it is saved.
function note(line) {
  const value = valueOf(line);
  line.classList.toggle("touched", value !== "");
  const doubted = line.querySelector("[name^='doubted.']");
  if (doubted) line.classList.toggle("doubted", value === doubted.value); // another value is not questioned yet
  if (value) localStorage.setItem(draftKey(line), value);
  else localStorage.removeItem(draftKey(line));
  count();
}

function begin(line) {
  for (const button of line.querySelectorAll(".save, .menu button")) button.tabIndex = -1;
  if (line.matches(".saved, .refused, .withdrawn")) {
    localStorage.removeItem(draftKey(line));
    const undo = line.querySelector("[data-undo]");
    if (undo) {
      lastSaved = line.id;
      setTimeout(() => { if (undo.isConnected && document.activeElement !== undo) undo.hidden = true; }, UNDO);
    }
    return;
  }
  const kept = localStorage.getItem(draftKey(line));
  if (kept && !valueOf(line)) {
    setValue(line, kept);
    line.querySelector("[data-news]")?.append(words("draft"));
  }
  line.classList.toggle("touched", valueOf(line) !== "");
}

function unsaved() {
  return linesOf().filter((line) => line.classList.contains("touched"));
}

function count() {
  const bar = document.getElementById("unsaved");
  const some = unsaved().length;
  bar.hidden = some < 2;
  bar.querySelector("[data-count]").textContent = words("unsaved", { count: some });
}

let next = null; // the line that was gone on to

function follow(line) {
  const all = linesOf();
  next = all.slice(all.indexOf(line) + 1).find((each) => fieldOf(each));
  if (next) fieldOf(next).focus();
}

// Whoever went on from a value that was then rejected or questioned, and has typed nothing since, goes back to it.
function returnTo(line) {
  if (line.matches(".wrong") && next?.contains(document.activeElement) && !valueOf(next)) fieldOf(line)?.focus();
}

function save(line, goOn = true) {
  if (!valueOf(line)) {
    if (goOn) follow(line);
    return;
  }
  if (goOn) follow(line);
  htmx.trigger(line, "save");
}

// The values of one row are saved together, those of several rows one row after the other.
function saveAll() {
  const forms = new Set(unsaved().map((line) => line.closest("form")));
  for (const form of forms) {
    const some = unsaved().filter((line) => line.closest("form") === form);
    if (some.length === 1) save(some[0], false);
    else htmx.ajax("POST", form.action, { source: form, swap: "none" });
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-visit]")) return;
  event.preventDefault(); // buttons with hx-post send by themselves
  if (event.submitter?.matches("[data-save]")) save(lineAt(event.submitter));
}, true);

document.addEventListener("keydown", (event) => {
  const line = lineAt(event.target);
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    saveAll();
  } else if (event.key === "Enter" && line && event.target.matches("input, select") && !event.isComposing) {
    event.preventDefault();
    const comment = event.target.matches("[data-comment]") && !valueOf(line);
    if (comment) line.querySelector("[data-refuse]").click();
    else save(line);
  } else if (event.key === "Escape") {
    const open = document.querySelector("details.more[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  } else if (event.altKey && event.code === "KeyU" && lastSaved) {
    event.preventDefault();
    document.getElementById(lastSaved)?.querySelector("[data-undo]")?.click();
  }
});

document.addEventListener("input", (event) => {
  const line = lineAt(event.target);
  if (line && event.target.matches("[name^='value.']")) note(line);
  if (event.target.matches("[data-complete]")) complete(event.target);
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-now]")) event.target.form.requestSubmit();
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-save-all]")) saveAll();
  for (const open of document.querySelectorAll("details.more[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});
document.addEventListener("toggle", (event) => {
  if (!event.target.matches?.("details.more") || !event.target.open) return;
  for (const button of event.target.querySelectorAll("button")) button.tabIndex = 0;
}, true);

async function complete(field) {
  const answer = await fetch(`${field.dataset.complete}?row=${encodeURIComponent(field.value)}`);
  if (!answer.ok) return;
  const options = (await answer.json()).map((id) => new Option(id, id));
  document.getElementById("rows-found").replaceChildren(...options);
}

async function guess() {
  const part = document.querySelector("[data-guesses]");
  if (!part?.children.length) return;
  const answer = await fetch(part.dataset.guesses);
  if (!answer.ok) return;
  for (const [key, found] of Object.entries(await answer.json())) {
    const place = document.querySelector(`[data-key="${key}"] [data-guess]`);
    if (place) place.textContent = words("guess", { guess: found });
  }
}

// Others' news: marked in place. A field that someone is in, or has typed into, stays as it is.
let seen = Number(page.number);
let arrived = 0;
let asking = false;

async function hear() {
  if (asking || document.hidden) return;
  asking = true;
  try {
    const answer = await fetch(`/campaigns/${location.pathname.split("/")[2]}/queue/news?after=${seen}`);
    if (!answer.ok || answer.redirected) return;
    const news = await answer.json();
    seen = news.number;
    page.number = String(news.number);
    const badge = document.getElementById("open-count");
    if (badge) badge.textContent = String(news.open);
    const heading = document.querySelector("#how-many[data-all]");
    if (heading) heading.textContent = words(news.open === 1 ? "one asked for" : "asked for", { count: news.open });
    for (const [key, what] of Object.entries(news.cells)) mark(key, what);
    arrived += news.asked;
    const note = document.getElementById("arrived");
    note.hidden = arrived === 0;
    note.querySelector("button").textContent = words("new", { count: arrived });
  } finally {
    asking = false;
  }
}

function mark(key, { what, who, value }) {
  const line = document.getElementById(`line-${key}`);
  const place = line?.querySelector("[data-news]");
  if (!place) return; // not here, or saved here
  const done = { told: "by", refused: "refused by", cancelled: "withdrawn" }[what];
  const shown = what === "told" ? "by" : what === "taken" ? "taken by" : done ?? "free";
  place.textContent = words(shown, { who, value });
  if (!done) return;
  line.classList.add("gone");
  if (valueOf(line)) place.textContent += `. ${words("yours not saved")}`;
  else if (!line.contains(document.activeElement)) for (const field of fieldsOf(line)) field.disabled = true;
}

document.addEventListener("news", hear);

// htmx replaces lines; focus, drafts and counts follow.
function start(part = document) {
  linesOf(part).forEach(begin);
  count();
}
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const line = event.detail.target;
  const menu = line.querySelector("details.more[open]");
  line.dataset.had = line.contains(document.activeElement) ? (menu ? "menu" : "field") : "";
  event.detail.fragment?.querySelector?.("[data-line]")?.setAttribute("data-had", line.dataset.had);
});
document.addEventListener("htmx:load", (event) => {
  const line = event.detail.elt;
  if (!line?.matches?.("[data-line]")) return;
  begin(line);
  if (line.dataset.had === "menu" && line.matches(".wrong") && line.querySelector("[data-comment]")) {
    line.querySelector("details.more").open = true;
    line.querySelector("[data-comment]").focus();
  } else if (line.dataset.had && fieldOf(line)) fieldOf(line).focus();
  else if (line.dataset.had) follow(line);
  else returnTo(line);
  count();
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.id !== "queue" && event.detail.elt?.id !== "queue") return;
  arrived = 0;
  start();
  guess();
});
start();
guess();
