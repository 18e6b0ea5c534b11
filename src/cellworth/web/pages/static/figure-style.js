// What the figures share: the style sheet's colours, plain axes, and no buttons.

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function faded(name, share) {
  // Faint colours are harder to see on a dark background.
  share *= window.matchMedia("(prefers-color-scheme: dark)").matches ? 1.8 : 1;
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour(name).slice(at, at + 2), 16));
  return `rgba(${r}, ${g}, ${b}, ${share})`;
}

export function axis(title, more = {}) {
  return {
    title: { text: title, font: { size: 13 } },
    color: colour("faint"),
    gridcolor: colour("rule"),
    zeroline: false,
    fixedrange: true,
    automargin: true,
    ...more,
  };
}

export function layout(more = {}) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: 'system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif', color: colour("ink"), size: 13 },
    margin: { l: 56, r: 12, t: 12, b: 48 },
    separators: document.documentElement.lang === "de" ? ",." : ".,", // of decimals and thousands
    dragmode: false,
    hoverlabel: { bgcolor: colour("shade"), bordercolor: colour("edge"), font: { color: colour("ink") } },
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0, font: { size: 12 } },
    ...more,
  };
}

export const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };

// Plotly interprets some HTML in text, so users' names must be escaped.
export function text(name) {
  return String(name).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function short(name, most) {
  const characters = Array.from(String(name));
  return text(characters.length <= most ? name : `${characters.slice(0, most - 1).join("")}…`);
}

export function isNarrow(element) {
  return element.clientWidth < 520;
}
