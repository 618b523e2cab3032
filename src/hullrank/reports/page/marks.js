"use strict";
// What every picture is made of. Everything is written as text or attributes; nothing from the data is parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";
const RAMP = [[108, 72, 168], [60, 104, 170], [33, 140, 141], [70, 172, 105], [150, 182, 50]];

function put(parent, tag, attributes = {}, text = null) {
  const svg = parent instanceof SVGElement || tag === "svg";
  const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== null) node.textContent = text;
  parent.append(node);
  return node;
}

function section(parent, title, id) {
  const node = put(parent, "section", { "aria-labelledby": id + "-title", id });
  put(node, "h2", { id: id + "-title" }, title);
  return node;
}

// A table in a box that scrolls sideways; the first columns hold words, which are broken if they are long, the others numbers.
function table(parent, head, rows, words = 1) {
  const grid = put(put(parent, "div", { class: "scroll", tabindex: "0" }), "table");
  const top = put(put(grid, "thead"), "tr");
  head.forEach((name, i) => put(top, "th", { scope: "col", class: i < words ? "word" : "" }, name));
  const body = put(grid, "tbody");
  for (const row of rows) {
    const line = put(body, "tr");
    row.forEach((value, i) => put(line, "td", { class: i < words ? (/\S{15}/.test(value) ? "word long" : "word") : "" }, value));
  }
  return grid;
}

// Gives a file to the browser to save.
function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// A line that says what the marks of a picture mean; each entry has a mark and words.
function legend(parent, entries) {
  const list = put(parent, "ul", { class: "legend note" });
  for (const [mark, words] of entries) {
    const item = put(list, "li");
    put(item, "span", { class: `mark ${mark}`, "aria-hidden": "true" });
    put(item, "span", {}, words);
  }
}

// The colour of the grade with this code among n, as three numbers.
function mix(code, n) {
  const place = n > 1 ? (code / (n - 1)) * (RAMP.length - 1) : 1;
  const low = Math.min(Math.floor(place), RAMP.length - 2);
  return RAMP[low].map((v, i) => Math.round(v + (place - low) * (RAMP[low + 1][i] - v)));
}

const colour = (code, n) => `rgb(${mix(code, n).join(",")})`;
const inkOn = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 125 ? "#111" : "#fff");
const short = (text, most = 14) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
// Short names of all grades; numbered from the lowest where they would look alike.
const shortNames = (names, most = 14) => {
  const cut = names.map((name) => short(name, most));
  return new Set(cut).size === cut.length ? cut : names.map((name, i) => short(`${i + 1}. ${name}`, most));
};
const digits = (value) => (value === null || value === undefined ? "∞" : Number(value).toPrecision(4));
const jitter = (i) => (((i * 2654435761) >>> 0) / 2 ** 32 - 0.5) * 0.5;
const widthFor = (node) => Math.min(Math.max(node.clientWidth - 24, 300), 960);

// At most so many multiples of 1, 2 or 5 times a power of ten.
function roundNumbers(from, to, most) {
  const power = 10 ** Math.floor(Math.log10((to - from) / most));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => Math.floor(to / s) - Math.ceil(from / s) < most);
  const values = [];
  for (let k = Math.ceil(from / step); k <= to / step; k++) values.push(Number((k * step).toPrecision(6)));
  return values;
}

// What the i-th shown row holds beside its grade and score, where the report was given a table.
function cellsOf(facts, i) {
  const { columns, cells } = facts.shown;
  return columns.length ? "; " + columns.map((name, j) => `${name} ${cells[i][j]}`).join(", ") : "";
}
