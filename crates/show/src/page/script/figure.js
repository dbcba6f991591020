// The figure: rows of tables as marks, drawn by the library. Hover names one, a click opens its row, a drag keeps a part.
let points = [];
let surface = null;
const isTouched = () => matchMedia("(pointer: coarse)").matches;

const STEPS = {
  over: [1, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 0.9, 0.8, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01],
  log: [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5, 3, 1.5, 7].map((step) => step * 10 ** power)),
};

// The axes that there are: over the best where there is one, logarithms where all is above 0.
const axesNow = () => {
  const { x, y, over } = data.picture;
  if (!x.has_logarithm || !y.has_logarithm || points.some((point) => point.x <= 0 || point.y <= 0)) return "linear";
  return state.axes === "over" && !(over && answerNow()?.point) ? "log" : state.axes;
};

const gather = () => {
  const all = [];
  data.picture.layers.forEach((layer, nth) => {
    const table = tables.get(layer.table);
    const at = (head) => (head === null ? -1 : place(table, head));
    const [x, y, name, front, filled] = [layer.x, layer.y, layer.name, layer.front, layer.filled].map(at);
    const [xs, ys] = [layer.x_ends, layer.y_ends].map((ends) => ends?.map(at));
    for (const number of pickedRows(table)) {
      const row = table.rows[number];
      if (row[x] === null || row[y] === null) continue;
      const ends = (of) => (of && of.every((end) => row[end] !== null) ? of.map((end) => row[end]) : null);
      all.push({
        nth, table, number, layer, x: row[x], y: row[y], name: row[name] ?? "",
        front: front >= 0 && row[front] !== null,
        filled: filled < 0 || row[filled] === null || ["measured", "ok", "holds", "calibrated"].includes(row[filled]),
        note: filled < 0 ? "" : row[filled] ?? "", xs: ends(xs), ys: ends(ys), on: isMarked(table, row),
      });
    }
  });
  return all;
};

const axis = (which, mode, values, origin, length) => {
  const { name, unit } = data.picture[which];
  const by = mode === "over" ? origin : 1;
  let [least, most] = [Math.min(...values), Math.max(...values)].map((end) => end / by);
  if (mode === "linear") {
    const room = 0.05 * (most - least || Math.abs(most) || 1);
    return { label: `${name}${unit ? ", " + unit : ""}`, domain: [least - room, most + room], type: "linear", by };
  }
  const room = (most / least) ** 0.06 * 1.01;
  [least, most] = [least / room, most * room];
  const pixel = (value) => (length * Math.log(value / least)) / Math.log(most / least);
  const ticks = [];
  for (const step of STEPS[mode]) {
    const isInside = step >= least && step <= most;
    if (isInside && ticks.every((other) => Math.abs(pixel(other) - pixel(step)) > (which === "x" ? 48 : 26))) ticks.push(step);
  }
  const tick = (value) => (mode === "over" ? "×" : "") + Number(value.toPrecision(6));
  const label = mode === "over" ? `${name} over the best, ×1 = ${significant(origin)} ${unit}` : `${name}, ${unit}`;
  return { label, domain: [least, most], type: "log", ticks: ticks.sort((a, b) => a - b), tickFormat: tick, by };
};

const marksOf = (layer, nth, own, crowd) => {
  const marks = [];
  const front = own.filter((point) => point.front).sort((a, b) => a.u - b.u);
  if (front.length > 1) marks.push(Charts.line(front, { x: "u", y: "v", stroke: "var(--accent)", strokeWidth: 1.5, strokeDasharray: "5 4" }));
  const radius = layer.is_named ? 5.5 : crowd > 400 ? 2.2 : crowd > 80 ? 3.2 : 4.5;
  const colour = layer.is_named ? "var(--strategy)" : "var(--dot)";
  const dots = (rows, more) => Charts.dot(rows, { x: "u", y: "v", r: radius, symbol: layer.is_named ? "square" : "circle", ...more });
  marks.push(
    dots(own.filter((point) => !point.filled), { fill: "var(--card)", stroke: colour, strokeWidth: 1.3 }),
    dots(own.filter((point) => point.filled), { fill: colour, stroke: "var(--card)", strokeWidth: 0.7 }),
  );
  const best = own.filter((point) => isBest(point) && !layer.is_named);
  marks.push(Charts.dot(best.slice(0, 1), { x: "u", y: "v", r: 7, fill: "var(--accent)", stroke: "var(--card)", strokeWidth: 1.5 }));
  marks.push(dots(own.filter((point) => point.on), { r: 8, fill: "var(--strategy)", stroke: "var(--ink)", strokeWidth: 2 }));
  return marks;
};

const isBest = (point) => {
  const answer = answerNow();
  const near = (a, b) => Math.abs(a - b) <= 2e-5 * Math.abs(b);
  return Boolean(answer?.point) && point.name === answer.mark && near(point.x, answer.point[0]) && near(point.y, answer.point[1]);
};

const drawFigure = () => {
  const { picture } = data;
  if (!picture || typeof Charts === "undefined") return;
  const drawing = $("drawing");
  const width = Math.max(280, drawing.clientWidth);
  const height = Math.round(Math.min(440, Math.max(300, 0.42 * width)));
  const margin = { left: 58, right: 16, top: 24, bottom: 44 };
  points = gather();
  const mode = axesNow();
  drawing.points = points;
  if (points.length === 0) {
    drawing.replaceChildren(element("p", "Nothing to draw for this choice."));
    surface = null;
    return;
  }
  const origin = answerNow()?.point ?? [1, 1];
  const x = axis("x", mode, points.map((point) => point.x), origin[0], width - margin.left - margin.right);
  const y = axis("y", mode, points.map((point) => point.y), origin[1], height - margin.top - margin.bottom);
  for (const point of points) [point.u, point.v] = [point.x / x.by, point.y / y.by];
  const scale = ({ label, domain, type }) => ({ label, domain, type });
  const ticks = ({ ticks: values, tickFormat }) => (values ? { ticks: values, tickFormat } : { ticks: 7 });
  const base = mode === "over" ? [Charts.ruleX([1], { stroke: "var(--soft)" }), Charts.ruleY([1], { stroke: "var(--soft)" })] : [];
  const zero = picture.y.has_logarithm ? [] : [Charts.ruleY([0], { stroke: "var(--soft)" })];
  const svg = Charts.plot({
    width, height, marginLeft: margin.left, marginRight: margin.right, marginTop: margin.top, marginBottom: margin.bottom,
    style: { background: "none", color: "var(--soft)", fontSize: "12px", fontFamily: "inherit", overflow: "visible" },
    x: scale(x), y: scale(y),
    marks: [
      Charts.gridX({ ...ticks(x), stroke: "var(--line)", strokeOpacity: 1 }), Charts.gridY({ ...ticks(y), stroke: "var(--line)", strokeOpacity: 1 }),
      Charts.axisX({ ...ticks(x), labelAnchor: "center", labelArrow: "none", tickSize: 0 }),
      Charts.axisY({ ...ticks(y), labelArrow: "none", tickSize: 0 }),
      ...base, ...zero,
      ...picture.layers.flatMap((layer, nth) => marksOf(layer, nth, points.filter((point) => point.nth === nth), points.length)),
    ],
  });
  // It is one picture, told in its own words; what its parts are called is the library's affair.
  for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", words());
  const [px, py] = [svg.scale("x"), svg.scale("y")];
  for (const point of points) [point.px, point.py] = [px.apply(point.u), py.apply(point.v)];
  surface = { svg, px, py, by: [x.by, y.by], area: [margin.left, width - margin.right, margin.top, height - margin.bottom] };
  drawing.replaceChildren(svg);
  drawBrush();
  drawLabels();
  mark();
};

// The figure in a sentence, for who does not see it.
const words = () => {
  const { picture } = data;
  const best = points.find((point) => isBest(point));
  const named = points.filter((point) => point.layer.is_named).slice(0, 12);
  const told = (point) => `${point.name} ${significant(point.x)} ${picture.x.unit}, ${significant(point.y)} ${picture.y.unit}`;
  return `${picture.title}: ${points.length} marks.${best ? ` Best: ${told(best)}.` : ""}${named.length ? ` ${named.map(told).join("; ")}.` : ""}`;
};

const drawLabels = () => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "12px " + getComputedStyle(document.body).fontFamily;
  const best = points.find((point) => isBest(point) && !point.layer.is_named);
  const isOne = state.brush === null;
  const named = points.filter((point) => point.layer.is_named && (isOne || isBrushed(point.table, point.table.rows[point.number])));
  const items = [...(best ? [best] : []), ...named];
  const top = Charts.select(surface.svg).append("g").attr("class", "labels");
  for (const label of placed(items, points.length > 150 ? [] : points.filter((point) => !items.includes(point)), surface.area, (text) => pen.measureText(text).width)) {
    if (label.isFar) top.append("line").attr("x1", label.px).attr("y1", label.py).attr("x2", label.x + (label.x > label.px ? -2 : label.width / 2)).attr("y2", label.y - 4);
    top.append("text").attr("x", label.x).attr("y", label.y).attr("class", label.layer.is_named ? "named" : "best").text(label.text);
  }
  top.append("circle").attr("class", "ring").attr("r", 9).attr("visibility", "hidden");
};

// A ring about the mark of a row.
const ring = (table, number) => {
  if (!surface) return;
  const point = table && points.find((own) => own.table === table && own.number === number);
  const circle = surface.svg.querySelector(".ring");
  circle.setAttribute("visibility", point ? "visible" : "hidden");
  surface.svg.querySelectorAll(".ends").forEach((one) => one.remove());
  if (!point) return;
  circle.setAttribute("cx", point.px);
  circle.setAttribute("cy", point.py);
  const { px, py, by } = surface;
  const end = (x1, x2, y1, y2) =>
    Charts.select(surface.svg).insert("line", ".labels").attr("class", "ends").attr("x1", x1).attr("x2", x2).attr("y1", y1).attr("y2", y2);
  if (point.xs) end(...point.xs.map((x) => px.apply(x / by[0])), point.py, point.py);
  if (point.ys) end(point.px, point.px, ...point.ys.map((y) => py.apply(y / by[1])));
};

const drawBrush = () => {
  // A finger that moves over the figure scrolls.
  if (isTouched()) return;
  const [left, right, top, bottom] = surface.area;
  const { px, py, by } = surface;
  const brush = Charts.brush().extent([[left, top], [right, bottom]]);
  const group = Charts.select(surface.svg).append("g").attr("class", "brush").call(brush);
  if (state.brush) {
    const [x0, x1, y0, y1] = state.brush;
    const [a, b] = [x0, x1].map((x) => Math.min(right, Math.max(left, px.apply(x / by[0]))));
    const [c, d] = [y1, y0].map((y) => Math.min(bottom, Math.max(top, py.apply(y / by[1]))));
    group.call(brush.move, [[a, c], [b, d]]);
  }
  brush.on("end", ({ selection, sourceEvent }) => {
    if (!sourceEvent || (!selection && !state.brush)) return;
    state.brush = selection && [
      ...[selection[0][0], selection[1][0]].map((x) => px.invert(x) * by[0]),
      ...[selection[1][1], selection[0][1]].map((y) => py.invert(y) * by[1]),
    ];
    draw();
  });
};

const nearest = (event, within) => {
  if (!surface) return null;
  const box = surface.svg.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  let [best, least] = [null, within];
  for (const point of points) {
    // A named mark lies above the crowd.
    const far = Math.hypot(point.px - x, point.py - y) - (point.layer.is_named ? 2 : 0);
    if (far < least) [best, least] = [point, far];
  }
  return best;
};

const tell = (point) => {
  const { x, y } = data.picture;
  const origin = data.picture.over ? answerNow()?.point : null;
  const one = (value, { name, unit }, base, ends) => {
    const over = base ? ` (×${(value / base).toFixed(2)} the best)` : "";
    const range = ends ? `, 90 %: ${significant(ends[0])} to ${significant(ends[1])}` : "";
    return `${name} ${significant(value)} ${unit}${over}${range}`;
  };
  return [point.name, one(point.x, x, origin?.[0], point.xs), one(point.y, y, origin?.[1], point.ys), point.note];
};

const showTip = (point, x, y) => {
  const tip = $("tip");
  tip.style.opacity = point ? 1 : 0;
  if (!point) return;
  const [name, ...rest] = tell(point);
  tip.replaceChildren(element("b", name), ...rest.filter(Boolean).map((text) => element("span", text)));
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = (y + 16 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : y + 16) + "px";
};

const hover = (point, x, y) => {
  showTip(point, x, y);
  if (point) ring(point.table, point.number);
  else mark();
  for (const line of document.querySelectorAll("tr.near")) line.classList.remove("near");
  if (point) $(point.table.id).querySelector(`tr[data-row="${point.number}"]`)?.classList.add("near");
};

const listenToFigure = () => {
  const drawing = $("drawing");
  let focus = -1;
  drawing.addEventListener("pointermove", (event) => hover(nearest(event, 18), event.clientX, event.clientY));
  drawing.addEventListener("pointerleave", () => hover(null));
  drawing.addEventListener("click", (event) => {
    const point = nearest(event, 18);
    if (!point) return;
    hover(null);
    open(point.table, point.number);
  });
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const order = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
    if (step && order.length) {
      event.preventDefault();
      focus = (focus + step + order.length) % order.length;
      const point = order[focus];
      const box = surface.svg.getBoundingClientRect();
      hover(point, box.left + point.px, box.top + point.py);
      $("said").textContent = tell(point).filter(Boolean).join(", ");
    } else if (event.key === "Enter" && order[focus]) open(order[focus].table, order[focus].number);
    else if (event.key === "Escape") {
      focus = -1;
      hover(null);
      if (state.brush) {
        state.brush = null;
        draw();
      }
    }
  });
  drawing.addEventListener("blur", () => {
    focus = -1;
    hover(null);
  });
};

const drawAxes = () => {
  const form = $("axes");
  const { picture } = data;
  if (!picture.x.has_logarithm || !picture.y.has_logarithm) return;
  const group = form.appendChild(element("fieldset"));
  group.append(element("legend", "axes", { class: "unseen" }));
  const names = { over: picture.over, log: "logarithmic", linear: "linear" };
  for (const value of AXES.filter((own) => names[own])) {
    const label = group.appendChild(element("label"));
    const radio = label.appendChild(element("input", "", { type: "radio", name: "axes", value }));
    label.append(element("span", names[value]));
    radio.addEventListener("change", () => {
      state.axes = value;
      draw();
    });
  }
};

const drawLegend = () => {
  const legend = $("figure-legend");
  const one = (mark, text) => {
    const item = element("span");
    item.append(element("i", "", { class: mark, "aria-hidden": "true" }), text);
    return item;
  };
  const items = [];
  data.picture.layers.forEach((layer, nth) => {
    const own = points.filter((point) => point.nth === nth);
    if (own.some((point) => point.filled)) items.push(one(layer.is_named ? "named" : "dot", layer.label));
    if (own.some((point) => !point.filled)) items.push(one("hollow", `${layer.label}, ${layer.hollow}`));
  });
  if (points.filter((point) => point.front).length > 1) items.push(one("front", "Pareto front"));
  if (points.some((point) => isBest(point) && !point.layer.is_named)) items.push(one("best", "the best"));
  legend.replaceChildren(...items);
};

