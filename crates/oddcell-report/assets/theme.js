// Colors follow the system or the reader’s choice. The browser keeps the choice if it can.
const THEMES = ["system", "light", "dark"];
const themeButton = document.getElementById("theme");
function stored(value) {
  try {
    if (value !== undefined) localStorage.setItem("oddcell-theme", value);
    return localStorage.getItem("oddcell-theme");
  } catch {
    return null; // Pages opened from a file may have no storage.
  }
}
function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  themeButton.textContent = `Colors: ${name}`;
}
let theme = THEMES.includes(stored()) ? stored() : "system";
setTheme(theme);
themeButton.addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  setTheme(theme);
  stored(theme);
});
