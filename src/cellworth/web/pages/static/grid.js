// The grid shows any number of rows: only those in sight are in the page, the rest is space of their height.

const grid = document.getElementById("grid");
const LEAST = 30; // rows kept above and below those in sight
const NEAR = 10; // rows left of them when they are renewed
const STEP = 50; // rows asked for at once
const QUIET = 250; // milliseconds without scrolling before guesses are worked out

if (grid) {
  const body = grid.querySelector("tbody");
  const total = Number(grid.dataset.total);
  const example = body.querySelector("tr");
  const columns = example.cells.length;
  const height = example.getBoundingClientRect().height;
  const rows = new Map();
  const asked = new Map();
  const above = space();
  const below = space();
  for (const row of body.rows) rows.set(Number(row.ariaRowIndex) - 2, row);
  let busy = null;
  let quiet = null;
  let drawn = [0, 0];

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

  // Rows that are asked for, by the first of their block; a request for rows out of sight again is given up.
  async function load(first) {
    if (asked.has(first)) return;
    const gone = new AbortController();
    asked.set(first, gone);
    try {
      const answer = await fetch(`${grid.dataset.rows}&first=${first}&count=${STEP}`, { signal: gone.signal });
      if (!answer.ok) throw new Error(String(answer.status));
      const data = await answer.json();
      data.rows.forEach((row, k) => {
        if (!rows.has(data.first + k)) rows.set(data.first + k, made(data.first + k, row));
      });
      asked.set(first, null);
      show();
    } catch (error) {
      asked.delete(first);
      if (error.name !== "AbortError") console.warn(error);
    }
  }

  // Guesses are worked out for the rows in sight alone, once the reader has stopped there.
  async function guess() {
    const places = [...inSight()].filter((row) => !row.dataset.guessed).map((row) => row.dataset.place);
    if (!places.length) return;
    for (const row of inSight()) row.dataset.guessed = "yes";
    const answer = await fetch(`${grid.dataset.guessesOf}?${places.map((place) => `place=${place}`).join("&")}`);
    if (!answer.ok) return;
    const found = await answer.json();
    for (const row of rows.values()) {
      const texts = found[row.dataset.place];
      texts?.forEach((text, j) => {
        const cell = row.cells[j + 1];
        if (text === null || !cell.matches(".estimated, .out, .refused")) return;
        [(cell.querySelector("a") ?? cell).textContent, cell.title] = text;
      });
    }
  }

  function range(extra) {
    const top = Math.floor(grid.scrollTop / height) - extra;
    const bottom = Math.ceil((grid.scrollTop + grid.clientHeight) / height) + extra;
    return [Math.max(0, top), Math.min(total, bottom)];
  }

  function* inSight() {
    const [first, last] = range(0);
    for (let k = first; k < last; k += 1) if (rows.has(k)) yield rows.get(k);
  }

  // Rows are put into the page only when those there are about to end: laying out a table is what costs.
  function follow() {
    const [first, last] = range(NEAR);
    const [begin, end] = drawn;
    if (first < begin || last > end) show();
    else later();
  }

  function later() {
    clearTimeout(quiet);
    quiet = setTimeout(() => guess().catch(console.warn), QUIET);
  }

  function show() {
    const [first, last] = range(LEAST);
    const active = document.activeElement;
    const shown = [];
    let begin = first;
    for (let k = first; k < last; k += 1) {
      if (rows.has(k)) {
        if (!shown.length) begin = k;
        shown.push(rows.get(k));
      } else {
        load(STEP * Math.floor(k / STEP));
        if (shown.length) break; // what follows comes when these are there: no row may stand in another's place
      }
    }
    const [near, far] = [first - 2 * STEP, last + 2 * STEP];
    for (const [block, gone] of asked) if (gone && (block + STEP < near || block > far)) gone.abort();
    const held = body.contains(active);
    above.firstChild.style.height = `${begin * height}px`;
    below.firstChild.style.height = `${Math.max(0, total - begin - shown.length) * height}px`;
    body.replaceChildren(above, ...shown, below);
    grid.classList.toggle("waiting", !shown.length);
    if (held) (body.contains(active) ? active : grid).focus({ preventScroll: true });
    drawn = [begin, begin + shown.length];
    later();
  }

  grid.addEventListener("scroll", () => {
    busy ??= requestAnimationFrame(() => {
      busy = null;
      follow();
    });
  });
  for (const name of ["filter-missing", "filter-status"]) {
    document.getElementById(name).addEventListener("change", (event) => event.target.form.requestSubmit());
  }
  for (let k = 0; k + STEP <= rows.size; k += STEP) asked.set(k, null);
  show();
}
