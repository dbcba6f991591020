// Tables: sorted by their heads, filtered by words, downloaded.
const FEW = 12;
const KEYS = ["setting", "workload", "pricing", "objective", "market", "job is run"];

const columnsOf = (table) => {
  const isFixed = (column) => {
    const picker = pickers.get(column.name);
    return picker && !picker.only_marks && state.picked[column.name] !== "";
  };
  const rows = pickedRows(table);
  // What is the same all over says nothing in a column.
  const isSame = (column, at) => KEYS.includes(column.name) && new Set(table.rows.map((row) => row[at])).size < 2;
  const hasValue = (at) => rows.some((row) => table.rows[row][at] !== null);
  return table.columns
    .map((column, at) => [column, at])
    .filter(([column, at]) => !column.is_more && !isFixed(column) && !isSame(column, at) && hasValue(at))
    .map(([, at]) => at);
};

const drawTable = (table) => {
  const view = viewOf(table);
  const shell = element(table.is_detail ? "details" : "section", "", { id: table.id, class: "card" });
  if (!table.is_detail) shell.setAttribute("aria-labelledby", table.id + "-title");
  const title = element("h2", table.caption, { id: table.id + "-title" });
  shell.append(table.is_detail ? element("summary") : title);
  if (table.is_detail) shell.firstChild.append(title);
  const note = shell.appendChild(sentence("p", table.note));
  note.className = "note";
  const tools = shell.appendChild(element("p", "", { class: "tools" }));
  const label = tools.appendChild(element("label", "with the words "));
  const words = label.appendChild(element("input", "", { type: "search", autocomplete: "off" }));
  words.addEventListener("input", () => {
    view.words = words.value;
    fillTable(table);
  });
  tools.append(element("output"));
  const save = tools.appendChild(element("button", "CSV", { type: "button", class: "csv", title: "Download these rows with all columns" }));
  save.append(element("span", " of " + table.caption, { class: "unseen" }));
  save.addEventListener("click", () => {
    const file = new Blob([csv(table, rowsNow(table))], { type: "text/csv" });
    const link = element("a", "", { href: URL.createObjectURL(file), download: table.id + ".csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  const wide = shell.appendChild(element("div", "", { class: "wide", tabindex: "0", role: "group", "aria-labelledby": table.id + "-title" }));
  const grid = wide.appendChild(element("table"));
  grid.append(element("thead"), element("tbody"));
  const more = shell.appendChild(element("button", "", { type: "button", class: "more" }));
  more.addEventListener("click", () => {
    view.all = !view.all;
    fillTable(table);
  });
  shell.addEventListener("toggle", () => fillTable(table));
  $(table.is_detail ? "details" : "tables").append(shell);
};

// The width of a bar: none for what is below 0; few that are far off do not make the others invisible.
const barOf = (table, rows, at) => {
  const values = rows.map((row) => table.rows[row][at]).filter((value) => value > 0).sort((a, b) => a - b);
  const most = Math.min(values.at(-1) ?? 1, 4 * (values[values.length >> 1] ?? 1));
  return (value) => (value > 0 ? Math.min(100, (100 * value) / most) : 0);
};

const headCell = (table, at) => {
  const view = viewOf(table);
  const column = table.columns[at];
  const by = view.sort ?? usualOrder(table);
  const order = by === column.name ? (view.sort !== null && view.down ? "descending" : "ascending") : "none";
  const head = element("th", "", { scope: "col", "aria-sort": order });
  if (column.is_number) head.className = "n";
  const button = head.appendChild(element("button", column.name, { type: "button" }));
  if (column.about) button.title = column.about;
  button.addEventListener("click", () => {
    view.down = by === column.name && !(view.sort !== null && view.down);
    view.sort = column.name;
    fillTable(table);
    $(table.id).querySelectorAll("thead button")[columnsOf(table).indexOf(at)].focus();
  });
  return head;
};

const rowLine = (table, number, columns, bars) => {
  const row = table.rows[number];
  const line = element("tr", "", { "data-row": number });
  if (isMarked(table, row) || state.open === table.id + "." + number) line.className = "on";
  columns.forEach((at, nth) => {
    const column = table.columns[at];
    const cell = line.appendChild(element(nth === 0 ? "th" : "td"));
    if (nth === 0) {
      cell.scope = "row";
      const button = cell.appendChild(element("button", shown(table, row, at), { type: "button", class: "open" }));
      button.addEventListener("click", () => choose(table, number));
    } else cell.textContent = shown(table, row, at);
    if (column.is_number) cell.classList.add("n");
    else if (cell.textContent.length < 32) cell.classList.add("short");
    if (bars.has(at)) {
      cell.classList.add("bar");
      cell.style.backgroundSize = bars.get(at)(row[at]) + "% 3px";
    }
  });
  line.addEventListener("mouseenter", () => ring(table, number));
  line.addEventListener("mouseleave", () => ring(null));
  return line;
};

const choose = (table, number) => {
  if (table.picks) {
    const [key, head] = table.picks;
    state.picked[key] = table.rows[number][place(table, head)];
    draw();
    $("answer").scrollIntoView({ block: "start" });
  } else open(table, number);
};

const fillTable = (table) => {
  const shell = $(table.id);
  if (table.is_detail && !shell.open) return;
  const view = viewOf(table);
  const columns = columnsOf(table);
  const rows = rowsNow(table);
  const isFew = rows.length <= FEW + 3;
  const seen = view.all || isFew ? rows : rows.slice(0, FEW);
  const bars = new Map(columns.filter((at) => table.columns[at].is_bar).map((at) => [at, barOf(table, rows, at)]));
  const head = element("tr");
  for (const at of columns) head.append(headCell(table, at));
  shell.querySelector("thead").replaceChildren(head);
  const parts = place(table, table.parts);
  let before;
  const lines = seen.flatMap((number) => {
    const line = rowLine(table, number, columns, bars);
    const part = parts < 0 ? undefined : table.rows[number][parts];
    if (part === before) return [line];
    before = part;
    const title = element("tr", "", { class: "part" });
    title.append(element("td", part, { colspan: columns.length }));
    return [title, line];
  });
  shell.querySelector("tbody").replaceChildren(...lines);
  const count = pickedRows(table).length;
  shell.querySelector("output").textContent = rows.length === count ? `${count} rows` : `${rows.length} of ${count} rows`;
  const more = shell.querySelector(".more");
  more.hidden = isFew;
  more.textContent = view.all ? "Show fewer" : `Show all ${rows.length} rows`;
};

