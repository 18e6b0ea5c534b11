// The scores of several campaigns against the money spent on them.

import { CONFIG, axis, colour, layout, short } from "./figure-style.js";

const COLOURS = ["known", "bought", "sure", "out", "refused", "bad"];
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];

export function drawCompare(element, { curves, texts }) {
  const traces = curves.map(({ name, metric, spent, score }, k) => ({
    x: spent,
    y: score,
    mode: "lines+markers",
    cliponaxis: false, // the first point lies on the axis
    line: { color: colour(COLOURS[k % COLOURS.length]), width: 2.5, dash: DASHES[k % DASHES.length] },
    marker: { size: 6 },
    name: short(name, 30),
    hovertemplate: `${short(name, 30)}<br>${metric} %{y:.3f}, %{x:,.2f} ${texts.money}<extra></extra>`,
  }));
  return Plotly.react(
    element,
    traces,
    layout({ xaxis: axis(texts.money, { rangemode: "tozero" }), yaxis: axis(texts.score), showlegend: true }),
    CONFIG,
  );
}
