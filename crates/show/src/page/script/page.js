// Puts the page together, and draws it anew whenever something is picked.
const draw = () => {
  writeAddress();
  showPicks();
  drawCard();
  for (const table of data.tables) fillTable(table);
  if (data.picture) {
    for (const radio of $("axes").elements) radio.checked = radio.value === axesNow();
    drawFigure();
    drawLegend();
    const brushed = $("brushed");
    brushed.hidden = !state.brush;
    brushed.firstElementChild.textContent = "The tables show what was dragged over.";
  }
};

const drawOnce = () => {
  document.title = data.title + " – scavsim";
  $("about").textContent = data.about.join(" · ");
  drawPickers();
  for (const table of data.tables) drawTable(table);
  const list = $("caveats").querySelector("ul");
  $("caveats").hidden = data.caveats.length === 0;
  for (const caveat of data.caveats) list.append(sentence("li", caveat));
  const facts = $("run").querySelector("dl");
  for (const { name, value } of data.facts) {
    const one = facts.appendChild(element("div"));
    one.append(element("dt", name), element("dd", value));
  }
  drawSources();
  if (!data.picture) return;
  $("figure").hidden = false;
  $("figure-title").textContent = data.picture.title;
  const use = isTouched() ? "Tap a mark to open its row." : "Drag over marks to keep their rows only; click one to open it.";
  $("figure-note").textContent = `${data.picture.note} ${use}`;
  drawAxes();
  listenToFigure();
  $("brushed").querySelector("button").addEventListener("click", () => {
    state.brush = null;
    draw();
    $("drawing").focus();
  });
};

const drawSources = () => {
  const wide = $("run").querySelector(".wide");
  wide.hidden = data.sources.length === 0;
  const grid = wide.appendChild(element("table"));
  const head = grid.appendChild(element("thead")).appendChild(element("tr"));
  const keys = ["name", "what", "from", "licence", "hash"].filter((key) => data.sources.some((source) => source[key]));
  const heads = { name: "name", what: "what it is", from: "where it comes from", licence: "licence", hash: "hash of the data" };
  for (const key of keys) head.append(element("th", heads[key], { scope: "col" }));
  const body = grid.appendChild(element("tbody"));
  for (const source of data.sources) {
    const line = body.appendChild(element("tr"));
    keys.forEach((key, at) => line.append(element(at ? "td" : "th", source[key], at ? { class: key } : { scope: "row" })));
  }
};

// The library is read when the card stands.
const readCharts = () => {
  const script = element("script");
  script.textContent = $("charts").textContent;
  document.head.append(script);
};

// After the next paint; soon in any case, for what is hidden is not painted.
const afterPaint = (then) => {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    then();
  };
  requestAnimationFrame(() => setTimeout(once, 0));
  setTimeout(once, 1000);
};

const drawRest = () => {
  if (data.picture) readCharts();
  draw();
  openFromAddress();
  let wide = $("drawing").clientWidth;
  new ResizeObserver(() => {
    if ($("drawing").clientWidth === wide) return;
    wide = $("drawing").clientWidth;
    drawFigure();
  }).observe($("drawing"));
  document.documentElement.dataset.drawn = "all";
};

readAddress();
drawOnce();
showPicks();
drawCard();
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("answer").tabIndex = -1;
  $("answer").focus();
});
addEventListener("hashchange", () => {
  if ($("detail").open) $("detail").close();
  readAddress();
  draw();
  openFromAddress();
});
afterPaint(drawRest);
