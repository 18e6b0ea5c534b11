// Loaded by every page.

import "./keys.js";
import "./live.js";

// Submit a form only once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  if (event.defaultPrevented || form.method === "dialog") return;
  form.dataset.sent = "yes";
  for (const button of form.querySelectorAll("[data-busy]")) {
    [button.textContent, button.dataset.busy] = [button.dataset.busy, button.textContent];
  }
});
// Make forms usable again when the user returns to the page.
window.addEventListener("pageshow", () => {
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
    time.textContent = new Date(time.dateTime).toLocaleString(undefined, options);
    delete time.dataset.local;
  }
}
localTimes();
document.addEventListener("renewed", localTimes);
