// A real browser, and the pages that `cargo test --test pages` writes.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import axe from "axe-core";
import { chromium } from "playwright-core";

const target = join(dirname(fileURLToPath(import.meta.url)), "../../../target");
const pages = join(target, "tmp/report-pages");
const screenshots = join(target, "report-screenshots");
mkdirSync(screenshots, { recursive: true });

export const pathOf = (name) => join(pages, `${name}.html`);
export const hasPage = (name) => existsSync(pathOf(name));
export const screenshotOf = (name) => join(screenshots, `${name}.png`);

export function launch() {
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
}

// Opens a page, lets `work` use it, and checks that the page made no request, logged nothing and threw nothing.
export async function withPage(browser, name, options, work) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const [requests, troubles] = [[], []];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => troubles.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("dialog", (dialog) => troubles.push(`dialog: ${dialog.message()}`));
  try {
    await page.goto(pathToFileURL(pathOf(name)).href);
    await work(page);
    assert.deepEqual(troubles, []);
    const elsewhere = requests.filter((url) => !url.startsWith("file:") && !url.startsWith("data:") && !url.startsWith("blob:"));
    assert.deepEqual(elsewhere, []);
  } finally {
    await context.close();
  }
}

// The accessibility problems that axe calls serious or critical.
export async function barriers(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

// Reads CSV (RFC 4180) as lines of fields.
export function parseCsv(text) {
  const lines = [[""]];
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const [letter, line] = [text[at], lines[lines.length - 1]];
    if (quoted && letter === '"' && text[at + 1] === '"') line[line.length - 1] += text[at++];
    else if (letter === '"') quoted = !quoted;
    else if (!quoted && letter === ",") line.push("");
    else if (!quoted && letter === "\r" && text[at + 1] === "\n") { lines.push([""]); at++; }
    else line[line.length - 1] += letter;
  }
  return lines.slice(0, -1);
}
