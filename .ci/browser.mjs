// Drives a Chromium over its debugging protocol: node browser.mjs CHROMIUM PAGE PICTURES. Exit 1 when something is wrong.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , chromium, file, pictures] = process.argv;
mkdirSync(pictures, { recursive: true });
const profile = mkdtempSync(join(tmpdir(), "page-"));
const root = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = spawn(chromium, [
  "--headless=new", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "--disable-gpu",
  "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", ...root, "about:blank",
], { stdio: ["ignore", "ignore", "pipe"] });

const address = await new Promise((found, failed) => {
  let said = "";
  browser.stderr.on("data", (text) => {
    said += text;
    const match = said.match(/DevTools listening on (\S+)/);
    if (match) found(match[1]);
  });
  browser.on("exit", () => failed(new Error(`the browser ended:\n${said}`)));
  setTimeout(() => failed(new Error(`the browser does not answer:\n${said}`)), 60_000);
});

const socket = new WebSocket(address);
await new Promise((open) => socket.addEventListener("open", open, { once: true }));
let last = 0;
const waiting = new Map();
const requests = [];
const complaints = [];
let loaded = () => {};
socket.addEventListener("message", ({ data }) => {
  const message = JSON.parse(data);
  const { method, params } = message;
  if (message.id) {
    const { done, failed } = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) failed(new Error(message.error.message));
    else done(message.result);
  } else if (method === "Network.requestWillBeSent") requests.push(params.request.url);
  else if (method === "Runtime.exceptionThrown") complaints.push(params.exceptionDetails.text);
  else if (method === "Log.entryAdded" && params.entry.level === "error") complaints.push(params.entry.text);
  else if (method === "Page.loadEventFired") loaded();
});
let session;
const send = (method, params = {}) => new Promise((done, failed) => {
  waiting.set(++last, { done, failed });
  socket.send(JSON.stringify({ id: last, method, params, sessionId: session }));
});
const { targetId } = await send("Target.createTarget", { url: "about:blank" });
({ sessionId: session } = await send("Target.attachToTarget", { targetId, flatten: true }));

const page = async (code) => {
  const { result, exceptionDetails } = await send("Runtime.evaluate", {
    expression: `(async () => { ${code} })()`, awaitPromise: true, returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
};
let wrong = 0;
const check = (what, is, found = "") => {
  console.log(`${is ? "ok  " : "FAIL"} ${what}${is ? "" : `: ${JSON.stringify(found)}`}`);
  wrong += is ? 0 : 1;
};
const size = (width, height, mobile) =>
  send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
const theme = (value) => send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
const picture = async (name) => {
  const { data } = await send("Page.captureScreenshot", { format: "png" });
  writeFileSync(join(pictures, `${name}.png`), Buffer.from(data, "base64"));
};
const press = async (key, code, number) => {
  for (const type of ["keyDown", "keyUp"]) {
    await send("Input.dispatchKeyEvent", { type, key, code, windowsVirtualKeyCode: number });
  }
};

// The part of a text that stands out least from what is behind it.
const contrast = `
  const number = (colour) => (colour.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = (colour) => {
    const [r, g, b] = number(colour).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      const parts = number(colour);
      if (parts.length < 4 || parts[3] > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  let least = [99, ""];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (!text.data.trim() || element.closest("script, style, dialog:not([open]), title, desc")) continue;
    const style = getComputedStyle(element);
    const colour = element.namespaceURI.includes("svg") ? style.fill : style.color;
    const [a, b] = [light(colour), light(behind(element))].sort((a, b) => b - a);
    const found = (a + 0.05) / (b + 0.05);
    if (found < least[0]) least = [found, text.data.trim().slice(0, 40)];
  }
  return least;`;

try {
  await Promise.all(["Page", "Runtime", "Network", "Log"].map((name) => send(`${name}.enable`)));
  await send("Page.addScriptToEvaluateOnNewDocument", {
    source: `window.long = []; new PerformanceObserver((all) => window.long.push(...all.getEntries().map((e) => e.duration)))
      .observe({ type: "longtask", buffered: true });`,
  });
  await size(1280, 900, false);
  await theme("light");
  const url = pathToFileURL(resolve(file)).href;
  const opened = new Promise((done) => { loaded = done; });
  await send("Page.navigate", { url });
  await opened;
  await picture("light");

  check("it asks for nothing but itself", requests.every((one) => one === url || one === "about:blank"), requests);
  const long = () => page("await new Promise((done) => setTimeout(done, 300)); return Math.max(0, ...window.long.splice(0));");
  const loading = await long();
  check(`opening it takes no task over 200 ms (${Math.round(loading)} ms)`, loading <= 200, loading);

  check("every table has headings with a scope", await page(`
    return [...document.querySelectorAll("table")].every((table) => table.tHead &&
      [...table.tHead.rows[0].cells].every((cell) => cell.tagName === "TH" && cell.scope === "col"));`));
  check("every drawing has a name and words", await page(`
    const all = [...document.querySelectorAll("main svg")];
    return all.length > 3 && all.every((svg) => svg.getAttribute("role") === "img" && svg.getAttribute("aria-label") &&
      svg.querySelector("desc").textContent.length > 40);`));
  check("every field has a label", await page(`
    return [...document.querySelectorAll("input")].every((input) => input.labels.length === 1);`));

  const sorted = (way) => page(`
    const head = [...document.querySelectorAll("#strategies-rows th")].find((one) => one.textContent.startsWith("time, h"));
    head.querySelector("button").click();
    const values = [...document.querySelectorAll("#strategies-rows tbody tr")]
      .map((row) => row.cells[head.cellIndex].dataset.v).filter((value) => value !== undefined).map(Number);
    const right = values.every((value, at) => at === 0 || (${way === "ascending"} ? value >= values[at - 1] : value <= values[at - 1]));
    return values.length > 10 && right && head.getAttribute("aria-sort") === "${way}";`);
  check("a click on a heading sorts", await sorted("ascending"));
  check("another turns the order", await sorted("descending"));
  const filtered = await page(`
    const input = document.getElementById("strategies-filter");
    input.value = "partial knee";
    input.dispatchEvent(new Event("input"));
    const shown = [...document.querySelectorAll("#strategies-rows tbody tr")].filter((row) => !row.hidden);
    return [shown.length, shown.every((row) => /partial/.test(row.textContent) && /knee/.test(row.textContent)),
      input.parentElement.querySelector("output").textContent];`);
  check("words filter rows, and the count is told", filtered[0] > 0 && filtered[1] && filtered[2].startsWith(`${filtered[0]} of`), filtered);
  for (const [row, title, words] of [["place-0", "Configuration", "Chosen by|Nobody"], ["case-0", "Case", "overhead_net_time"]]) {
    const found = await page(`
      document.querySelector("[data-opens='${row}']").click();
      const dialog = document.getElementById("detail");
      return [dialog.open, dialog.querySelector("h2").textContent, dialog.textContent];`);
    check(`a row opens: ${title}`, found[0] && found[1].startsWith(title) && new RegExp(words).test(found[2]), found);
    if (row === "case-0") await picture("case");
    await press("Escape", "Escape", 27);
    check("Escape closes it, and the focus is where it was", await page(`
      return !document.getElementById("detail").open && document.activeElement.dataset.opens === "${row}";`));
  }
  const using = await long();
  check(`using it takes no task over 200 ms (${Math.round(using)} ms)`, using <= 200, using);

  // In the order of the page: from its first link on, each further down the document.
  await page("document.activeElement.blur(); window.getSelection().removeAllRanges(); window.scrollTo(0, 0);");
  await page("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex');");
  let order = true;
  let first = "";
  for (let step = 0; step < 60; step += 1) {
    await press("Tab", "Tab", 9);
    const [text, follows, seen] = await page(`
      const now = document.activeElement;
      const before = window.before;
      window.before = now;
      const style = getComputedStyle(now);
      return [now.textContent.slice(0, 30), !before || !!(before.compareDocumentPosition(now) & 4), style.outlineStyle !== "none" || now.className === "skip"];`);
    if (step === 0) first = text;
    order &&= follows && seen;
  }
  check("Tab goes down the page, and shows where it is", order && first === "To the results", first);

  for (const value of ["light", "dark"]) {
    await theme(value);
    const least = await page(contrast);
    check(`text stands out by 4.5 or more, ${value} (${least[0].toFixed(1)})`, least[0] >= 4.5, least);
  }
  await page("window.scrollTo(0, 0)");
  await picture("dark");
  await page("document.querySelector('#figures').scrollIntoView()");
  await picture("dark-figures");
  await theme("light");
  await size(375, 800, true);
  await page("window.scrollTo(0, 0)");
  await picture("phone");
  const wide = await page("return [document.documentElement.scrollWidth, window.innerWidth];");
  check("a phone need not scroll sideways but within tables and figures", wide[0] <= wide[1], wide);
  await page("document.querySelector('#figures').scrollIntoView()");
  await picture("phone-figures");

  await size(1280, 900, false);
  const { data } = await send("Page.printToPDF", { preferCSSPageSize: false, printBackground: false });
  const pdf = Buffer.from(data, "base64");
  writeFileSync(join(pictures, "page.pdf"), pdf);
  check(`it prints (${Math.round(pdf.length / 1024)} KiB)`, pdf.subarray(0, 4).toString() === "%PDF" && pdf.length > 20_000);
  check("nothing complains", complaints.length === 0, complaints);
} finally {
  socket.close();
  browser.kill();
  await new Promise((done) => (browser.exitCode === null ? browser.once("exit", done) : done()));
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
if (wrong) console.log(`${wrong} wrong`);
process.exit(wrong ? 1 : 0);
