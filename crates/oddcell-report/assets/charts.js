// Charts as SVG, drawn to the available width, so that letters keep their size.
function axisTicks(low, high, log, most) {
  if (log) {
    // As many ticks per power of ten as there is room for.
    const powers = Math.log10(high / low);
    const digits = [[1, 2, 3, 5], [1, 2, 5], [1, 3], [1]].find((list) => list.length * powers <= most) ?? [1];
    const step = Math.max(1, Math.ceil(powers / most));
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      if (power % step === 0) ticks.push(...digits.map((digit) => digit * 10 ** power));
    }
    return ticks.filter((tick) => tick >= low && tick <= high);
  }
  const raw = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((digit) => digit * power >= raw * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}
const tickText = (x) => String(+x.toPrecision(6));
// Short counts for an axis: 2k, 3M.
function shortCount(n) {
  return n >= 1e6 ? `${+(n / 1e6).toPrecision(3)}M` : n >= 1e3 ? `${+(n / 1e3).toPrecision(3)}k` : String(n);
}

// Draws a chart into its element; the caption is its description.
function putChart(id, height, caption, draw) {
  const place = byId(id);
  const width = Math.max(260, place.clientWidth || 600);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": caption });
  draw(drawing, width, height);
  place.replaceChildren(drawing);
}

function drawScores() {
  const { edges, counts, log } = data.scores;
  const { lowest, odd } = currentStop();
  const about = counts.length === 0 ? "There are no rows." :
    `Scores of ${counted(data.rows, "row", "rows")}, from ${figure(edges[0])} to ${figure(edges[edges.length - 1])}, in ${counted(counts.length, "bar", "bars")}. ` +
    (odd === 0 ? "No row is odd." : lowest === null ? "" : `The lowest score called odd is ${figure(lowest)}.`) +
    (log ? " Bar heights and the score axis are logarithmic." : " Bar heights are logarithmic.");
  byId("scores-caption").textContent = about;
  putChart("scores-chart", counts.length === 0 ? 1 : 200, "scores-caption", (drawing, width, height) => {
    if (counts.length === 0) return;
    const [left, right, top, bottom] = [44, 14, 24, height - 26];
    const scale = (x) => (log ? Math.log(x) : x);
    const [low, high] = [scale(edges[0]), scale(edges[edges.length - 1])];
    const x = (score) => left + ((scale(score) - low) / (high - low)) * (width - left - right);
    const most = Math.log1p(Math.max(...counts));
    const y = (n) => bottom - (Math.log1p(n) / most) * (bottom - top);
    for (let n = 1; Math.log1p(n) <= most * 1.001; n *= 10) {
      drawing.append(svg("path", { class: "axis", d: `M${left} ${y(n)}H${width - right}` }),
        svg("text", { x: left - 6, y: y(n) + 4, "text-anchor": "end" }, shortCount(n)));
    }
    drawing.append(svg("text", { x: 0, y: 11 }, "rows"));
    counts.forEach((n, at) => {
      if (n === 0) return;
      const [from, to] = [x(edges[at]), x(edges[at + 1])];
      // The threshold may lie within a bar.
      const line = lowest === null || odd === 0 ? Infinity : x(lowest);
      const part = (name, left, right) => {
        if (right <= left) return;
        drawing.append(svg("rect", { class: name, x: left, y: y(n), width: Math.max(1, right - left - (right === to ? 1 : 0)), height: bottom - y(n) },
          svg("title", {}, `${figure(edges[at])} to ${figure(edges[at + 1])}: ${counted(n, "row", "rows")}`)));
      };
      part("bar", from, Math.min(to, line));
      part("bar is-odd", Math.max(from, line), to);
    });
    drawing.append(svg("path", { class: "axis", d: `M${left} ${bottom}H${width - right}` }));
    for (const tick of axisTicks(edges[0], edges[edges.length - 1], log, Math.max(3, width / 110))) {
      drawing.append(svg("text", { x: x(tick), y: height - 8, "text-anchor": "middle" }, tickText(tick)));
    }
    if (lowest !== null && odd > 0) {
      const at = x(Math.max(lowest, edges[0]));
      const isLeft = at > width * 0.7;
      drawing.append(svg("path", { class: "line dashed", d: `M${at} ${top - 10}V${bottom}` }),
        svg("text", { class: "mark", x: at + (isLeft ? -6 : 6), y: top - 2, "text-anchor": isLeft ? "end" : "start" },
          `odd from ${figure(lowest)}`));
    }
  });
}
