// What a called cell says to those who point at it or move to it with the keyboard.
const tip = el("div", { id: "tip", role: "tooltip", hidden: true });
document.body.append(tip);
let tipped = null;

function showTip(button, called) {
  hideTip();
  tipped = button;
  const { expected, reason, p } = called;
  const line = (...parts) => el("p", {}, ...parts);
  tip.replaceChildren(
    ...(expected === null ? [line("Nothing can be said about what should stand there.")] : [
      line("expected: ", el("b", {}, expectedValue(expected, 200))),
      ...expectedMore(expected).map((words) => line(words)),
    ]),
    el("p", { class: "why" }, el("bdi", {}, visible(reason))),
    line(`p-value of the cell: ${probability(p)}`));
  tip.hidden = false;
  button.setAttribute("aria-describedby", "tip");
  const [cell, box, gap] = [button.getBoundingClientRect(), tip.getBoundingClientRect(), 6];
  const { clientWidth, clientHeight } = document.documentElement;
  const left = Math.max(gap, Math.min(cell.left, clientWidth - box.width - gap));
  const below = cell.bottom + gap + box.height <= clientHeight;
  tip.style.setProperty("left", `${left}px`);
  tip.style.setProperty("top", `${below ? cell.bottom + gap : Math.max(gap, cell.top - gap - box.height)}px`);
}

function hideTip() {
  tipped?.removeAttribute("aria-describedby");
  tipped = null;
  tip.hidden = true;
}

// A called cell of the table: its value, and what should stand there.
function calledCell(row, column) {
  const called = row.set.get(column);
  const { expected } = called;
  const button = el("button", {
    type: "button", class: "called",
    onmouseenter: () => showTip(button, called), onmouseleave: hideTip, onfocus: () => showTip(button, called), onblur: hideTip,
  }, shownText(row.cells[column], 40),
  expected === null ? el("span", { class: "vh" }, ", odd") : el("span", { class: "should" }, el("span", { class: "vh" }, ", odd, expected"), " → ", expectedValue(expected, 40)));
  return button;
}

addEventListener("scroll", hideTip, { capture: true, passive: true });
addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
