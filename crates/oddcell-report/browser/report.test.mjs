import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { barriers, hasPage, launch, parseCsv, screenshotOf, withPage } from "./page.mjs";

const PAGES = ["orders", "hostile", "wide", "one-column", "none", "rows-only", "empty", "fitted", "mixed", "rows-with-cells", "hostile-cells", "million"];
const DARK_TOO = ["orders", "fitted", "mixed"];
const dataOf = (page) => page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
const shownRows = (page) => page.locator("tr.row .open").evaluateAll((all) => all.map((button) => Number(button.dataset.row)));
const headline = (page) => page.locator("h1").innerText();
const countIn = (text) => Number(text.split(" ")[0].replaceAll(",", ""));

describe("the report", () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser.close());
  const on = (name, work, options = {}) => withPage(browser, name, options, work);

  for (const name of PAGES) {
    test(`${name}: opens without messages, requests or accessibility problems`, async (t) => {
      for (const colorScheme of DARK_TOO.includes(name) ? ["light", "dark"] : ["light"]) {
        await on(name, async (page) => {
          await page.locator("h1").waitFor();
          const { duration } = await page.evaluate(() => performance.getEntriesByType("navigation")[0].toJSON());
          t.diagnostic(`${name}, ${colorScheme}: loaded in ${Math.round(duration)} ms`);
          if (await page.locator("tr.row .open").count()) await page.locator("tr.row .open").first().click();
          await page.screenshot({ path: screenshotOf(`${name}-${colorScheme}`), fullPage: true });
          assert.deepEqual(await barriers(page), []);
        }, { colorScheme });
      }
    });
  }

  test("the slider moves the threshold, and count, sentence and table follow", () => on("orders", async (page) => {
    const { thresholds } = await dataOf(page);
    const { stops } = thresholds.modes[thresholds.mode];
    const slider = page.getByRole("slider");
    assert.equal(countIn(await headline(page)), stops[thresholds.stop].odd);
    await slider.focus();
    for (let step = 1; step <= 3; step++) {
      await page.keyboard.press("ArrowRight");
      const { level, odd, bound } = stops[thresholds.stop + step];
      assert.equal(countIn(await headline(page)), odd);
      assert.match(await page.locator("#sentence").innerText(), new RegExp(`about ${100 * level}\\s% are expected`));
      const { oddest } = await dataOf(page);
      const expected = oddest.filter((row) => row[2] <= bound).map((row) => row[0]).slice(0, 25);
      assert.deepEqual(await shownRows(page), expected);
      assert.match(await page.locator("#status").innerText(), new RegExp(`^${odd} of 2,000 rows are odd`));
    }
    await page.keyboard.press("Home");
    assert.equal(countIn(await headline(page)), stops[0].odd);
    await page.getByRole("button", { name: "Reset to the rule of this run" }).click();
    assert.equal(countIn(await headline(page)), stops[thresholds.stop].odd);
  }));

  test("other rules can be chosen, and a number of rows is that number", () => on("orders", async (page) => {
    await page.getByRole("radio", { name: "Number of rows" }).check();
    await page.getByRole("slider").focus();
    await page.keyboard.press("Home");
    assert.equal(await headline(page), "1 of 2,000 rows is odd");
    assert.equal((await shownRows(page)).length, 1);
    await page.getByRole("radio", { name: "p-value" }).check();
    assert.match(await page.locator("#sentence").innerText(), /p-value is at most/);
  }));

  test("columns sort by click and by keyboard, and say so", () => on("orders", async (page) => {
    const header = page.getByRole("columnheader", { name: "unit_price" });
    const prices = async () => {
      const { oddest, columns } = await dataOf(page);
      const at = columns.findIndex(({ name }) => name === "unit_price");
      const cells = new Map(oddest.map((row) => [row[0], Number(row[4][at])]));
      return (await shownRows(page)).map((row) => cells.get(row));
    };
    await header.getByRole("button").click();
    assert.equal(await header.getAttribute("aria-sort"), "ascending");
    const rising = await prices();
    assert.deepEqual(rising, [...rising].sort((a, b) => a - b));
    await page.keyboard.press("Enter"); // The button has kept the focus.
    assert.equal(await header.getAttribute("aria-sort"), "descending");
    const falling = await prices();
    assert.deepEqual(falling, [...falling].sort((a, b) => b - a));
  }));

  test("rows are searched and filtered by reason", () => on("orders", async (page) => {
    await page.getByLabel("Show").selectOption("all");
    await page.getByLabel("Search").fill("atlantis");
    const { oddest } = await dataOf(page);
    const found = oddest.filter((row) => row[4].some((cell) => String(cell).toLowerCase().includes("atlantis"))).map((row) => row[0]);
    assert.ok(found.length > 0);
    assert.deepEqual(await shownRows(page), found);
    await page.getByLabel("Search").fill("no such thing");
    assert.match(await page.locator("tbody").first().innerText(), /No row matches/);
    await page.getByLabel("Search").fill("");
    await page.getByLabel("Show").selectOption("odd");
    await page.locator("#reason").selectOption({ label: "quantity" });
    const some = await shownRows(page);
    assert.ok(some.length > 0);
    const names = await page.locator("tr.row").evaluateAll((lines) => lines.length);
    assert.equal(names, some.length);
    const all = page.locator("#columns button[aria-pressed=true]");
    assert.match(await all.innerText(), /quantity/);
    await all.click();
    assert.equal(await page.locator("#reason").inputValue(), "");
  }));

  test("a row opens by click and by Enter, closes by Escape, and shows bars", () => on("orders", async (page) => {
    await page.locator("tr.row td").nth(1).click();
    const opened = page.locator(".opened");
    assert.equal(await opened.count(), 1);
    assert.match(await opened.locator("h3").innerText(), /^Row [\d,]+: odd, score/);
    assert.ok((await opened.locator(".track").count()) >= 12);
    assert.match(await opened.locator("tbody tr").first().innerText(), /\d sd/);
    const widths = await opened.locator(".track i").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    assert.deepEqual(widths, [...widths].sort((a, b) => b - a));
    await page.keyboard.press("Escape");
    assert.equal(await opened.count(), 0);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await opened.count(), 1);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-expanded")), "true");
  }));

  test("everything can be reached with the Tab key alone", () => on("orders", async (page) => {
    const reached = new Set();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    for (let step = 0; step < 60; step++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.className || document.activeElement.name));
    }
    for (const id of ["theme", "mode", "slider", "search", "reason", "which", "download", "scroll", "open"]) assert.ok(reached.has(id), id);
  }));

  test("a row is copied as CSV with its header", () => on("orders", async (page) => {
    await page.locator(".open").first().click();
    await page.getByRole("button", { name: "Copy as CSV" }).click();
    await page.getByText("copied as CSV").waitFor();
    const lines = parseCsv(await page.evaluate(() => navigator.clipboard.readText()));
    const { oddest, columns } = await dataOf(page);
    assert.deepEqual(lines[0], ["odd_row", ...columns.map(({ name }) => name), "odd_score", "odd_p", "odd_verdict"]);
    assert.deepEqual(lines[1].slice(1, 1 + columns.length), oddest[0][4].map((cell) => cell ?? ""));
    assert.equal(lines.length, 2);
  }));

  test("the marked rows are downloaded, and formulas are made harmless", () => on("hostile", async (page) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download 5 odd rows as CSV" }).click()]);
    assert.equal(download.suggestedFilename(), "odd-rows.csv");
    const lines = parseCsv(readFileSync(await download.path(), "utf8"));
    assert.equal(lines.length, 6);
    const { oddest, columns } = await dataOf(page);
    const width = columns.length + 4;
    assert.ok(lines.every((line) => line.length === width));
    const cells = lines.slice(1).flat();
    assert.ok(cells.some((cell) => cell.startsWith("'=HYPERLINK(")) && !cells.some((cell) => /^[=@]/.test(cell)));
    assert.ok(cells.includes("-1") && cells.includes("two\nlines, \"quoted\""));
    assert.deepEqual(lines.slice(1).map((line) => Number(line[0])), oddest.slice(0, 5).map((row) => row[0]));
    assert.match(await page.locator("#status").innerText(), /Saved 5 rows to odd-rows.csv. 1 long cell is shortened/);
  }));

  test("hostile cells are shown as text", () => on("hostile", async (page) => {
    await page.getByLabel("Show").selectOption("all");
    for (const button of (await page.locator(".open").all()).slice(0, 6)) await button.click();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("main img").count(), 0);
    const text = await page.locator("#table").innerText();
    for (const part of ["</script><script>window.hacked=1", "<img src=x onerror=", "⟨U+202E⟩reversed", "⟨U+202E⟩b"]) assert.ok(text.includes(part), part);
    assert.ok(!text.includes("\u202e"));
    assert.ok(text.includes("(1,000,000 characters)"));
  }));

  const calledCell = (page, text) => page.locator("#table td.is-called", { hasText: text });

  test("a misspelled name is solid, with what is expected beside it, to those who point and to the keyboard", () => on("mixed", async (page) => {
    assert.equal(await page.locator("#table td.is-called").count(), 2);
    const [name, number, tip] = [calledCell(page, "Trondhiem"), calledCell(page, "1O2"), page.locator("#tip")];
    assert.match(await name.innerText(), /→ Trondheim$/);
    assert.ok(!(await tip.isVisible()));
    await name.hover();
    assert.match(await tip.innerText(), /^expected: Trondheim\s[^]*looks like `Trondheim`[^]*p-value of the cell: [\de.-]+$/);
    await page.locator("h1").hover();
    assert.ok(!(await tip.isVisible()));
    await number.getByRole("button").focus();
    assert.match(await tip.innerText(), /cannot be read as a number/);
    assert.equal(await number.getByRole("button").getAttribute("aria-describedby"), "tip");
    await page.screenshot({ path: screenshotOf("mixed-tip") });
    await page.keyboard.press("Escape");
    assert.ok(!(await tip.isVisible()));
    assert.match(await page.locator("#legend").innerText(), /Solid cells make their row odd/);
  }));

  test("called cells are reached with the Tab key", () => on("mixed", async (page) => {
    await page.locator("#scroll").focus();
    for (let step = 0; step < 20 && !(await page.locator("#tip").isVisible()); step++) await page.keyboard.press("Tab");
    assert.match(await page.locator("#tip").innerText(), /^expected: /);
  }));

  test("an opened row has the guilty cell first, what is expected there, and no bars", () => on("mixed", async (page) => {
    await page.locator("#table tr.row", { hasText: "Trondhiem" }).locator(".open").click();
    const opened = page.locator(".opened");
    assert.deepEqual(await opened.locator("thead th").allInnerTexts(), ["Column", "Value", "Expected", "p-value", "What is odd", "Normal"]);
    const lines = opened.locator("tbody tr");
    assert.deepEqual(await lines.evaluateAll((all) => all.map((line) => line.className)), ["is-called", "", "", ""]);
    const first = await lines.first().innerText();
    for (const part of ["Trondhiem", "Trondheim", "looks like `Trondheim`"]) assert.ok(first.includes(part), first);
    assert.equal(await opened.locator(".track").count(), 0);
    assert.match(await opened.innerText(), /texts of \d+ to \d+ characters/);
    assert.equal(await opened.locator(".why li").count(), 1);
  }));

  test("columns with called cells come first, and can be shown in their own order", () => on("mixed", async (page) => {
    const names = () => page.locator("#table thead button[data-key] bdi").allInnerTexts();
    const some = await names();
    assert.deepEqual(some.slice(3, 5).sort(), ["amount", "city"]);
    const { columns } = await dataOf(page);
    const own = page.getByRole("button", { name: "Columns in their own order" });
    await own.click();
    assert.deepEqual((await names()).slice(3), columns.map(({ name }) => name));
  }));

  test("all called cells are listed, lead to their rows, and are downloaded", () => on("mixed", async (page) => {
    const { oddest } = await dataOf(page);
    const lines = await page.locator("#called tbody tr").evaluateAll((all) => all.map((line) => [...line.children].map((cell) => cell.innerText)));
    assert.deepEqual(lines.map(([row]) => Number(row.match(/\d+$/)[0])).sort((a, b) => a - b), [7, 20]);
    const typo = lines.find(([, column]) => column === "city");
    assert.deepEqual(typo.slice(1, 4), ["city", "Trondhiem", "Trondheim"]);
    const save = async (name) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return [download.suggestedFilename(), parseCsv(readFileSync(await download.path(), "utf8"))];
    };
    const [file, cells] = await save("Download 2 cells as CSV");
    assert.equal(file, "odd-cells.csv");
    assert.deepEqual(cells[0], ["row", "column", "value", "p", "expected", "low", "high", "reason"]);
    assert.deepEqual(cells.find(([row]) => row === "7").slice(1, 3), ["city", "Trondhiem"]);
    // The page has all 400 rows and all 4 columns: the whole table, repaired, and nothing else changed.
    const [name, table] = await save("Download the repaired table as CSV");
    assert.equal(name, "repaired.csv");
    assert.equal(table.length, 401);
    assert.equal(table[7][0], "Trondheim");
    const changed = oddest.filter(([row, , , , cells]) => cells.some((cell, at) => (cell ?? "") !== table[row][at]));
    assert.deepEqual(changed.map(([row]) => row).sort((a, b) => a - b), [7, 20]);
    await page.locator("#called .to-row").first().click();
    assert.equal(await page.locator(".opened").count(), 1);
  }));

  test("without odd rows the list of called cells is empty", () => on("mixed", async (page) => {
    await page.getByRole("radio", { name: "p-value" }).check();
    await page.getByRole("slider").focus();
    await page.keyboard.press("Home");
    if (countIn(await headline(page)) === 0) assert.match(await page.locator("#called").innerText(), /No cell is called/);
    const called = await page.locator("#called tbody tr:not(.nothing)").count();
    assert.equal(called, await page.locator("#table td.is-called").count());
  }));

  test("hostile names and values stay text in called cells, their tips and their list", () => on("hostile-cells", async (page) => {
    const called = page.locator("#table td.is-called");
    assert.ok((await called.count()) >= 1);
    await called.first().getByRole("button").focus();
    const tip = await page.locator("#tip").innerText();
    const list = await page.locator("#called").innerText();
    assert.ok(tip.includes("<img src=x onerror=") && list.includes("<img src=x onerror="), tip);
    assert.ok(list.includes("⟨U+202E⟩"));
    await page.locator(".open").first().click();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("main img, #tip img").count(), 0);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /repaired/ }).click()]);
    const cells = parseCsv(readFileSync(await download.path(), "utf8")).flat();
    assert.ok(cells.some((cell) => cell.startsWith("'=HYPERLINK(")) && !cells.some((cell) => /^[=@]/.test(cell)));
  }));

  test("colors follow the system, and the reader", () => on("orders", async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    const button = page.getByRole("button", { name: /^Colors:/ });
    await button.click();
    const light = await paper();
    assert.notEqual(light, dark);
    await button.click();
    assert.equal(await paper(), dark);
  }, { colorScheme: "dark" }));

  test("of many columns the important ones come first, and all can be shown", () => on("wide", async (page) => {
    const headers = () => page.locator("#table > thead th").count();
    assert.equal(await headers(), 4 + 12);
    await page.getByRole("button", { name: "All 500 columns" }).click();
    assert.equal(await headers(), 4 + 500);
    await page.locator(".open").first().click();
    await page.getByRole("button", { name: "Show all 500 columns" }).click();
    assert.equal(await page.locator(".opened tbody tr").count(), 500);
  }));

  test("no odd row: the page says so and shows the highest scores", () => on("none", async (page) => {
    assert.equal(await headline(page), "0 of 200 rows are odd");
    assert.equal((await shownRows(page)).length, 25);
    assert.ok(await page.getByRole("button", { name: /Download 0/ }).isDisabled());
    await page.getByLabel("Show").selectOption("odd");
    assert.match(await page.locator("tbody").first().innerText(), /No row is odd/);
  }));

  test("a point of the map opens its row", () => on("orders", async (page) => {
    const point = page.locator("#map .odd").first();
    const row = (await point.locator("title").textContent()).match(/^row ([\d,]+), /)[1];
    await point.dispatchEvent("click");
    assert.match(await page.locator(".opened h3").innerText(), new RegExp(`^Row ${row}:`));
  }));

  test("labels: the confusion table adds up and follows the threshold", () => on("orders", async (page) => {
    const cells = async () => (await page.locator(".confusion td").allInnerTexts()).filter((text) => text !== "").map((text) => Number(text.replaceAll(",", "")));
    const before = await cells();
    assert.equal(before.reduce((a, b) => a + b), 2000);
    assert.equal(before[0] + before[1], 40);
    await page.getByRole("slider").focus();
    await page.keyboard.press("End");
    const after = await cells();
    assert.equal(after[0] + after[2], countIn(await headline(page)));
    assert.ok(after[0] >= before[0]);
  }));

  for (const name of ["orders", "wide", "hostile", "mixed", "fitted"]) {
    test(`${name}: fits on a phone`, () => on(name, async (page) => {
      await page.locator(".open").first().click();
      const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(content <= screen, `${content} > ${screen}`);
      await page.screenshot({ path: screenshotOf(`${name}-phone`), fullPage: true });
      if (["orders", "mixed"].includes(name)) assert.deepEqual(await barriers(page), []);
    }, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }));
  }

  test("on paper: no controls, light colors", () => on("orders", async (page) => {
    await page.locator(".open").first().click();
    await page.emulateMedia({ media: "print" });
    for (const id of ["search", "download", "theme", "slider"]) assert.ok(!(await page.locator(`#${id}`).isVisible()), id);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    await page.setViewportSize({ width: 1030, height: 700 });
    await page.screenshot({ path: screenshotOf("orders-print"), fullPage: true });
    assert.ok((await page.pdf({ format: "A4" })).length > 10_000);
  }, { colorScheme: "dark" }));

  test("the page of the laboratory", { skip: hasPage("bench") ? false : "there is no such page" }, async () => {
    for (const colorScheme of ["light", "dark"]) {
      await on("bench", async (page) => {
        assert.ok((await page.locator(".picture svg").count()) >= 4);
        await page.locator("summary").first().click();
        assert.ok((await page.locator("details[open] tbody tr").count()) > 10);
        await page.screenshot({ path: screenshotOf(`bench-${colorScheme}`), fullPage: true });
        // The dark theme changes the colors of the pictures.
        if (colorScheme === "dark") assert.deepEqual(await barriers(page), []);
      }, { colorScheme });
    }
  });
});
