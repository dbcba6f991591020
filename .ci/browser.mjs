// Uses pages as a reader does: node browser.mjs CHROMIUM PICTURES AXE PAGE…. Exit 1 when something is wrong.
// The first page is of the run of scenarios/scavenger.toml; of all of them pictures are taken and accessibility is checked.
// GOLDENS=FOLDER compares the pictures with those in it, RENEW=1 replaces these.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { start } from "./chromium.mjs";

const [, , chromium, pictures, axeFile, ...files] = process.argv;
const goldens = process.env.GOLDENS ?? "";
mkdirSync(pictures, { recursive: true });
const browser = await start(chromium);
const { page } = browser;
let wrong = 0;
const check = (what, is, found = "") => {
  console.log(`${is ? "ok  " : "FAIL"} ${what}${is ? "" : `: ${JSON.stringify(found)}`}`);
  wrong += is ? 0 : 1;
};

// Two pictures are alike if, of squares of 16 by 16 pixels, at most 4 of 100 differ in their mean colour by more than a tenth.
// Another font moves letters within a square, and now and then a line; a figure or a card that is not there differs in more.
const difference = (one, other) => page(`
  const load = async (data) => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    return image;
  };
  const images = [await load(${JSON.stringify(one)}), await load(${JSON.stringify(other)})];
  const width = Math.max(...images.map((image) => image.width));
  const height = Math.max(...images.map((image) => image.height));
  const [across, down] = [Math.ceil(width / 16), Math.ceil(height / 16)];
  const means = images.map((image) => {
    const canvas = new OffscreenCanvas(across, down).getContext("2d", { willReadFrequently: true });
    canvas.imageSmoothingQuality = "high";
    canvas.drawImage(image, 0, 0, image.width / 16, image.height / 16);
    return canvas.getImageData(0, 0, across, down).data;
  });
  let differ = 0;
  for (let at = 0; at < across * down; at += 1) {
    differ += [0, 1, 2].some((part) => Math.abs(means[0][4 * at + part] - means[1][4 * at + part]) > 25);
  }
  return differ / (across * down);`);

const compare = async (name, taken) => {
  writeFileSync(join(pictures, `${name}.png`), taken);
  // That of a million cases is only measured.
  if (!goldens || name.startsWith("million")) return;
  const golden = join(goldens, `${name}.png`);
  if (process.env.RENEW) writeFileSync(golden, taken);
  check(`${name}.png is below 200 kB`, statSync(golden).size <= 200_000, statSync(golden).size);
  // A page that may load pictures from data, which those of results do, too.
  const share = await difference(taken.toString("base64"), readFileSync(golden).toString("base64"));
  check(`${name} looks as its golden (${(100 * share).toFixed(1)} % of squares differ)`, share <= 0.04, share);
};

const axe = readFileSync(axeFile, "utf8");
const violations = async () => {
  await page(axe + "; return 0;");
  return page(`
    const { violations } = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] });
    return violations.map((one) => [one.id, one.nodes.slice(0, 2).map((node) => node.target.join(" "))]);`);
};

// Every page: opened within half a second, without network, in two widths and two themes.
const opens = async (file) => {
  const name = basename(file, ".html");
  const url = pathToFileURL(resolve(file)).href;
  browser.requests.length = 0;
  await browser.size(1280, 900);
  await browser.theme("light");
  // Others use the machine, too: the quickest of three counts.
  let paint = 9e9;
  for (let time = 0; time < 3; time += 1) {
    await browser.open(url);
    paint = Math.min(paint, await page(`return performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 9e9;`));
  }
  check(`${name}: at most 2 MB (${(statSync(file).size / 1e6).toFixed(2)} MB)`, statSync(file).size <= 2e6);
  check(`${name}: first paint below 0.5 s (${Math.round(paint)} ms)`, paint < 500, paint);
  const far = browser.requests.filter((one) => one !== url && one !== "about:blank" && !one.startsWith("data:"));
  check(`${name}: it asks for nothing but itself`, far.length === 0, far);
  const answer = await page(`return document.getElementById("answer").getBoundingClientRect().bottom;`);
  check(`${name}: the answer ends on the first screen (${Math.round(answer)} px)`, answer <= 900, answer);
  const details = await page(`
    const first = [...document.querySelectorAll("details")][0];
    return first.getBoundingClientRect().top + scrollY;`);
  console.log(`     ${name}: ${(details / 900).toFixed(1)} screens before details`);
  for (const theme of ["light", "dark"]) {
    await browser.theme(theme);
    const found = await violations();
    check(`${name}: no violation of WCAG A and AA, ${theme}`, found.length === 0, found);
  }
  for (const [theme, width, height] of [["light", 1280, 1000], ["dark", 1280, 1000], ["light", 390, 1300]]) {
    await browser.theme(theme);
    await browser.size(width, height, width < 600);
    await page("scrollTo(0, 0); await new Promise((done) => setTimeout(done, 300));");
    const wide = await page("return [document.documentElement.scrollWidth, innerWidth];");
    check(`${name}: ${width} px need not scroll sideways`, wide[0] <= wide[1], wide);
    await compare(`${name}-${width}${theme === "dark" ? "-dark" : ""}`, await browser.picture());
  }
};

const text = (id) => page(`return document.getElementById(${JSON.stringify(id)}).innerText.replaceAll("\u00a0", " ");`);
const rows = (id) => page(`return [...document.querySelectorAll("#${id} tbody tr[data-row]")].map((row) => row.innerText);`);
// A mark of the figure, where it is on the screen: the best, or the first that is alone.
const mark = (what) => page(`
  const drawing = document.getElementById("drawing");
  drawing.scrollIntoView({ block: "center" });
  const box = drawing.querySelector("svg").getBoundingClientRect();
  const alone = (one) => drawing.points.every((other) => other === one || Math.hypot(one.px - other.px, one.py - other.py) > 40);
  const point = drawing.points.find((one) => ${what});
  return { x: box.left + point.px, y: box.top + point.py, name: point.name, number: point.number, table: point.table.id };`);

// What only a page with everything can show.
const isUsed = async (file) => {
  const url = pathToFileURL(resolve(file)).href;
  await browser.size(1280, 900);
  await browser.theme("light");
  await browser.open(url);
  const before = await text("answer");
  await page(`document.querySelector('#pickers input[name="objective"][value="cost"]').click();`);
  const after = await text("answer");
  check("a picker changes the card", before !== after && after.includes("8 e2-standard-4"), after);
  check("and stands in the address", await page(`return location.hash === "#objective=cost";`), await page("return location.hash;"));
  await page(`const choose = document.querySelector('#pickers select[name="strategy"]'); choose.value = "random"; choose.dispatchEvent(new Event("change"));`);
  const on = await page(`return [...document.querySelectorAll("#strategies tr.on")].map((row) => row.innerText.split("\\t")[0]);`);
  check("a strategy is marked", on.length === 1 && on[0] === "random", on);

  const point = await mark(`one.table.id === "configurations" && alone(one)`);
  await browser.mouse("mouseMoved", point.x, point.y);
  const tip = await text("tip");
  check("hover names the configuration", tip.startsWith(point.name) && /the best/.test(tip), [tip, point]);
  await browser.click(point.x, point.y);
  const opened = await page(`return [document.getElementById("detail").open, document.getElementById("detail-title").textContent.replaceAll("\u00a0", " "), location.hash];`);
  check("a click opens its row", opened[0] && opened[1] === point.name && opened[2].includes(`open=configurations.${point.number}`), opened);
  const found = await violations();
  check("no violation with a row open", found.length === 0, found);
  await browser.press("Escape", "Escape", 27);
  check("Escape closes it", await page(`return !document.getElementById("detail").open && !location.hash.includes("open");`));

  const all = (await rows("configurations")).length;
  const area = await page(`
    const box = document.querySelector("#drawing svg").getBoundingClientRect();
    return [box.left + 70, box.top + 30, box.left + box.width / 2, box.bottom - 50];`);
  await browser.drag([area[0], area[1]], [area[2], area[3]]);
  const brushed = (await rows("configurations")).length;
  const inside = await page(`
    const [left, right, low, high] = new URLSearchParams(location.hash.slice(1)).get("brush").split("~").map(Number);
    const own = document.getElementById("drawing").points.filter((one) => one.table.id === "configurations");
    return own.filter((one) => one.x >= left && one.x <= right && one.y >= low && one.y <= high).length;`);
  check(`a drag keeps the rows below it (${brushed} of ${all})`, brushed > 0 && brushed < all && brushed === inside, [all, brushed, inside]);
  const link = await page("return location.href;");
  const seen = [await text("answer"), await rows("configurations"), await rows("strategies")];
  await browser.open(link);
  const again = [await text("answer"), await rows("configurations"), await rows("strategies")];
  check("an address brings all of it back", JSON.stringify(seen) === JSON.stringify(again), again);

  const folder = mkdtempSync(join(tmpdir(), "csv-"));
  await browser.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, eventsEnabled: true });
  const done = new Promise((ready) => { browser.downloaded = ready; });
  await page(`document.querySelector("#configurations .csv").click();`);
  await done;
  const csv = readFileSync(join(folder, readdirSync(folder)[0]), "utf8").trimEnd().split("\n");
  check("a download has the rows that are shown, and all columns", csv.length === brushed + 1 && csv[0].startsWith("workload,pricing,configuration,VM,other axes,workers,batch,"), csv);
  rmSync(folder, { recursive: true });
  await page(`document.querySelector("#brushed button").click();`);
  check("all rows come back", (await rows("configurations")).length === all);

  const column = (head) => page(`
    const heads = [...document.querySelectorAll("#strategies thead th")];
    const at = heads.findIndex((one) => one.innerText.startsWith(${JSON.stringify(head)}));
    heads[at].querySelector("button").click();
    const order = document.querySelectorAll("#strategies thead th")[at].getAttribute("aria-sort");
    return [order, [...document.querySelectorAll("#strategies tr[data-row]")].map((row) => parseFloat(row.cells[at].innerText))];`);
  const rising = (values, sign) => values.slice(1).every((value, at) => sign * (value - values[at]) >= 0);
  const [up, down] = [await column("search, h"), await column("search, h")];
  const parts = await page(`return [...document.querySelectorAll("#strategies tbody tr")].map((row) => row.className === "part");`);
  const split = (values) => parts.reduce((all, isPart) => {
    if (isPart) all.push([]);
    else all.at(-1).push(values.shift());
    return all;
  }, []);
  check("a click on a heading sorts", up[0] === "ascending" && split(up[1]).every((own) => rising(own, 1)), up);
  check("another turns the order", down[0] === "descending" && split(down[1]).every((own) => rising(own, -1)), down);
  await page(`document.getElementById("cases").open = true; await new Promise((done) => setTimeout(done, 200));`);
  const output = await page(`
    const input = document.querySelector("#cases input");
    input.value = "partial";
    input.dispatchEvent(new Event("input"));
    return [document.querySelector("#cases output").textContent, [...document.querySelectorAll("#cases tr[data-row]")].every((row) => row.innerText.includes("partial"))];`);
  check("words filter rows, and the count is told", /^\d+ of \d+ rows$/.test(output[0]) && output[1], output);
  await usedByKeys(url);
};

const usedByKeys = async (url) => {
  await browser.open(url);
  let [order, first, stops] = [true, "", 0];
  for (let step = 0; step < 40; step += 1) {
    await browser.press("Tab", "Tab", 9);
    const [at, follows, is] = await page(`
      const now = document.activeElement;
      const before = window.before;
      window.before = now;
      const box = (now.matches("input[type=radio]") ? now.nextElementSibling : now);
      const shows = getComputedStyle(box).outlineStyle !== "none" || now.className === "skip";
      return [now.textContent.slice(0, 30), !before || !!(before.compareDocumentPosition(now) & 4), shows && now !== document.body];`);
    if (step === 0) first = at;
    order &&= follows;
    stops += is;
  }
  check("Tab goes down the page, and shows where it is", order && stops === 40 && first === "To the answer", [order, stops, first]);
  await page(`document.getElementById("drawing").focus();`);
  await browser.press("ArrowRight", "ArrowRight", 39);
  const said = await text("said");
  await browser.press("Enter", "Enter", 13);
  const title = await page(`return document.getElementById("detail").open && document.getElementById("detail-title").textContent.replaceAll("\u00a0", " ");`);
  check("arrows go from mark to mark, Enter opens one", title && said.startsWith(title), [said, title]);
  await browser.press("Escape", "Escape", 27);
  const { data } = await browser.send("Page.printToPDF", { printBackground: false });
  const pdf = Buffer.from(data, "base64");
  writeFileSync(join(pictures, "page.pdf"), pdf);
  check(`it prints (${Math.round(pdf.length / 1024)} KiB)`, pdf.length > 20_000);
};

try {
  if (goldens && !existsSync(goldens)) mkdirSync(goldens, { recursive: true });
  for (const file of files) await opens(file);
  await isUsed(files[0]);
  check("nothing complains", browser.complaints.length === 0, browser.complaints);
} finally {
  await browser.end();
}
if (wrong) console.log(`${wrong} wrong`);
process.exit(wrong ? 1 : 0);
