// What is shown: the picks, the axes, the brushed part, the open row. All of it stands in the address behind `#`.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
// Words of a column stand in it once; rows have their numbers.
for (const table of data.tables) {
  table.columns.forEach(({ words }, at) => {
    if (words.length) for (const row of table.rows) row[at] = row[at] === null ? null : words[row[at]];
  });
}
const state = { picked: {}, axes: "over", brush: null, open: "" };
const AXES = ["over", "log", "linear"];

const pickers = new Map(data.pickers.map((picker) => [picker.key, picker]));
const tables = new Map(data.tables.map((table) => [table.id, table]));
// `""` stands for all values.
const first = (picker) => (picker.has_all ? "" : picker.values[0]);
const isValue = (picker, value) => picker.values.includes(value) || (picker.has_all && value === "");
// Keys whose values have cards of their own.
const deciding = data.pickers.filter((picker) => !picker.has_all && !picker.only_marks);

const readAddress = () => {
  const address = new URLSearchParams(location.hash.slice(1));
  for (const picker of data.pickers) {
    const value = address.get(picker.key);
    state.picked[picker.key] = value !== null && isValue(picker, value) ? value : first(picker);
  }
  state.axes = AXES.includes(address.get("axes")) ? address.get("axes") : AXES[0];
  const ends = (address.get("brush") ?? "").split("~").map(Number);
  state.brush = ends.length === 4 && ends.every(Number.isFinite) ? ends : null;
  state.open = address.get("open") ?? "";
};

const writeAddress = () => {
  const address = new URLSearchParams();
  for (const picker of data.pickers) {
    const value = state.picked[picker.key];
    if (value !== first(picker)) address.set(picker.key, value);
  }
  if (state.axes !== AXES[0]) address.set("axes", state.axes);
  if (state.brush) address.set("brush", state.brush.map((end) => Number(end.toPrecision(4))).join("~"));
  if (state.open) address.set("open", state.open);
  const hash = address.toString();
  history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
};

// The card for the picks; the only one where there is nothing to pick.
const answerNow = () =>
  data.answers.find((answer) => deciding.every(({ key }) => answer.of[key] === state.picked[key]));

