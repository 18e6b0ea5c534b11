// Draws the figures of a page: each element with data-figure, from the JSON next to it or from data-source.

import { drawCurve } from "./figure-curve.js";
import { drawCompare } from "./figure-compare.js";
import { drawColumns } from "./figure-columns.js";
import { drawFront } from "./figure-front.js";
import { drawMap } from "./figure-map.js";
import { words } from "./texts.js";

const DRAW = { curve: drawCurve, compare: drawCompare, columns: drawColumns, front: drawFront, map: drawMap };

async function dataOf(element) {
  if (element.dataset.source) {
    const answer = await fetch(element.dataset.source, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`${element.dataset.source}: ${answer.status}`);
    return answer.json();
  }
  return JSON.parse(document.getElementById(`${element.id}-data`).textContent);
}

async function draw(element) {
  const data = await dataOf(element);
  element.classList.add("drawn");
  Plotly.purge(element); // otherwise it would draw into the children removed below
  element.replaceChildren();
  await DRAW[element.dataset.figure](element, data);
}

function drawAll(part = document) {
  for (const element of part.querySelectorAll("[data-figure]")) {
    draw(element).catch((error) => {
      element.classList.remove("drawn");
      element.textContent = words("no figure");
      console.warn(error);
    });
  }
}

drawAll();
document.addEventListener("renewed", (event) => event.detail.forEach((part) => drawAll(part)));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll());
