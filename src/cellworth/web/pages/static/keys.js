// Keyboard shortcuts. The dialog that "?" opens can turn them off; the browser remembers the choice.

const GO = { o: "overview", q: "queue", t: "table", c: "columns", l: "ledger" };
const dialog = document.getElementById("shortcuts");
const choice = document.getElementById("shortcuts-on");
let afterG = 0;

function isOn() {
  return localStorage.getItem("cellworth-shortcuts") !== "off";
}

function move(step) {
  const cards = [...document.querySelectorAll("[data-card]")];
  if (!cards.length) return;
  const here = cards.findIndex((card) => card.contains(document.activeElement));
  const next = here < 0 ? (step > 0 ? 0 : cards.length - 1) : Math.min(cards.length - 1, Math.max(0, here + step));
  (cards[next].querySelector("[data-value]") ?? cards[next]).focus();
}

function press(name) {
  const card = document.activeElement?.closest("[data-card]");
  const target = card?.querySelector(`[data-key-action="${name}"]`);
  if (target?.localName === "details") {
    target.open = true;
    target.querySelector("input:not([type=hidden])")?.focus();
  } else {
    target?.click();
  }
}

function isWriting(target) {
  return target.matches?.("input:not([type=checkbox]), select, textarea") ?? false;
}

document.addEventListener("keydown", (event) => {
  if (!isOn() || event.ctrlKey || event.metaKey || dialog?.open) return;
  if (event.altKey) {
    const action = { KeyJ: () => move(1), KeyK: () => move(-1), KeyT: () => press("take"), KeyR: () => press("refuse") };
    if (action[event.code]) {
      event.preventDefault();
      action[event.code]();
    }
    return;
  }
  if (isWriting(event.target)) return;
  if (event.key === "?") {
    dialog?.showModal();
  } else if (event.key === "g") {
    afterG = event.timeStamp;
    return;
  } else if (event.timeStamp - afterG < 1500 && GO[event.key]) {
    document.querySelector(`[data-go="${GO[event.key]}"]`)?.click();
  } else if (event.key === "j" || event.key === "k") {
    event.preventDefault();
    move(event.key === "j" ? 1 : -1);
  } else if (event.key === "/") {
    const filter = document.getElementById("filter-row");
    if (filter) {
      event.preventDefault();
      filter.focus();
    }
  }
  afterG = 0;
});

if (choice) {
  choice.checked = isOn();
  choice.addEventListener("change", () => {
    localStorage.setItem("cellworth-shortcuts", choice.checked ? "on" : "off");
  });
}
for (const opener of document.querySelectorAll("[data-opens=shortcuts]")) {
  opener.hidden = false;
  opener.addEventListener("click", () => dialog?.showModal());
}
