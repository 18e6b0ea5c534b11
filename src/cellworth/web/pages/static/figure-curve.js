// The score against the money spent, with its intervals and the forecast.

import { CONFIG, axis, colour, faded, layout } from "./figure-style.js";

function band(x, low, high, fill, name) {
  return {
    x: [...x, ...[...x].reverse()],
    y: [...high, ...[...low].reverse()],
    fill: "toself",
    fillcolor: fill,
    line: { width: 0 },
    mode: "lines",
    hoverinfo: "skip",
    name,
  };
}

export function drawCurve(element, { metric, history, projection, budget, texts }) {
  const x = history.map((point) => point.spent);
  const score = history.map((point) => point.score);
  const start = score[0].value;
  const traces = [
    band(x, score.map((s) => s.low), score.map((s) => s.high), faded("known", 0.12), texts.interval),
    band(
      x,
      history.map((point) => start + point.gain.low),
      history.map((point) => start + point.gain.high),
      faded("known", 0.28),
      texts.change,
    ),
    {
      x,
      y: score.map((s) => s.value),
      mode: "lines+markers",
      cliponaxis: false, // the first point lies on the axis
      line: { color: colour("known"), width: 2.5 },
      marker: { size: 7 },
      name: metric,
      customdata: history.map((point) => [point.score.low, point.score.high, point.bought]),
      hovertemplate:
        `${metric} %{y:.3f} (%{customdata[0]:.3f} ${texts.to} %{customdata[1]:.3f})` +
        `<br>%{x:,.2f} ${texts.money}, %{customdata[2]} ${texts.cells}<extra></extra>`,
    },
  ];
  if (projection) {
    traces.push(band(projection.money, projection.low, projection.high, faded("bought", 0.22), texts["of forecast"]), {
      x: projection.money,
      y: projection.score,
      mode: "lines",
      line: { color: colour("bought"), width: 2.5, dash: "dash" },
      name: texts.forecast,
      hovertemplate: `${texts.expected} %{y:.3f}, %{x:,.2f}<extra></extra>`,
    });
  }
  const end = projection ? projection.money[projection.money.length - 1] : x[x.length - 1];
  const shapes = [];
  if (budget !== null && budget <= 1.2 * end) {
    shapes.push({
      type: "line", x0: budget, x1: budget, yref: "paper", y0: 0, y1: 1,
      line: { color: colour("faint"), width: 1, dash: "dot" },
    });
  }
  return Plotly.react(
    element,
    traces,
    layout({ xaxis: axis(texts.money, { rangemode: "tozero" }), yaxis: axis(metric), shapes }),
    CONFIG,
  );
}
