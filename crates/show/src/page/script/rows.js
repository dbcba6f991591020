// Which rows of a table are shown: by the picks, the brush, the words above it.
const views = new Map();
const viewOf = (table) => {
  if (!views.has(table.id)) views.set(table.id, { words: "", sort: null, down: false, all: false });
  return views.get(table.id);
};

const isPicked = (table, row) =>
  data.pickers.every(({ key, only_marks }) => {
    const at = place(table, key);
    return only_marks || at < 0 || state.picked[key] === "" || row[at] === state.picked[key];
  });

const layersOf = (table) => (data.picture?.layers ?? []).filter((layer) => layer.table === table.id);

const isBrushed = (table, row) => {
  if (!state.brush) return true;
  const [left, right, low, high] = state.brush;
  return layersOf(table).every((layer) => {
    const [x, y] = [row[place(table, layer.x)], row[place(table, layer.y)]];
    return x !== null && y !== null && x >= left && x <= right && y >= low && y <= high;
  });
};

// Numbers of the rows that the picks leave.
const pickedRows = (table) => table.rows.map((_, at) => at).filter((at) => isPicked(table, table.rows[at]));

// What is looked at by, when nobody sorts.
const usualOrder = (table) => table.orders[state.picked.objective ?? data.answers[0]?.of.objective] ?? null;

const rowsNow = (table) => {
  const view = viewOf(table);
  const words = view.words.toLowerCase().split(/\s+/).filter(Boolean);
  const hasWords = (row) => {
    const text = row.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const rows = pickedRows(table).filter((at) => isBrushed(table, table.rows[at]) && hasWords(table.rows[at]));
  const by = place(table, view.sort ?? usualOrder(table));
  if (by >= 0) {
    const collator = new Intl.Collator("en", { numeric: true });
    const column = table.columns[by];
    // What has no value stands last, whichever way.
    rows.sort((a, b) => {
      const [one, other] = [a, b].map((at) => sortable(column, table.rows[at][by]));
      if (one === null || other === null) return (one === null) - (other === null);
      const order = typeof one === "number" ? one - other : collator.compare(one, other);
      return view.sort !== null && view.down ? -order : order;
    });
  }
  const parts = place(table, table.parts);
  if (parts >= 0) rows.sort((a, b) => String(table.rows[a][parts]).localeCompare(String(table.rows[b][parts])));
  return rows;
};

// Rows of the marked strategy, and the row of the picked policy among all.
const isMarked = (table, row) =>
  (table.picks !== null && row[place(table, table.picks[1])] === state.picked[table.picks[0]]) ||
  data.pickers.some(({ key, only_marks }) => {
    const at = place(table, key);
    return only_marks && at >= 0 && state.picked[key] !== "" && row[at] === state.picked[key];
  });

// Rows as CSV, all columns; a text that a spreadsheet would compute stays a text.
const csv = (table, rows) => {
  const cell = (value) => {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+@-]/.test(value) && Number.isNaN(Number(value)) ? "'" + value : value;
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const lines = [table.columns.map((column) => cell(column.name)), ...rows.map((at) => table.rows[at].map(cell))];
  return lines.map((line) => line.join(",") + "\n").join("");
};

