// The table as a map. Arrow keys select a line and Enter opens it; so does a click.

import { CONFIG, axis, colour, isNarrow, layout, short, text } from "./figure-style.js";
import { words } from "./texts.js";

const ESTIMATED = 100;
const OUT = 1000;
const MOST_MARKED = 3000;

function describe(code) {
  if (code <= 2) return words(["known", "bought", "not available"][code]);
  return words(code >= OUT ? "asked for and unsure" : "unsure", { share: (code % OUT) - ESTIMATED });
}

function singleRows(map) {
  const place = (code) => (code < ESTIMATED ? code : 3 + ((code % OUT) - ESTIMATED) / 100);
  const [known, bought, refused, sure, unsure] = ["known", "bought", "refused", "sure", "unsure"].map(colour);
  const out = { x: [], y: [] };
  map.codes.forEach((codes, i) =>
    codes.forEach((code, j) => {
      if (code >= OUT && out.x.length < MOST_MARKED) {
        out.x.push(j);
        out.y.push(i);
      }
    }),
  );
  return {
    z: map.codes.map((codes) => codes.map(place)),
    zmax: 4,
    colorscale: [
      [0, known], [0.125, known], [0.125, bought], [0.375, bought], [0.375, refused], [0.625, refused],
      [0.625, sure], [0.75, sure], [1, unsure],
    ],
    words: map.codes.map((codes, i) =>
      codes.map((code, j) => `${text(map.ids[i])}, ${text(map.columns[j])}: ${describe(code)}`),
    ),
    names: map.ids,
    out,
  };
}

function groups(map) {
  const rows = (g) => Math.min(map.group, map.last - map.starts[g]);
  const name = (g) => words("rows", { first: map.starts[g] + 1, last: map.starts[g] + rows(g) });
  return {
    z: map.starts.map((_, g) =>
      map.columns.map((_, j) => (map.refused[g][j] + map.unsure[g][j] * map.estimated[g][j]) / rows(g)),
    ),
    zmax: 1,
    colorscale: [[0, colour("known")], [1, colour("unsure")]],
    words: map.starts.map((_, g) =>
      map.columns.map(
        (column, j) =>
          `${name(g)}, ${text(column)}:<br>` +
          words("counted", {
            known: map.known[g][j], bought: map.bought[g][j], missing: map.estimated[g][j],
            share: Math.round(100 * map.unsure[g][j]), refused: map.refused[g][j], out: map.out[g][j],
          }),
      ),
    ),
    names: map.starts.map((_, g) => name(g)),
    out: { x: [], y: [] },
  };
}

function ticks(names, most, length) {
  const step = Math.max(1, Math.ceil(names.length / most));
  const tickvals = names.map((_, place) => place).filter((place) => place % step === 0);
  return { tickvals, ticktext: tickvals.map((place) => short(names[place], length)) };
}

export async function drawMap(element, map) {
  const single = map.group === 1;
  const found = single ? singleRows(map) : groups(map);
  const narrow = isNarrow(element);
  const fits = map.columns.length <= 60;
  const traces = [
    {
      type: "heatmap", z: found.z, zmin: 0, zmax: found.zmax, colorscale: found.colorscale, showscale: false,
      text: found.words, hovertemplate: "%{text}<extra></extra>", xgap: fits ? 1 : 0, ygap: found.z.length <= 60 ? 1 : 0,
    },
    {
      ...found.out, mode: "markers", hoverinfo: "skip",
      marker: { symbol: "square-open", size: 8, color: colour("out"), line: { width: 2.5 } },
    },
  ];
  await Plotly.react(
    element,
    traces,
    layout({
      showlegend: false,
      margin: { l: 20, r: 8, t: 8, b: 40 },
      xaxis: axis("", { ...ticks(map.columns, narrow ? 12 : 40, narrow ? 10 : 18), tickangle: -55, showgrid: false }),
      yaxis: axis("", {
        ...ticks(found.names, 18, narrow ? 10 : 22), range: [found.z.length - 0.5, -0.5], showgrid: false,
      }),
    }),
    CONFIG,
  );
  listen(element, map, found);
}

function address(element, map, line) {
  if (map.group === 1) return element.dataset.row.replace("PLACE", map.first + line);
  const first = map.starts[line];
  return element.dataset.part.replace("FIRST", first).replace("LAST", Math.min(first + map.group, map.last));
}

function listen(element, map, found) {
  let line = -1;
  element.removeAllListeners("plotly_click");
  element.on("plotly_click", (event) => location.assign(address(element, map, event.points[0].pointIndex[0])));
  element.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (event.key === "Enter" && line >= 0) {
      location.assign(address(element, map, line));
    } else if (step || event.key === "Home" || event.key === "End") {
      event.preventDefault();
      const wanted = event.key === "Home" ? 0 : event.key === "End" ? found.z.length - 1 : line + step;
      line = Math.max(0, Math.min(found.z.length - 1, wanted));
      choose(element, found, line);
    }
  };
}

function choose(element, found, line) {
  const box = { type: "rect", xref: "paper", x0: 0, x1: 1, y0: line - 0.5, y1: line + 0.5 };
  Plotly.relayout(element, { shapes: [{ ...box, line: { color: colour("ink"), width: 2 } }] });
  const words = document.getElementById(`${element.id}-chosen`);
  if (words) words.textContent = `${found.names[line]}. ${element.dataset.opensIt}`;
}
