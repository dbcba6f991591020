// Drives a headless Chromium over its debugging protocol.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const start = async (chromium) => {
  const profile = mkdtempSync(join(tmpdir(), "page-"));
  const root = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = spawn(chromium, [
    "--headless=new", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "--disable-gpu", "--disable-quic",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--hide-scrollbars", ...root, "about:blank",
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
  await new Promise((opened) => socket.addEventListener("open", opened, { once: true }));
  const waiting = new Map();
  const one = { requests: [], complaints: [], loaded: () => {}, downloaded: () => {} };
  socket.addEventListener("message", ({ data }) => {
    const { id, error, result, method, params } = JSON.parse(data);
    if (id) {
      const { done, failed } = waiting.get(id);
      waiting.delete(id);
      if (error) failed(new Error(error.message));
      else done(result);
    } else if (method === "Network.requestWillBeSent") one.requests.push(params.request.url);
    else if (method === "Runtime.exceptionThrown") one.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    else if (method === "Log.entryAdded" && params.entry.level === "error") one.complaints.push(params.entry.text);
    else if (method === "Page.loadEventFired") one.loaded();
    else if (method === "Browser.downloadProgress" && params.state === "completed") one.downloaded();
  });
  let [last, session] = [0, undefined];
  one.send = (method, params = {}) => new Promise((done, failed) => {
    waiting.set(++last, { done, failed });
    socket.send(JSON.stringify({ id: last, method, params, sessionId: session }));
  });
  const { targetId } = await one.send("Target.createTarget", { url: "about:blank" });
  ({ sessionId: session } = await one.send("Target.attachToTarget", { targetId, flatten: true }));
  await Promise.all(["Page", "Runtime", "Network", "Log"].map((name) => one.send(`${name}.enable`)));

  // Runs code in the page, and hands out what it returns.
  one.page = async (code) => {
    const { result, exceptionDetails } = await one.send("Runtime.evaluate", {
      expression: `(async () => { ${code} })()`, awaitPromise: true, returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  one.open = async (url) => {
    const opened = new Promise((done) => { one.loaded = done; });
    // Another part of an address behind `#` alone would not be opened anew.
    await one.send("Page.navigate", { url: "about:blank" });
    await opened;
    const loaded = new Promise((done) => { one.loaded = done; });
    await one.send("Page.navigate", { url });
    await loaded;
    await one.page(`
      for (let step = 0; step < 200 && !document.documentElement.dataset.drawn; step += 1) {
        await new Promise((done) => setTimeout(done, 50));
      }
      await new Promise((done) => setTimeout(done, 100));`);
  };
  one.size = (width, height, mobile = false) =>
    one.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
  one.theme = (value) => one.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
  one.picture = async () => Buffer.from((await one.send("Page.captureScreenshot", { format: "png" })).data, "base64");
  one.press = async (key, code, number) => {
    for (const type of ["keyDown", "keyUp"]) {
      await one.send("Input.dispatchKeyEvent", { type, key, code, windowsVirtualKeyCode: number });
    }
  };
  one.mouse = (type, x, y, more = {}) => one.send("Input.dispatchMouseEvent", { type, x, y, ...more });
  one.click = async (x, y) => {
    await one.mouse("mouseMoved", x, y);
    for (const type of ["mousePressed", "mouseReleased"]) await one.mouse(type, x, y, { button: "left", clickCount: 1 });
  };
  one.drag = async ([x0, y0], [x1, y1]) => {
    await one.mouse("mouseMoved", x0, y0);
    await one.mouse("mousePressed", x0, y0, { button: "left", clickCount: 1 });
    for (const share of [0.3, 0.7, 1]) {
      await one.mouse("mouseMoved", x0 + share * (x1 - x0), y0 + share * (y1 - y0), { button: "left", buttons: 1 });
    }
    await one.mouse("mouseReleased", x1, y1, { button: "left", clickCount: 1 });
  };
  one.end = async () => {
    socket.close();
    browser.kill();
    await new Promise((done) => (browser.exitCode === null ? browser.once("exit", done) : done()));
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return one;
};
