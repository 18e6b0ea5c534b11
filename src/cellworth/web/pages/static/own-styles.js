// Lets Plotly's own style rules pass our policy, which forbids style elements in the page. The same rules
// through the style sheet interface of the browser are allowed: only a script that came from this server can
// use it. Must run before plotly.min.js.

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
