// Elements and figures as people read them. Everything is text, nothing is read as HTML.
const element = (name, text = "", more = {}) => {
  const one = document.createElement(name);
  // A figure and its unit, or both of a product, stay on one line.
  if (text !== "") one.textContent = String(text).replace(/(\d) (?=(%|h|min|s|USD)(?!\w)|× \d)|(?<=\d ×) (?=\d)/g, "$1\u00a0");
  for (const [key, value] of Object.entries(more)) one.setAttribute(key, value);
  return one;
};

// A sentence in which names stand in backticks.
const sentence = (name, text) => {
  const one = element(name);
  text.split("`").forEach((part, at) => one.append(at % 2 ? element("code", part) : element("span", part)));
  return one;
};

const place = (table, head) => table.columns.findIndex((column) => column.name === head);

// A figure that its digits would make nothing says so; minus zero is zero.
const fixed = (value, digits) => {
  const text = value.toFixed(digits);
  if (Number(text) !== 0) return text;
  return value > 0 ? "< " + 10 ** -digits : (0).toFixed(digits);
};

const shown = (table, row, at) => {
  const value = row[at];
  const column = table.columns[at];
  if (value === null) return "–";
  if (typeof value !== "number") return value;
  let text = fixed(value, column.digits);
  const half = column.half === null ? null : row[place(table, column.half)];
  if (half !== null && half >= 0.05) text += " ±" + half.toFixed(column.digits);
  return text;
};

const significant = (value) => (value !== 0 && Math.abs(value) < 100 ? String(Number(value.toPrecision(3))) : value.toFixed(0));

// What rows are sorted by: numbers, also those that stand in a text, and words.
const sortable = (column, value) => {
  if (value === null || !column.is_number || typeof value === "number") return value;
  const number = parseFloat(value);
  return Number.isNaN(number) ? null : number;
};

