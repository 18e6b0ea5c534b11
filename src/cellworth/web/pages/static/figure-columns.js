// The worth and price of each column, side by side, best buy at the top.

import { CONFIG, axis, colour, isNarrow, layout, short, text } from "./figure-style.js";

const MOST = 25;

export function drawColumns(element, { columns, texts }) {
  const narrow = isNarrow(element);
  const shown = columns.filter((column) => column.worth !== null).slice(0, MOST).reverse();
  const at = shown.map((_, place) => place);
  const names = shown.map((column) => text(column.name));
  const rows = Math.max(110, 30 * shown.length);
  element.style.height = `${narrow ? 2 * rows + 150 : rows + 110}px`; // one below the other on a telephone
  const worth = {
    x: shown.map((column) => column.worth),
    y: at,
    customdata: names,
    mode: "markers",
    marker: { color: colour("known"), size: 10 },
    error_x: {
      type: "data",
      symmetric: false,
      array: shown.map((column) => Math.max(0, column.worth_high - column.worth)),
      arrayminus: shown.map((column) => Math.max(0, column.worth - column.worth_low)),
      color: colour("known"),
      thickness: 3,
      width: 0,
    },
    hovertemplate: "%{customdata}: %{x:.2f}<extra></extra>",
  };
  const price = {
    x: shown.map((column) => column.price),
    y: at,
    customdata: names,
    type: "bar",
    orientation: "h",
    marker: { color: colour("bought") },
    width: 0.5,
    xaxis: "x2",
    yaxis: narrow ? "y2" : "y",
    hovertemplate: "%{customdata}: %{x:.2f}<extra></extra>",
  };
  const ticks = { tickvals: at, ticktext: shown.map((column) => short(column.name, narrow ? 12 : 24)) };
  const rowsAt = { ...ticks, range: [-0.6, shown.length - 0.4], showgrid: false };
  const beside = {
    xaxis: axis(texts.worth, { domain: [0, 0.58], rangemode: "tozero" }),
    xaxis2: axis(texts.price, { domain: [0.64, 1], rangemode: "tozero" }),
    yaxis: axis("", rowsAt),
  };
  const below = {
    xaxis: axis(texts.worth, { rangemode: "tozero", anchor: "y" }),
    xaxis2: axis(texts.price, { rangemode: "tozero", anchor: "y2" }),
    yaxis: axis("", { ...rowsAt, domain: [0.6, 1], anchor: "x" }),
    yaxis2: axis("", { ...rowsAt, domain: [0, 0.4], anchor: "x2" }),
  };
  return Plotly.react(
    element,
    [worth, price],
    layout({
      showlegend: false,
      margin: { l: 20, r: 12, t: 8, b: 52 },
      ...(narrow ? below : beside),
    }),
    CONFIG,
  );
}
