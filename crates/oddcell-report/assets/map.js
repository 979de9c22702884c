// The map: a random sample of the rows, and the oddest rows. A click on an odd row opens it.
const MARKS = {
  usual: { name: "other rows", shape: (x, y) => circle(x, y, 2.2) },
  noised: { name: "training rows with added noise", shape: (x, y) => `M${x - 3} ${y}h6m-3 -3v6` },
  odd: { name: "odd rows", shape: (x, y) => `M${x} ${y - 5.2}l4.6 8h-9.2z` },
};
const circle = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
const keptRows = new Map(rows.map((row) => [row.row, row]));
const points = (data.map?.points ?? []).map(([x, y, row, score, p]) => ({ x, y, row: keptRows.get(row) ?? { row, score, p, rank: Infinity } }));

function drawMap(update) {
  if (!data.map) return;
  const { layer, sampled, noised } = data.map;
  const odd = points.filter(({ row }) => isOdd(row));
  const usual = points.filter(({ row }) => !isOdd(row));
  byId("map-caption").textContent =
    `t-SNE of ${layer ? "the net’s last hidden layer" : "the encoded rows"}: ` +
    `${sampled < data.rows ? `${counted(sampled, "random row", "random rows")} and the oddest rows` : `all ${counted(sampled, "row", "rows")}`}, ${count(odd.length)} of them odd. ` +
    "Nearby points are similar rows; the axes and the sizes of gaps have no meaning. Click an odd row to open it.";
  const height = Math.max(...points.map(({ y }) => y), ...noised.map(([, y]) => y));
  const size = byId("map").clientWidth || 480;
  putChart("map", Math.round(24 + (height / 1000) * (size - 24)), "map-caption", (drawing, width) => {
    const place = (v) => 12 + (v / 1000) * (width - 24);
    const path = (list, mark) => list.map(([x, y]) => MARKS[mark].shape(place(x), place(y))).join("");
    const at = (list) => list.map(({ x, y }) => [x, y]);
    drawing.append(svg("path", { class: "usual", d: path(at(usual), "usual") }), svg("path", { class: "noised", d: path(noised, "noised") }));
    for (const point of odd) {
      const mark = svg("path", { class: "odd", d: path([[point.x, point.y]], "odd") }, svg("title", {}, `row ${count(point.row.row)}, score ${figure(point.row.score)}`));
      if (point.row.cells) mark.addEventListener("click", () => goToRow(point.row, update));
      drawing.append(mark);
    }
  });
  const key = (mark) => el("span", {}, svg("svg", { viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" }, svg("path", { class: mark, d: MARKS[mark].shape(7, 7) })), MARKS[mark].name);
  byId("map-legend").replaceChildren(...["usual", ...(noised.length > 0 ? ["noised"] : []), "odd"].map(key));
}
