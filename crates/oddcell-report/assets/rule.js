// When a row is odd: the modes, their stops, and their meaning in words.
const MODES = {
  alpha: {
    name: "p-value",
    label: "p-value at most",
    value: (level) => String(level),
    sentence: (level) =>
      `A row is odd if its p-value is at most ${level}. About ${percent(level)} of normal rows are called odd, too.`,
    isOdd: (row, bound) => row.p <= bound,
  },
  fdr: {
    name: "False-discovery rate",
    label: "false alarms among the odd rows, at most about",
    value: (level) => percent(level),
    sentence: (level) =>
      `Of the rows called odd, at most about ${percent(level)} are expected to be normal (false-discovery rate, Benjamini-Hochberg).`,
    isOdd: (row, bound) => row.p <= bound,
  },
  top: {
    name: "Number of rows",
    label: "rows with the highest scores",
    value: (level) => counted(level, "row", "rows"),
    sentence: (level) =>
      level === 1 ? "The row with the highest score is odd." : `The ${count(level)} rows with the highest scores are odd.`,
    isOdd: (row, bound) => row.rank < bound,
  },
  contamination: {
    name: "Contamination",
    label: "share of the reference rows above the threshold",
    value: (level) => percent(level),
    sentence: (level) => `A row is odd if its score is above the threshold that ${percent(level)} of the reference rows exceed.`,
    isOdd: (row, bound) => row.score > bound,
  },
};
const { modes } = data.thresholds;
const mode = () => modes[state.mode];
const words = () => MODES[mode().id];
const currentStop = () => mode().stops[state.stop];
const isOdd = (row) => currentStop().bound !== null && words().isOdd(row, currentStop().bound);
const isRunRule = () => state.mode === data.thresholds.mode && state.stop === data.thresholds.stop;

// The stop of another mode that calls about as many rows odd.
function nearestStop(stops, odd) {
  let best = 0;
  stops.forEach((stop, at) => {
    if (Math.abs(stop.odd - odd) < Math.abs(stops[best].odd - odd)) best = at;
  });
  return best;
}

function setUpRule(update) {
  modes.forEach(({ id }, at) => {
    const radio = el("input", { type: "radio", name: "mode", value: at, onchange: () => choose(at) });
    byId("modes").append(el("label", {}, radio, MODES[id].name));
  });
  function choose(at) {
    const { odd } = currentStop();
    state.mode = at;
    state.stop = at === data.thresholds.mode && odd === runStop().odd ? data.thresholds.stop : nearestStop(mode().stops, odd);
    update();
  }
  const runStop = () => modes[data.thresholds.mode].stops[data.thresholds.stop];
  byId("slider").addEventListener("input", (event) => {
    state.stop = Number(event.target.value);
    update();
  });
  byId("reset").addEventListener("click", () => {
    ({ mode: state.mode, stop: state.stop } = data.thresholds);
    update();
    byId("slider").focus();
  });
  byId("threshold").addEventListener("submit", (event) => event.preventDefault());
}

function showRule() {
  const { level, odd } = currentStop();
  byId("headline").textContent = `${count(odd)} of ${counted(data.rows, "row", "rows")} ${odd === 1 ? "is" : "are"} odd`;
  byId("sentence").textContent = words().sentence(level);
  document.querySelectorAll("#modes input").forEach((radio, at) => (radio.checked = at === state.mode));
  const slider = byId("slider");
  slider.max = mode().stops.length - 1;
  slider.value = state.stop;
  slider.disabled = mode().stops.length < 2;
  slider.setAttribute("aria-valuetext", `${words().value(level)}: ${counted(odd, "odd row", "odd rows")}`);
  byId("slider-label").textContent = words().label[0].toUpperCase() + words().label.slice(1);
  byId("slider-value").textContent = mode().id === "top" ? words().value(level) : `${words().value(level)} → ${count(odd)} odd`;
  byId("reset").hidden = isRunRule();
}
