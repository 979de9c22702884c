// Rows as CSV (RFC 4180). Spreadsheets run text that starts like a formula, so such text gets an apostrophe. Plain numbers,
// including negative ones, stay unchanged.
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function csvField(text) {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
function csvOf(some) {
  const head = ["odd_row", ...data.columns.map((column) => textOf(column.name)), "odd_score", "odd_p", "odd_verdict"];
  const lines = some.map((row) => [row.row, ...row.cells.map(textOf), row.score, row.p, isOdd(row)]);
  return csvText([head, ...lines]);
}
function csvText(lines) {
  return lines.map((line) => line.map((field) => csvField(String(field))).join(",") + "\r\n").join("");
}
function cutCells(some) {
  return some.reduce((sum, row) => sum + row.cells.filter(isCut).length, 0);
}
function cutNote(some) {
  const n = cutCells(some);
  return n === 0 ? "" : ` ${counted(n, "long cell is", "long cells are")} shortened.`;
}
function say(text) {
  byId("status").textContent = text;
}

async function copyRow(row) {
  const text = csvOf([row]);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Some browsers do not let a local file use the clipboard.
    const area = el("textarea", { class: "vh", "aria-hidden": "true" }, text);
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    focused?.focus();
  }
  say(`Row ${count(row.row)} copied as CSV, with a header.${cutNote([row])}`);
}

function saveCsv(name, text) {
  const link = el("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function downloadRows(some) {
  saveCsv("odd-rows.csv", csvOf(some));
  say(`Saved ${counted(some.length, "row", "rows")} to odd-rows.csv.${cutNote(some)}`);
}
