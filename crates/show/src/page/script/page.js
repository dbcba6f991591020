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
  $("figure-note").textContent = data.picture.note;
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

readAddress();
drawOnce();
draw();
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
// The card stands before the library is read; the figure follows.
addEventListener("DOMContentLoaded", () => setTimeout(() => {
  draw();
  openFromAddress();
  let wide = $("drawing").clientWidth;
  new ResizeObserver(() => {
    if ($("drawing").clientWidth === wide) return;
    wide = $("drawing").clientWidth;
    drawFigure();
  }).observe($("drawing"));
}, 0));
