// Worth against money: the last batch against the best the money could have bought.

import { CONFIG, axis, colour, layout } from "./figure-style.js";

export function drawFront(element, { batch, greedy, search, texts }) {
  const hover = "%{y:.1f}, %{x:,.2f}<extra></extra>";
  const traces = [
    {
      x: greedy.money, y: greedy.worth, mode: "lines", name: texts.greedy,
      line: { color: colour("known"), width: 2.5, shape: "hv" }, hovertemplate: hover,
    },
  ];
  if (search) {
    traces.push({
      x: search.money, y: search.worth, mode: "lines+markers", name: texts.search,
      line: { color: colour("sure"), width: 2, dash: "dash" }, marker: { size: 5 }, hovertemplate: hover,
    });
  }
  traces.push({
    x: [batch.money], y: [batch.worth], mode: "markers", name: texts.batch,
    marker: { color: colour("bought"), size: 15, symbol: "diamond", line: { color: colour("ink"), width: 1.5 } },
    hovertemplate: hover,
  });
  return Plotly.react(
    element,
    traces,
    layout({
      xaxis: axis(texts.money, { rangemode: "tozero" }),
      yaxis: axis(texts.worth, { rangemode: "tozero" }),
    }),
    CONFIG,
  );
}
