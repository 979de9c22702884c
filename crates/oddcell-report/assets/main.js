// The page shows the state: code that changes the state calls `update`.
function update() {
  const focused = document.activeElement;
  const key = focused?.dataset?.key;
  const pressed = focused?.closest("#columns li") ? [...byId("columns").children].indexOf(focused.closest("li")) : -1;
  showRule();
  drawScores();
  showTable(update);
  showCalled(update);
  showColumns(update);
  drawMap(update);
  drawTruth();
  // Redrawn elements have lost the focus.
  if (key !== undefined) document.querySelector(`[data-key="${key}"]`)?.focus();
  if (pressed >= 0) byId("columns").children[pressed]?.querySelector("button").focus();
}

if (currentStop().odd === 0) state.which = "all";
setUpRule(update);
setUpColumns(update);
setUpTable(update);
setUpCalled(update);
update();

// Charts are drawn to the available width.
let width = document.documentElement.clientWidth;
addEventListener("resize", () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  drawScores();
  drawMap(update);
  drawTruth();
});
