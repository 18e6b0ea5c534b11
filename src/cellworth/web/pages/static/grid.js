// The grid shows any number of rows: only those in sight are in the page, the rest is space of their height.

const grid = document.getElementById("grid");
const LEAST = 40; // rows kept above and below those in sight
const STEP = 50; // rows asked for at once

if (grid) {
  const body = grid.querySelector("tbody");
  const total = Number(grid.dataset.total);
  const example = body.querySelector("tr");
  const columns = example.cells.length;
  const height = example.getBoundingClientRect().height;
  const rows = new Map();
  const asked = new Set();
  const above = space();
  const below = space();
  for (const row of body.rows) rows.set(Number(row.ariaRowIndex) - 2, row);
  let busy = null;

  function space() {
    const row = document.createElement("tr");
    row.className = "space";
    row.ariaHidden = "true";
    row.append(document.createElement("td"));
    row.firstChild.colSpan = columns;
    return row;
  }

  function made(position, data) {
    const row = example.cloneNode(true);
    row.dataset.place = data.place;
    row.ariaRowIndex = position + 2;
    const link = row.cells[0].querySelector("a");
    link.href = grid.dataset.row + data.place;
    link.textContent = data.id;
    data.cells.forEach(([status, text], j) => {
      const cell = row.cells[j + 1];
      cell.className = status === "missing" ? "estimated" : status;
      cell.replaceChildren();
      if (text || status === "out") {
        const name = grid.querySelectorAll("thead th")[j + 1].dataset.name;
        const to = document.createElement("a");
        to.href = `${grid.dataset.row}${data.place}?column=${encodeURIComponent(name)}`;
        to.textContent = text || "…";
        cell.append(to);
      }
    });
    return row;
  }

  async function load(first) {
    if (asked.has(first)) return;
    asked.add(first);
    const answer = await fetch(`${grid.dataset.rows}&first=${first}&count=${STEP}`);
    if (!answer.ok) return asked.delete(first);
    const data = await answer.json();
    data.rows.forEach((row, k) => {
      if (!rows.has(data.first + k)) rows.set(data.first + k, made(data.first + k, row));
    });
    show();
    return guess(data.rows.map((row) => row.place));
  }

  async function guess(places) {
    if (!places.length) return;
    const query = places.map((place) => `place=${place}`).join("&");
    const answer = await fetch(`${grid.dataset.guessesOf}?${query}`);
    if (!answer.ok) return;
    const found = await answer.json();
    for (const row of rows.values()) {
      const texts = found[row.dataset.place];
      texts?.forEach((text, j) => {
        const cell = row.cells[j + 1];
        if (text === null || !cell.matches(".estimated, .out, .refused")) return;
        (cell.querySelector("a") ?? cell).textContent = text;
        cell.title = text;
      });
    }
  }

  function show() {
    const first = Math.max(0, Math.floor(grid.scrollTop / height) - LEAST);
    const last = Math.min(total, Math.ceil((grid.scrollTop + grid.clientHeight) / height) + LEAST);
    const active = document.activeElement;
    const shown = [];
    for (let k = first; k < last; k += 1) {
      if (rows.has(k)) shown.push(rows.get(k));
      else load(STEP * Math.floor(k / STEP));
    }
    const held = body.contains(active);
    const begin = shown.length ? Number(shown[0].ariaRowIndex) - 2 : first;
    above.firstChild.style.height = `${begin * height}px`;
    below.firstChild.style.height = `${Math.max(0, total - begin - shown.length) * height}px`;
    body.replaceChildren(above, ...shown, below);
    if (held) (body.contains(active) ? active : grid).focus({ preventScroll: true });
  }

  grid.addEventListener("scroll", () => {
    clearTimeout(busy);
    busy = setTimeout(show, 60);
  });
  document.getElementById("filter-missing").addEventListener("change", (event) => event.target.form.requestSubmit());
  for (let k = 0; k + STEP <= rows.size; k += STEP) asked.add(k);
  if (total > rows.size) show();
  guess([...rows.values()].map((row) => Number(row.dataset.place)));
}
