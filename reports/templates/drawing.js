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
  if (time >= 1) return threeDigits(time) + "\u00a0s";
  return time * 1e3 >= 1 ? threeDigits(time * 1e3) + "\u00a0ms" : threeDigits(time * 1e6) + "\u00a0us";
}

function factor(value) {
  return value.toFixed(2) + "x";
}

function count(number, what) {
  return number + " " + what + (number === 1 ? "" : "s");
}

// As names.py does it: names of a family differ at their ends as often as at their beginnings.
function shortened(text, most) {
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return letters.slice(0, most - 1 - end).join("") + "…" + letters.slice(letters.length - end).join("");
}

// Beside a drawing, where a family's members stand together: what differs is at the beginning.
function beginning(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : letters.slice(0, most - 1).join("") + "…";
}

// Without a part that all names have in the middle, as in `stream-copy.medium.serial`.
function shortNames(names) {
  const parts = names.map((name) => name.split("."));
  const middle = parts[0][1];
  if (!parts.every((each) => each.length === 3 && each[1] === middle)) return names;
  return parts.map((each) => `${each[0]}.${each[2]}`);
}

// Told to screen readers, once the reader acted.
function say(text) {
  document.getElementById("said").textContent = text;
}

function geometricMean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
