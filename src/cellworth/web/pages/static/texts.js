// The texts that scripts show, in the language of the page.

const texts = JSON.parse(document.getElementById("texts").textContent);

export function words(name, values = {}) {
  return texts[name].replace(/%\((\w+)\)s/g, (_, key) => String(values[key] ?? ""));
}
