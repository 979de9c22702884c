// One opened row: its cells with value, noise as a bar, distance from normal, and normal range.
const DETAILED_CELLS = 12;

function openedRow(row, close) {
  const reasons = data.sets ? [...setOf(row).values()].map(({ reason }) => reason) : row.reasons;
  const why = reasons.map((reason) => el("li", {}, el("bdi", {}, visible(reason))));
  const actions = el("div", { class: "actions" },
    el("button", { type: "button", onclick: () => copyRow(row) }, "Copy as CSV"),
    el("button", { type: "button", onclick: close }, "Close"));
  const verdict = isOdd(row) ? "odd" : "not odd";
  const truth = row.truth === null ? "" : row.truth ? " · labeled anomalous" : " · labeled normal";
  return el("div", { class: "opened" },
    el("h3", {}, `Row ${count(row.row)}: ${verdict}, score ${figure(row.score)}, p-value ${probability(row.p)}${truth}`),
    why.length > 0 ? el("ul", { class: "why" }, ...why) : noSet(row),
    setOf(row).size > 0 ? cellsWithSet(row) : cellsOf(row),
    actions);
}

// Why no cell of a row is called. Rows that the rule of the run leaves far from odd were not searched for odd cells.
function noSet(row) {
  if (!data.sets) return null;
  return el("p", { class: "caption" }, isOdd(row) ?
    "No cell is called: no few repairs make this row normal, or it was too normal for the rule of this run to search it." :
    "This row is not odd; none of its cells is called.");
}

// The called cells first, with what should stand there; then the others, plain, in the order of the table.
function cellsWithSet(row) {
  const all = data.columns.map((_, column) => column);
  const others = all.filter((column) => !row.set.has(column));
  const body = el("tbody");
  const add = (columns) => body.append(...columns.map((column) => setLine(row, column)));
  const table = el("table", { class: "cells with-set" },
    el("caption", { class: "vh" }, `The cells of row ${row.row}, those that make it odd first`),
    el("thead", {}, el("tr", {}, ...["Column", "Value", "Expected", "p-value", "What is odd", "Normal"].map((name) => el("th", { scope: "col" }, name)))),
    body);
  add([...row.set.keys()]);
  const few = others.length <= DETAILED_CELLS + 4 ? others.length : Math.max(0, DETAILED_CELLS - row.set.size);
  add(others.slice(0, few));
  return few === others.length ? table : withMore(table, others.length + row.set.size, () => add(others.slice(few)));
}

function setLine(row, column) {
  const called = row.set.get(column);
  const detail = row.details.get(column);
  const expected = called?.expected;
  const should = !called ? [] : !expected ? ["unknown"] : [el("b", {}, expectedValue(expected, 200)), ...expectedMore(expected).map((words) => el("div", { class: "normal-text" }, el("bdi", {}, words)))];
  return el("tr", { class: called ? "is-called" : "" },
    el("th", { scope: "row" }, el("bdi", {}, nameOf(column))),
    valueCell(row, column),
    el("td", { "data-name": "expected" }, ...should),
    el("td", { "data-name": "p-value" }, called ? probability(called.p) : null),
    el("td", { "data-name": "odd" }, ...(called ? whyCalled(row, column, detail) : [])),
    normalOf(column, detail));
}

// What is odd about a called cell.
function whyCalled(row, column, detail) {
  const noise = row.noise[column] ?? null;
  if (!isDistance || noise === null || !detail || detail.emptiness || detail.amount === "–") return whyOdd(detail, true, textOf(row.cells[column]).trim() === "");
  const tells = detail.tells ? `, ${visible(detail.tells)}` : "";
  return [`${noiseText(noise)} off (${detail.amount})`, el("bdi", { class: "normal-text" }, tells)];
}

// A table of which more lines can be shown.
function withMore(table, n, add) {
  const more = el("button", { type: "button", class: "quiet all-cells" }, `Show all ${count(n)} columns`);
  more.addEventListener("click", () => {
    add();
    more.remove();
  });
  return el("div", {}, table, more);
}

// The columns by noise, most first; columns that were not judged come last.
function cellsOf(row) {
  const noiseOf = (column) => row.noise[column] ?? -1;
  const order = data.columns.map((_, column) => column).sort((a, b) => noiseOf(b) - noiseOf(a) || a - b);
  const most = Math.max(4 * data.oddFrom, ...row.noise.map((noise) => noise ?? 0));
  const body = el("tbody");
  const add = (columns) => body.append(...columns.map((column) => cellLine(row, column, most)));
  const [noise, why] = isDistance ? ["Noise", "Off by"] : ["Surprise", "What is odd"];
  const head = data.cells ? ["Column", "Value", noise, why, "Normal"] : ["Column", "Value", "Normal"];
  const table = el("table", { class: isDistance ? "cells" : "cells in-words" },
    el("caption", { class: "vh" }, `The cells of row ${row.row}, most noise first`),
    el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
    body);
  const few = order.length <= DETAILED_CELLS + 4 ? order.length : DETAILED_CELLS;
  add(order.slice(0, few));
  return few === order.length ? table : withMore(table, order.length, () => add(order.slice(few)));
}

function cellLine(row, column, most) {
  const noise = row.noise[column] ?? null;
  const detail = row.details.get(column);
  const odd = isOddCell(row, column);
  const line = el("tr", { class: odd ? "is-odd" : "" }, el("th", { scope: "row" }, el("bdi", {}, nameOf(column))),
    valueCell(row, column, odd ? expectedText(detail?.expected) : null));
  if (data.cells) {
    line.append(
      noise === null ? el("td", { class: "noise empty" }, "not judged")
        : el("td", { class: "noise" }, el("span", { class: "track", "aria-hidden": "true" }, el("i", { "--share": (100 * noise) / most })),
            el("span", { class: "sds" }, noiseText(noise))),
      el("td", { "data-name": isDistance ? "off by" : "odd" }, ...whyOdd(detail, odd, textOf(row.cells[column]).trim() === "")));
  }
  line.append(normalOf(column, detail));
  return line;
}

// The value of a cell, and anything below it.
function valueCell(row, column, below = null) {
  const cell = row.cells[column];
  return el("td", {}, shownText(cell, 200), isCut(cell) ? el("span", { class: "normal-text" }, ` (${count(cell[1])} characters)`) : null, below);
}

// What is normal in the column, and where the cell lies.
function normalOf(column, detail) {
  const { kind, normal, nulls } = data.columns[column];
  const { place, share } = detail ?? {};
  const seen = share === undefined || share === null ? "" : share === 0 ? "; this value never" : `; this value ${percent(share)}`;
  const empty = nulls > 0 ? `; empty ${percent(nulls)}` : "";
  return el("td", { "data-name": "normal" }, strip(place),
    el("bdi", { class: "normal-text" }, kind === null ? "not judged" : visible(normal) + seen + empty));
}

// How far off the cell is, or what else is odd about it.
function whyOdd(detail, odd, empty) {
  if (detail === undefined) return ["–"];
  const { amount, emptiness } = detail;
  const tells = odd ? detail.tells : null;
  const text = (words) => el("bdi", { class: "normal-text" }, visible(words));
  const unexpected = emptiness && odd ? (empty ? "unexpectedly empty" : "unexpected value") : "";
  if (!isDistance || amount === "–") {
    const words = tells ?? (unexpected || (odd ? rarity(detail) : ""));
    return words === "" ? ["–"] : [text(words)];
  }
  const more = [emptiness ? " of 1" : "", ...[unexpected, tells ?? ""].filter((words) => words !== "").map((words) => `, ${words}`)];
  return [amount, text(more.join(""))];
}

// What is odd about the value of a cell that is odd by itself.
function rarity({ place, share }) {
  if (place !== null) return place < 0 ? "below the normal range" : place > 1 ? "above the normal range" : "";
  return share === null ? "" : share === 0 ? "never seen in training" : "rare";
}

// What probably should stand in the cell, if that is known.
function expectedText(expected) {
  return expected === undefined || expected === null ? null : el("div", { class: "normal-text" }, "expected: ", shownText(expected, 200));
}

// The normal range as a band, and where the value lies. A value far outside becomes an arrow at the edge.
function strip(place) {
  if (place === undefined || place === null) return null;
  const [width, from, to] = [128, 44, 84];
  const x = from + place * (to - from);
  const out = place < 0 || place > 1;
  const mark = x < 5 ? "M1 7l8 -5v10z" : x > width - 5 ? `M${width - 1} 7l-8 -5v10z` : `M${x} 7m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`;
  const where = place < 0 ? "below the normal range" : place > 1 ? "above the normal range" : "within the normal range";
  return svg("svg", { class: "strip", viewBox: `0 0 ${width} 14`, role: "img", "aria-label": where },
    svg("path", { class: "all", d: `M0 7H${width}` }),
    svg("rect", { class: "band", x: from, y: 2, width: to - from, height: 10 }),
    svg("path", { class: out ? "at out" : "at", d: mark }));
}
