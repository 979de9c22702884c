// The list of all called cells, what should stand in them, and the table repaired.
const MORE_CELLS = 50;

// What should stand in a cell.
const expectedValue = (expected, most) => shownText(expected.value, most);

// The range of a number or a date, or the chances of names, and how sure that is.
function expectedMore({ low, high, levels, sure }) {
  const isRange = low !== null && high !== null && textOf(low) !== textOf(high);
  const range = isRange ? [`range: ${visible(textOf(low))} to ${visible(textOf(high))}`] : [];
  const chances = levels.length > 0 ? [`chances: ${levels.map(([name, share]) => `${visible(textOf(name))} ${percent(share)}`).join(", ")}`] : [];
  return [...range, ...chances, ...(levels.length > 0 ? [] : [`how sure: ${percent(sure)}`])];
}

// The called cells of the odd rows on this page, odder rows first.
function calledCells() {
  return rows.filter(isOdd).flatMap((row) => [...row.set].map(([column, called]) => ({ row, column, ...called })));
}

function showCalled(update) {
  if (!data.sets) return;
  const all = calledCells();
  const { odd } = currentStop();
  const here = rows.filter(isOdd).length;
  byId("called-caption").textContent = odd === 0 ? "No row is odd." :
    `${counted(all.length, "cell makes", "cells make")} ${counted(here, "row", "rows")} odd` +
    (here < odd ? `. This page has the ${count(here)} oddest of ${count(odd)} odd rows.` : ".");
  const head = ["Row", "Column", "Value", "Expected", "Range or chances", "p-value"];
  const line = ({ row, column, expected, p }) => el("tr", {},
    el("th", { scope: "row", class: "number" }, el("button", { type: "button", class: "to-row", onclick: () => goToRow(row, update) }, el("span", { class: "vh" }, "Go to row "), count(row.row))),
    el("td", {}, el("bdi", {}, nameOf(column))),
    el("td", { class: "is-called" }, shownText(row.cells[column], 60)),
    el("td", {}, expected === null ? el("span", { class: "empty" }, "unknown") : expectedValue(expected, 60)),
    el("td", { class: "normal-text" }, el("bdi", {}, expected === null ? "" : expectedMore(expected).join("; "))),
    el("td", { class: "number" }, probability(p)));
  const body = all.length > 0 ? all.slice(0, state.shownCells).map(line) :
    [el("tr", { class: "nothing" }, el("td", { colspan: head.length }, "No cell is called."))];
  byId("called").replaceChildren(
    el("caption", { class: "vh" }, "The cells that make rows odd. Click a row number to open the row."),
    el("thead", {}, el("tr", {}, ...head.map((name, at) => el("th", { scope: "col", class: at === 0 || at === 5 ? "number" : "" }, name)))),
    el("tbody", {}, ...body));
  const more = byId("more-cells");
  more.hidden = all.length <= state.shownCells;
  more.textContent = `Show ${count(Math.min(MORE_CELLS, all.length - state.shownCells))} more of ${counted(all.length, "cell", "cells")}`;
  byId("download-cells").textContent = `Download ${counted(all.length, "cell", "cells")} as CSV`;
  byId("download-repaired").textContent = isWhole ? "Download the repaired table as CSV" : `Download ${counted(here, "repaired row", "repaired rows")} as CSV`;
  for (const id of ["download-cells", "download-repaired"]) byId(id).disabled = all.length === 0;
}

// Whether the page has the whole table: all rows, all columns, every cell to its end.
const isWhole = data.whole && cutCells(rows) === 0;

// The same columns as `oddcell cells` writes.
function cellsCsv(all) {
  const end = (text) => (text === null || text === undefined ? "" : textOf(text));
  const lines = all.map(({ row, column, p, expected, reason }) => [
    row.row, textOf(data.columns[column].name), textOf(row.cells[column]), p, end(expected?.value), end(expected?.low), end(expected?.high), reason,
  ]);
  return csvText([["row", "column", "value", "p", "expected", "low", "high", "reason"], ...lines]);
}

// The whole table in its own order, or the odd rows with their numbers, with what is expected in place of called cells.
function repairedCsv() {
  const repaired = (row) => row.cells.map((cell, column) => {
    const expected = isOdd(row) ? row.set.get(column)?.expected : undefined;
    return textOf(expected ? expected.value : cell);
  });
  const names = data.columns.map((column) => textOf(column.name));
  if (!isWhole) return csvText([["odd_row", ...names], ...rows.filter(isOdd).map((row) => [row.row, ...repaired(row)])]);
  return csvText([names, ...[...rows].sort((a, b) => a.row - b.row).map(repaired)]);
}

function setUpCalled(update) {
  if (!data.sets) return;
  byId("more-cells").addEventListener("click", () => {
    state.shownCells += MORE_CELLS;
    update();
  });
  byId("download-cells").addEventListener("click", () => {
    const all = calledCells();
    saveCsv("odd-cells.csv", cellsCsv(all));
    say(`Saved ${counted(all.length, "cell", "cells")} to odd-cells.csv.`);
  });
  byId("download-repaired").addEventListener("click", () => {
    const name = isWhole ? "repaired.csv" : "repaired-rows.csv";
    saveCsv(name, repairedCsv());
    say(`Saved ${isWhole ? "the repaired table" : counted(rows.filter(isOdd).length, "repaired row", "repaired rows")} to ${name}.${isWhole ? "" : cutNote(rows.filter(isOdd))}`);
  });
}
