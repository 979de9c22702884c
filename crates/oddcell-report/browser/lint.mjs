// Lints the page's scripts with ESLint's recommended rules.
//
// The files in `assets` share one scope: page.rs joins them into a single script. They are linted as that one script, so
// that a name that no file declares, or that no file uses, is found. Messages name the file and the line in it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import js from "@eslint/js";
import { Linter } from "eslint";
import globals from "globals";

const crate = join(dirname(fileURLToPath(import.meta.url)), "..");
const read = (path) => readFileSync(join(crate, path), "utf8");
const rules = { ...js.configs.recommended.rules, eqeqeq: "error", "no-var": "error", "prefer-const": "error" };
const config = (sourceType, known) => [{ languageOptions: { ecmaVersion: "latest", sourceType, globals: known }, rules }];
const linter = new Linter();

function lint(files, sourceType, known) {
  const lines = files.flatMap((file) => read(file).split("\n").slice(0, -1).map((text, at) => ({ file, line: at + 1, text })));
  const messages = linter.verify(lines.map(({ text }) => text).join("\n"), config(sourceType, known));
  return messages.map(({ line, column, message, ruleId }) => {
    const { file, line: own } = lines[(line ?? 1) - 1];
    return `${file}:${own}:${column}: ${message} (${ruleId ?? "syntax"})`;
  });
}

// The order in which page.rs joins them; a file may occur several times there.
const assets = [...new Set([...read("src/page.rs").matchAll(/include_str!\("\.\.\/(assets\/\w+\.js)"\)/g)].map(([, file]) => file))];
const found = lint(assets, "script", globals.browser);
for (const file of ["browser/lint.mjs", "browser/page.mjs", "browser/report.test.mjs"]) {
  found.push(...lint([file], "module", { ...globals.node, ...globals.browser }));
}
for (const line of found) console.error(line);
console.log(`${assets.length} scripts of the page and 3 of its tests: ${found.length} problems`);
process.exitCode = found.length === 0 && assets.length > 0 ? 0 : 1;
