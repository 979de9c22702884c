// Colours: as the system has them, or as the reader chooses. The choice is kept where the browser allows it.
const THEMES = ["system", "light", "dark"];
const themeButton = document.getElementById("theme");
function stored(value) {
  try {
    if (value !== undefined) localStorage.setItem("oddcell-theme", value);
    return localStorage.getItem("oddcell-theme");
  } catch {
    return null; // Pages from a file may have no storage.
  }
}
function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  themeButton.textContent = `Colours: ${name}`;
}
let theme = THEMES.includes(stored()) ? stored() : "system";
setTheme(theme);
themeButton.addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  setTheme(theme);
  stored(theme);
});
