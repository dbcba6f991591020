// The pickers, and the card that they choose.
const drawPickers = () => {
  const form = $("pickers");
  form.hidden = data.pickers.length === 0;
  const option = (picker, value) => (value === "" ? "all" : value);
  for (const picker of data.pickers) {
    const values = picker.has_all ? ["", ...picker.values] : picker.values;
    const pick = (value) => {
      state.picked[picker.key] = value;
      state.open = "";
      if (!picker.only_marks) state.brush = null;
      draw();
    };
    if (values.length <= 4 && values.every((value) => value.length <= 24)) {
      const group = form.appendChild(element("fieldset"));
      group.append(element("legend", picker.label));
      for (const value of values) {
        const label = group.appendChild(element("label"));
        const radio = label.appendChild(element("input", "", { type: "radio", name: picker.key, value }));
        label.append(element("span", option(picker, value)));
        radio.addEventListener("change", () => pick(value));
      }
    } else {
      const label = form.appendChild(element("label", picker.label + " ", { class: "choose" }));
      const select = label.appendChild(element("select", "", { name: picker.key }));
      for (const value of values) select.append(element("option", option(picker, value), { value }));
      select.addEventListener("change", () => pick(select.value));
    }
  }
  form.addEventListener("submit", (event) => event.preventDefault());
};

const showPicks = () => {
  for (const field of $("pickers").elements) {
    if (field.type === "radio") field.checked = state.picked[field.name] === field.value;
    else if (field.tagName === "SELECT") field.value = state.picked[field.name];
  }
};

const drawCard = () => {
  const answer = answerNow();
  const card = $("answer");
  if (!answer) {
    card.replaceChildren(element("p", "No card is kept for this choice; the tables have its rows."));
    return;
  }
  const left = element("div");
  left.append(element("p", answer.lead, { class: "lead" }), element("h2", answer.what));
  if (answer.detail) left.append(element("p", answer.detail, { class: "detail" }));
  const figures = left.appendChild(element("dl", "", { class: "big" }));
  for (const { value, note } of answer.figures) {
    const one = figures.appendChild(element("div"));
    one.append(element("dt", note), element("dd", value));
  }
  if (answer.marks.length) {
    const marks = left.appendChild(element("ul", "", { class: "marks", "aria-label": "Where it comes from" }));
    for (const mark of answer.marks) marks.append(element("li", mark));
  }
  const right = element("dl", "", { class: "lines" });
  for (const { head, text } of answer.lines) {
    const one = right.appendChild(element("div"));
    one.append(element("dt", head), sentence("dd", text));
  }
  card.replaceChildren(left, ...(answer.lines.length ? [right] : []));
};

