// Makes Plotly's style rules comply with our policy, which forbids inline style elements. Adding the same
// rules through the browser's style sheet API is allowed: only scripts from this server can use it. Must run
// before plotly.min.js.

const appendChild = document.head.appendChild;
document.head.appendChild = function (node) {
  if (node.localName !== "style") {
    return appendChild.call(this, node);
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(node.textContent);
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(node, "sheet", { value: sheet });
  return node;
};
