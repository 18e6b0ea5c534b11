// Keyboard shortcuts. The dialog that "?" opens can turn them off; the browser remembers the choice.

const GO = { o: "overview", q: "queue", t: "table", c: "columns", l: "ledger", m: "manage" };
const dialog = document.getElementById("shortcuts");
const choice = document.getElementById("shortcuts-on");
let afterG = 0;

function isOn() {
  return localStorage.getItem("cellworth-shortcuts") !== "off";
}

function move(step) {
  const fields = [...document.querySelectorAll("[data-line]")]
    .map((line) => line.querySelector("[name^='value.']:checked, [data-value]:enabled"))
    .filter(Boolean);
  if (!fields.length) return;
  const line = document.activeElement?.closest("[data-line]");
  const here = fields.findIndex((field) => line?.contains(field));
  const next = here < 0 ? (step > 0 ? 0 : fields.length - 1) : Math.min(fields.length - 1, Math.max(0, here + step));
  fields[next].focus();
}

function press(name) {
  const line = document.activeElement?.closest("[data-line]");
  if (name === "refuse" && line?.querySelector("details.more")) {
    line.querySelector("details.more").open = true;
    line.querySelector("[data-comment]").focus();
  } else {
    line?.querySelector(`[data-${name}]`)?.click();
  }
}

function isWriting(target) {
  return target.matches?.("input:not([type=checkbox]):not([type=radio]), select, textarea") ?? false;
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
