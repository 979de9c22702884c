// With labels: the curves, the threshold as a dot on them, and the confusion table.
function drawTruth() {
  if (!data.curves) return;
  const { anomalies, auc, average_precision: precision } = data.curves;
  const { odd, anomalous } = currentStop();
  const normal = data.rows - anomalies;
  const falseAlarms = odd - anomalous;
  const share = (part, of) => (of === 0 ? null : part / of);
  const number = (x) => (x === null ? "–" : x.toFixed(4));
  byId("roc-caption").textContent = `ROC curve: anomalies found against false alarms. AUC ${number(auc)}. The dot marks the threshold.`;
  byId("precision-caption").textContent = `Precision against recall. Average precision ${number(precision)}. The dot marks the threshold.`;
  const [hitRate, alarmRate] = [share(anomalous, anomalies), share(falseAlarms, normal)];
  drawCurve("roc", data.curves.roc, alarmRate === null || hitRate === null ? null : [alarmRate, hitRate], "false alarms / normal rows", "found / anomalies", [[0, 0], [1, 1]]);
  const base = share(anomalies, data.rows) ?? 0;
  drawCurve("precision", data.curves.precision, odd === 0 || hitRate === null ? null : [hitRate, anomalous / odd], "recall", "precision", [[0, base], [1, base]]);
  const cells = [["anomalous", anomalous, anomalies - anomalous], ["normal", falseAlarms, normal - falseAlarms]];
  const line = ([name, called, passed], at) => el("tr", {}, el("th", { scope: "row" }, `labeled ${name}`),
    el("td", { class: at === 0 ? "good" : "" }, count(called)), el("td", { class: at === 1 ? "good" : "" }, count(passed)));
  const rate = (name, x) => `${name} ${x === null ? "–" : percent(x)}`;
  byId("confusion").replaceChildren(
    el("table", { class: "confusion" }, el("caption", {}, "Rows by label and verdict at the threshold; correct verdicts in bold"),
      el("thead", {}, el("tr", {}, el("td"), el("th", { scope: "col" }, "odd"), el("th", { scope: "col" }, "not odd"))),
      el("tbody", {}, ...cells.map(line))),
    el("p", { class: "caption" }, [rate("Precision", share(anomalous, odd)), rate("recall", hitRate), rate("false alarms", alarmRate)].join(", ") + "."));
}

function drawCurve(id, points, at, xTitle, yTitle, chance) {
  putChart(id, 260, `${id}-caption`, (drawing, width, height) => {
    const [left, right, top, bottom] = [40, 12, 26, height - 40];
    const x = (share) => left + share * (width - left - right);
    const y = (share) => bottom - share * (bottom - top);
    const path = (list) => list.map(([a, b], k) => `${k === 0 ? "M" : "L"}${x(a)} ${y(b)}`).join("");
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      drawing.append(svg("path", { class: "axis", d: `M${left} ${y(tick)}H${width - right}` }),
        svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, String(tick)),
        svg("text", { x: x(tick), y: bottom + 16, "text-anchor": "middle" }, String(tick)));
    }
    drawing.append(svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, xTitle),
      svg("text", { x: 0, y: 12 }, yTitle));
    if (points.length === 0) {
      drawing.append(svg("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "all rows have the same label"));
      return;
    }
    drawing.append(svg("path", { class: "chance", d: path(chance) }), svg("path", { class: "curve", d: path(points) }));
    if (at !== null) drawing.append(svg("circle", { class: "dot", cx: x(at[0]), cy: y(at[1]), r: 6 }));
  });
}
