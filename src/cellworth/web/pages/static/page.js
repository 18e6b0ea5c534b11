// Loaded by every page.

import "./keys.js";
import "./live.js";
import { words } from "./texts.js";

document.documentElement.classList.add("scripted");

// On a telephone the tabs are wider than the screen: show the one that is open. (scrollIntoView would also move the
// place from which the Tab key goes on.)
const tabs = document.querySelector(".masthead nav ul");
const here = tabs?.querySelector("[aria-current]")?.getBoundingClientRect();
if (here) tabs.scrollLeft += here.left - tabs.getBoundingClientRect().left - (tabs.clientWidth - here.width) / 2;

// A file may take a while to be made; the browser shows nothing until it comes.
const SOON = 800; // milliseconds after which something says that work is under way
const notify = (name) => (document.getElementById("notification").textContent = name ? words(name) : "");
document.addEventListener("click", (event) => {
  if (!event.target.closest("a[download]")) return;
  notify("under way");
  setTimeout(() => notify(""), 6000);
});

// Submit a form only once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  if (event.defaultPrevented || form.method === "dialog" || form.matches("[hx-get], [data-visit]")) return;
  form.dataset.sent = "yes";
  setTimeout(() => form.dataset.sent && notify("under way"), SOON);
  for (const button of form.querySelectorAll("[data-busy]")) {
    [button.textContent, button.dataset.busy] = [button.dataset.busy, button.textContent];
  }
});
// Make forms usable again when the user returns to the page.
window.addEventListener("pageshow", () => {
  notify("");
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("[data-busy]")) {
      [button.textContent, button.dataset.busy] = [button.dataset.busy, button.textContent];
    }
  }
});

// Show times in the reader's time zone; without JavaScript they are in UTC.
function localTimes() {
  for (const time of document.querySelectorAll("time[data-local]")) {
    const options = { dateStyle: "medium", timeStyle: "short" };
    time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, options);
    delete time.dataset.local;
  }
}
localTimes();
document.addEventListener("renewed", localTimes);
document.addEventListener("htmx:afterSettle", localTimes);

// A page that waits for results loads itself again, but not while somebody corrects a value.
function loadAgain() {
  const waits = document.querySelector("[data-reload]");
  if (waits && !document.querySelector("main td details[open]")) location.reload();
  else if (waits) setTimeout(loadAgain, 1000 * Number(waits.dataset.reload));
}
const waits = document.querySelector("[data-reload]");
if (waits) setTimeout(loadAgain, 1000 * Number(waits.dataset.reload));

// What was not saved is said, with the remedy: sign in again, or take over the new secret of a server begun anew.
function say(name, link) {
  const note = document.getElementById("offline");
  note.replaceChildren(words(name));
  if (link) note.append(" ", link);
  note.hidden = false;
}

function signedOut() {
  const link = document.createElement("a");
  link.href = `/login?to=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = words("sign in");
  say("signed out", link);
}

document.addEventListener("signed-out", signedOut);

async function renewTokens() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return false;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const token = fresh.querySelector("[name=csrf_token]")?.value;
  if (!token) return false;
  for (const field of document.querySelectorAll("[name=csrf_token]")) field.value = token;
  for (const form of document.querySelectorAll("[hx-headers]")) {
    form.setAttribute("hx-headers", JSON.stringify({ "X-CSRF-Token": token }));
  }
  return true;
}

const again = new WeakSet();
document.addEventListener("htmx:responseError", async (event) => {
  const { xhr, elt, requestConfig } = event.detail;
  if (xhr.status === 401) return signedOut();
  if (xhr.status === 403 && !again.has(elt) && (await renewTokens())) {
    again.add(elt);
    if (elt.matches("[data-line]")) return htmx.trigger(elt, "save");
    return htmx.ajax("POST", requestConfig.path, { source: elt, swap: "none" });
  }
  return say("not saved");
});
document.addEventListener("htmx:sendError", () => say("offline"));
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) document.getElementById("offline").hidden = true;
});
