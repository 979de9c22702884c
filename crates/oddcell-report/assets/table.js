// The table of the oddest rows: which rows, in which order, with which columns.
const FEW_COLUMNS = 12;
const MORE_ROWS = 50;

// Columns shown at first. With sets: those that are a reason, the most frequent first, then the others as they come, up to
// the limit. Without: those with the most noise in the odd rows, in the order of the table. Always among them are the first two
// that were not judged, which often identify the row.
const mainColumns = (() => {
  const all = data.columns.map((_, column) => column);
  const some = rows.filter(isOdd).length > 0 ? rows.filter(isOdd) : rows.slice(0, 50);
  if (data.sets) {
    const times = all.map((column) => some.filter((row) => row.set.has(column)).length);
    const reasons = all.filter((column) => times[column] > 0).sort((a, b) => times[b] - times[a] || a - b);
    const names = all.filter((column) => data.columns[column].kind === null).slice(0, 2);
    const first = [...new Set([...names, ...reasons])];
    const few = all.length <= FEW_COLUMNS + 3 ? all.length : Math.max(FEW_COLUMNS, Math.min(first.length, FEW_COLUMNS + 3));
    return [...new Set([...first, ...all])].slice(0, few);
  }
  if (all.length <= FEW_COLUMNS + 3) return all;
  const weight = all.map((column) => some.reduce((sum, row) => sum + Math.min(row.noise[column] ?? 0, 10), 0));
  const judged = all.filter((column) => data.columns[column].kind !== null);
  const chosen = judged.sort((a, b) => weight[b] - weight[a] || a - b).slice(0, FEW_COLUMNS);
  const names = all.filter((column) => data.columns[column].kind === null).slice(0, 2);
  return [...names, ...chosen].sort((a, b) => a - b);
})();
const shownColumns = () => (state.allColumns ? data.columns.map((_, column) => column) : mainColumns);

function matching() {
  const wanted = state.search.trim().toLowerCase();
  const hasText = (row) => wanted === "" || String(row.row) === wanted || row.cells.some((cell) => textOf(cell).toLowerCase().includes(wanted));
  const hasReason = (row) => state.reason === "" || row.top.includes(Number(state.reason));
  const found = rows.filter((row) => (state.which === "all" || isOdd(row)) && hasReason(row) && hasText(row));
  const { key, descending } = state.sort;
  const sign = descending ? -1 : 1;
  return found.sort((a, b) => compare(a, b, key, sign) || a.rank - b.rank);
}

// Empty cells, and text in a column of numbers, come last in either order.
function compare(a, b, key, sign) {
  if (key === "truth") return sign * (a.truth - b.truth);
  if (typeof key === "string") return sign * (a[key] - b[key]);
  const [one, other] = [textOf(a.cells[key]).trim(), textOf(b.cells[key]).trim()];
  if (one === "" || other === "") return (one === "") - (other === "");
  if (isNumber(key)) {
    const [x, y] = [Number(one), Number(other)];
    if (!Number.isNaN(x) && !Number.isNaN(y)) return sign * (x - y);
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
  }
  return sign * one.localeCompare(other, "en", { numeric: true });
}

const isNumber = (column) => data.columns[column].numeric;

function showTable(update) {
  const found = matching();
  const columns = shownColumns();
  const figures = [["row", "Row"], ["score", "Score"], ["p", "p-value"]];
  if (data.curves) figures.push(["truth", "Label"]);
  const header = (key, name, about, number) => {
    const sorted = state.sort.key === key;
    const sort = () => {
      state.sort = { key, descending: sorted ? !state.sort.descending : key === "score" };
      update();
    };
    return el("th", { scope: "col", class: number ? "number" : "", "aria-sort": sorted ? (state.sort.descending ? "descending" : "ascending") : "none" },
      el("button", { type: "button", "data-key": key, onclick: sort }, el("bdi", {}, name)),
      about === "" ? null : el("small", {}, about));
  };
  const about = (column) => data.columns[column].kind ?? "not judged";
  const head = el("tr", {}, ...figures.map(([key, name]) => header(key, name, "", key !== "truth")),
    el("th", { scope: "col" }, "Verdict"),
    ...columns.map((column) => header(column, nameOf(column), about(column), isNumber(column))));
  const body = el("tbody");
  for (const row of found.slice(0, state.shown)) {
    body.append(rowLine(row, columns, update));
    if (state.open.has(row.row)) body.append(detailLine(row, figures.length + 1 + columns.length, update));
  }
  if (found.length === 0) {
    const message = rows.length === 0 ? "There are no rows." :
      state.search === "" && state.reason === "" ? "No row is odd. Choose “all rows on this page” to see the highest scores." : "No row matches.";
    body.append(el("tr", { class: "nothing" }, el("td", { colspan: figures.length + 1 + columns.length }, message)));
  }
  byId("table").replaceChildren(el("caption", { class: "vh" }, "The oddest rows. Click a column heading to sort, or a row number to open the row."),
    el("thead", {}, head), body);
  showTools(found, columns);
}

function rowLine(row, columns, update) {
  const open = state.open.has(row.row);
  const button = el("button", { type: "button", class: "open", "data-row": row.row, "aria-expanded": String(open), "aria-controls": open ? `row-${row.row}` : null },
    el("span", { class: "vh" }, "Row "), count(row.row));
  const toggle = (event) => {
    // Selecting text must not open the row.
    if (event.target.closest("a") || String(getSelection()) !== "") return;
    toggleRow(row, update);
  };
  const truth = data.curves ? [el("td", {}, row.truth ? "anomalous" : "normal")] : [];
  return el("tr", { class: "row", onclick: toggle },
    el("th", { scope: "row", class: "number" }, button),
    el("td", { class: "number" }, figure(row.score)),
    el("td", { class: "number" }, probability(row.p)),
    ...truth,
    el("td", { class: isOdd(row) ? "verdict" : "" }, isOdd(row) ? "● odd" : "–"),
    ...columns.map((column) => cell(row, column)));
}

function cell(row, column) {
  const noise = row.noise[column] ?? null;
  const marks = ["cell"];
  if (isNumber(column)) marks.push("number");
  if (data.columns[column].kind === null) marks.push("unjudged");
  if (data.sets && isOddCell(row, column)) return el("td", { class: [...marks, "is-called"].join(" ") }, calledCell(row, column));
  if (data.sets) return el("td", { class: marks.join(" ") }, shownText(row.cells[column], 40));
  const isOddOne = isOddCell(row, column);
  if (isOddOne) marks.push("is-odd");
  if (row.top[0] === column) marks.push("is-first");
  const tint = noise === null ? 0 : Math.min(55, (14 * noise) / data.oddFrom);
  return el("td", { class: marks.join(" "), "--tint": tint, title: noise === null ? null : titleOf(row, column, noise) },
    shownText(row.cells[column], 40), isOddOne ? el("span", { class: "vh" }, `, odd by ${noiseText(noise)}`) : null);
}

// What a reader sees who points at a cell.
function titleOf(row, column, noise) {
  const { tells, expected } = (isOddCell(row, column) && row.details.get(column)) || {};
  const parts = [`${noiseName} ${noiseText(noise)}`];
  if (tells) parts.push(`: ${visible(tells)}`);
  if (expected) parts.push(`; expected: ${visible(textOf(expected))}`);
  return parts.join("");
}

function detailLine(row, span, update) {
  return el("tr", { class: "detail", id: `row-${row.row}` }, el("td", { colspan: span }, openedRow(row, () => toggleRow(row, update))));
}

function toggleRow(row, update) {
  if (!state.open.delete(row.row)) state.open.add(row.row);
  update();
  document.querySelector(`.open[data-row="${row.row}"]`)?.focus();
}

// Opens a row from elsewhere on the page, and clears the filters if they hide it.
function goToRow(row, update) {
  if (!matching().includes(row)) Object.assign(state, { search: "", reason: "", which: isOdd(row) ? state.which : "all" });
  state.shown = Math.max(state.shown, matching().indexOf(row) + 1);
  state.open.add(row.row);
  update();
  const button = document.querySelector(`.open[data-row="${row.row}"]`);
  button?.scrollIntoView({ block: "center" });
  button?.focus();
}

function showTools(found, columns) {
  const { odd } = currentStop();
  const here = rows.filter(isOdd).length;
  const filtered = state.search !== "" || state.reason !== "";
  const shown = Math.min(found.length, state.shown);
  say(`${count(odd)} of ${counted(data.rows, "row", "rows")} ${odd === 1 ? "is" : "are"} odd` +
    (here < odd ? `; this page has the ${count(here)} oddest of them` : "") +
    `. Showing ${count(shown)} of ${counted(found.length, "row", "rows")}${filtered ? ", filtered" : ""}.`);
  const marked = found.filter(isOdd);
  byId("download").textContent = `Download ${counted(marked.length, "odd row", "odd rows")} as CSV`;
  byId("download").disabled = marked.length === 0;
  byId("search").value = state.search;
  if (data.cells) byId("reason").value = state.reason;
  byId("which").value = state.which;
  const all = byId("all-columns");
  all.hidden = mainColumns.length === data.columns.length && mainColumns.every((column, at) => column === at);
  all.setAttribute("aria-pressed", String(state.allColumns));
  all.textContent = mainColumns.length === data.columns.length ? "Columns in their own order" : `All ${count(data.columns.length)} columns`;
  all.title = `${count(columns.length)} columns are shown`;
  const more = byId("more");
  more.hidden = found.length <= state.shown;
  more.textContent = `Show ${count(Math.min(MORE_ROWS, found.length - state.shown))} more of ${counted(found.length, "row", "rows")}`;
}

function setUpTable(update) {
  byId("search").addEventListener("input", (event) => {
    state.search = event.target.value;
    update();
  });
  byId("which").addEventListener("change", (event) => {
    state.which = event.target.value;
    update();
  });
  byId("all-columns").addEventListener("click", () => {
    state.allColumns = !state.allColumns;
    update();
  });
  byId("more").addEventListener("click", () => {
    state.shown += MORE_ROWS;
    update();
  });
  byId("download").addEventListener("click", () => downloadRows(matching().filter(isOdd)));
  // The up and down keys move between rows; Escape closes the row with the focus.
  byId("table").addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const line = event.target.closest("tr.detail") ?? event.target.closest("tr.row")?.nextElementSibling;
      const row = line?.classList.contains("detail") && rows.find((row) => `row-${row.row}` === line.id);
      if (row) toggleRow(row, update);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.classList.contains("open")) return;
    const buttons = [...document.querySelectorAll(".open")];
    buttons[buttons.indexOf(event.target) + step]?.focus();
    event.preventDefault();
  });
}
