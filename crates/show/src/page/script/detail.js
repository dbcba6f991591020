// All columns of a row, in a window of their own.
const nameOf = (table, row) => {
  const head = layersOf(table)[0]?.name ?? columnsOf(table).map((at) => table.columns[at].name)[0];
  return shown(table, row, place(table, head));
};

const open = (table, number) => {
  const row = table.rows[number];
  const from = document.activeElement;
  $("detail-title").textContent = nameOf(table, row);
  const grid = element("table");
  const head = grid.appendChild(element("thead")).appendChild(element("tr"));
  const isTold = table.columns.some((column) => column.about);
  for (const text of isTold ? ["column", "value", "what it is"] : ["column", "value"]) head.append(element("th", text, { scope: "col" }));
  const body = grid.appendChild(element("tbody"));
  table.columns.forEach((column, at) => {
    if (row[at] === null) return;
    const line = body.appendChild(element("tr"));
    line.append(element("th", column.name, { scope: "row" }), element("td", shown(table, row, at)));
    if (isTold) line.append(element("td", column.about));
  });
  $("detail-body").replaceChildren(grid);
  state.open = table.id + "." + number;
  writeAddress();
  mark();
  const dialog = $("detail");
  dialog.onclose = () => {
    state.open = "";
    writeAddress();
    mark();
    (from?.isConnected ? from : document.body).focus();
  };
  dialog.showModal();
};

// The open row stands out in its table and in the figure.
const mark = () => {
  for (const line of document.querySelectorAll("tr[data-row]")) {
    const table = tables.get(line.closest(".card").id);
    const number = Number(line.dataset.row);
    line.classList.toggle("on", isMarked(table, table.rows[number]) || state.open === table.id + "." + number);
  }
  const [id, number] = state.open.split(".");
  if (tables.has(id)) ring(tables.get(id), Number(number));
  else ring(null);
};

const openFromAddress = () => {
  const [id, number] = state.open.split(".");
  if (tables.get(id)?.rows[Number(number)]) open(tables.get(id), Number(number));
  else state.open = "";
};

