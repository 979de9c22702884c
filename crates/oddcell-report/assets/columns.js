// Columns ranked by how often they are a reason why a row is odd.
let moreColumns = false;

function rankedColumns() {
  const odd = rows.filter(isOdd);
  const first = new Array(data.columns.length).fill(0);
  const among = new Array(data.columns.length).fill(0);
  for (const row of odd) row.top.forEach((column, at) => (at === 0 ? first[column]++ : among[column]++));
  const order = data.columns.map((_, column) => column).filter((column) => first[column] + among[column] > 0);
  order.sort((a, b) => first[b] - first[a] || among[b] - among[a] || a - b);
  return { odd: odd.length, first, among, order };
}

function showColumns(update) {
  if (!data.cells) return;
  const { odd, first, among, order } = rankedColumns();
  const total = currentStop().odd;
  byId("columns-caption").textContent = odd === 0 ? "No row is odd." :
    `How often each column is the first reason (solid), or ${data.sets ? "another one" : "the second or third"} (hatched), ` +
    (odd < total ? `among the ${count(odd)} of ${count(total)} odd rows on this page.` : `among ${counted(odd, "odd row", "odd rows")}.`);
  const most = Math.max(1, ...order.map((column) => first[column] + among[column]));
  const shown = moreColumns ? order : order.slice(0, 12);
  byId("columns").replaceChildren(...shown.map((column) => {
    const share = (n) => el("i", { "--share": (100 * n) / most });
    const choose = () => {
      state.reason = state.reason === String(column) ? "" : String(column);
      update();
    };
    const button = el("button", { type: "button", "aria-pressed": String(state.reason === String(column)), onclick: choose },
      el("bdi", { class: "name", title: nameOf(column) }, nameOf(column)),
      el("span", { class: "stack", "aria-hidden": "true" }, share(first[column]), share(among[column])),
      el("span", { class: "times" }, `${count(first[column])} + ${count(among[column])}`,
        el("span", { class: "vh" }, ` times the first reason, and ${data.sets ? "another one" : "the second or third"}; click to show only these rows`)));
    return el("li", {}, button);
  }));
  const more = byId("more-columns");
  more.hidden = order.length <= 12;
  more.textContent = moreColumns ? "Show the first 12" : `Show all ${count(order.length)} columns`;
}

function setUpColumns(update) {
  if (!data.cells) return;
  byId("more-columns").addEventListener("click", () => {
    moreColumns = !moreColumns;
    update();
  });
  const select = byId("reason");
  select.append(el("option", { value: "" }, "any column"));
  data.columns.forEach((column, at) => {
    if (column.kind !== null) select.append(el("option", { value: at }, nameOf(at)));
  });
  select.addEventListener("change", () => {
    state.reason = select.value;
    update();
  });
}
