// Everything follows the state: whoever changes it calls `update`.
function update() {
  const focused = document.activeElement;
  const key = focused?.dataset?.key;
  const pressed = focused?.closest("#columns li") ? [...byId("columns").children].indexOf(focused.closest("li")) : -1;
  showRule();
  drawScores();
  showTable(update);
  showColumns(update);
  drawMap(update);
  drawTruth();
  // What was drawn anew has lost the focus.
  if (key !== undefined) document.querySelector(`[data-key="${key}"]`)?.focus();
  if (pressed >= 0) byId("columns").children[pressed]?.querySelector("button").focus();
}

if (stop().odd === 0) state.which = "all";
setUpRule(update);
setUpColumns(update);
setUpTable(update);
update();

// Charts are drawn to the width there is.
let width = document.documentElement.clientWidth;
addEventListener("resize", () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  drawScores();
  drawMap(update);
  drawTruth();
});
