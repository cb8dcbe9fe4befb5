// What all drawings share. Texts reach the document as text nodes only: nothing here parses HTML.
const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function html(name, attributes, parent, text) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

// As quantity.py writes them.
function threeDigits(value) {
  return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
}

function seconds(time) {
  if (time >= 1) return threeDigits(time) + " s";
  return time * 1e3 >= 1 ? threeDigits(time * 1e3) + " ms" : threeDigits(time * 1e6) + " us";
}

function factor(value) {
  return value.toFixed(2) + "x";
}

function count(number, what) {
  return number + " " + what + (number === 1 ? "" : "s");
}

function shortened(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

// Told to screen readers, once the reader acted.
function say(text) {
  document.getElementById("said").textContent = text;
}

function geometricMean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
