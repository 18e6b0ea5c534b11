// The worth and price of each column, side by side, best buy at the top.

import { CONFIG, axis, colour, isNarrow, layout, short, text } from "./figure-style.js";

const MOST = 25;

export function drawColumns(element, { columns, texts }) {
  const narrow = isNarrow(element);
  const shown = columns.filter((column) => column.worth !== null).slice(0, MOST).reverse();
  const at = shown.map((_, place) => place);
  const names = shown.map((column) => text(column.name));
  element.style.height = `${Math.max(220, 110 + 30 * shown.length)}px`;
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
    hovertemplate: "%{customdata}: %{x:.2f}<extra></extra>",
  };
  const ticks = { tickvals: at, ticktext: shown.map((column) => short(column.name, narrow ? 12 : 24)) };
  return Plotly.react(
    element,
    [worth, price],
    layout({
      showlegend: false,
      margin: { l: 20, r: 12, t: 8, b: 52 },
      xaxis: axis(texts.worth, { domain: [0, 0.58], rangemode: "tozero" }),
      xaxis2: axis(texts.price, { domain: [0.64, 1], rangemode: "tozero" }),
      yaxis: axis("", { ...ticks, range: [-0.6, shown.length - 0.4], showgrid: false }),
    }),
    CONFIG,
  );
}
