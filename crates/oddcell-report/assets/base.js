// The data, the state of the page, and the functions that put things into the document, always as text.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

// A row is a list; see `Row` in data.rs.
const rows = data.oddest.map((list, rank) => {
  const [row, score, p, truth, cells, noise, details, reasons, called] = list;
  const byColumn = new Map(details.map((detail) => [detail[0], detailOf(detail)]));
  // The cells that make the row odd by column, in the order of their repair; without sets, no cell is called.
  const set = new Map((called ?? []).map((cell) => [cell[0], calledOf(cell)]));
  const top = data.sets ? [...set.keys()] : topColumns(noise);
  return { row, score, p, truth, cells, noise, details: byColumn, reasons, set, rank, top };
});

const state = {
  mode: data.thresholds.mode,
  stop: data.thresholds.stop,
  sort: { key: "score", descending: true },
  which: "odd",
  reason: "",
  search: "",
  allColumns: false,
  shown: 25,
  shownCells: 25,
  open: new Set(),
};

// What a row tells of one column; see `Detail` in data.rs.
function detailOf([, amount, place, share, emptiness, tells, expected]) {
  return { amount, place, share, emptiness, tells, expected };
}

// A called cell; see `Called` in data.rs.
function calledOf([, p, expected, reason]) {
  if (expected === null) return { p, reason, expected };
  const [value, low, high, levels, sure] = expected;
  return { p, reason, expected: { value, low, high, levels, sure } };
}

// The three columns with the most noise, most first.
function topColumns(noise) {
  const order = noise.map((_, column) => column).filter((column) => noise[column] > 0);
  return order.sort((a, b) => noise[b] - noise[a]).slice(0, 3);
}

// el("td", { class: "cell", "data-x": 1, onclick }, "text", child)
function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}
function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}
function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key.startsWith("--")) node.style.setProperty(key, value);
    else if (value !== null && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

const count = (n) => n.toLocaleString("en");
const counted = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;
// About four digits; very small and very large numbers use powers of ten.
function figure(x) {
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return x.toExponential(2);
  return x.toFixed(size >= 100 ? 1 : size >= 1 ? 2 : 4);
}
function probability(p) {
  return p >= 0.001 ? p.toFixed(3) : p.toExponential(0).replace("+", "");
}
const percent = (share) => `${+(100 * share).toPrecision(3)}\u00a0%`;

// Characters that are invisible or reverse the text after them are shown by their code.
const HIDDEN = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
const NAMES = { "\n": "↵", "\r": "␍", "\t": "⇥" };
function visible(text) {
  return text.replace(HIDDEN, (c) => NAMES[c] ?? `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
// A cell is null, its text, or the start of its text and the length of all of it.
const textOf = (cell) => (cell === null ? "" : Array.isArray(cell) ? cell[0] : cell);
const isCut = (cell) => Array.isArray(cell);
function shownText(cell, most = 60) {
  const text = textOf(cell);
  if (text.trim() === "") return el("span", { class: "empty" }, "empty");
  const letters = Array.from(text);
  const cut = isCut(cell) || letters.length > most;
  const bdi = el("bdi", {}, visible(letters.slice(0, most).join("")) + (cut ? "…" : ""));
  if (cut) bdi.title = isCut(cell) ? `Shortened from ${count(cell[1])} characters` : visible(text);
  return bdi;
}
// Noise is a distance in standard deviations, or a surprise, which has no unit.
const isDistance = data.unit === "sd";
const noiseName = isDistance ? "noise" : "surprise";
// The noise of a cell in words: "3.2 sd", or "6.7".
const noiseText = (noise) => `${noise.toFixed(1)}${isDistance ? " sd" : ""}`;
// The cells that make a row odd; a row that is not odd has none.
const NO_CELLS = new Map();
const setOf = (row) => (isOdd(row) ? row.set : NO_CELLS);
// With sets, exactly the cells of the row's set are odd; without, all with enough noise.
const isOddCell = (row, column) => (data.sets ? setOf(row).has(column) : (row.noise[column] ?? 0) >= data.oddFrom);
const nameOf = (column) => visible(textOf(data.columns[column].name));
