"use strict";
(() => {
  const details = JSON.parse(document.getElementById("details").textContent);
  const dialog = document.getElementById("detail");
  const title = document.getElementById("detail-title");
  const body = document.getElementById("detail-body");

  // A table of rows of texts; everything is text, nothing is read as HTML.
  const table = (head, rows) => {
    const all = document.createElement("table");
    const line = (cells, name, into) => {
      const row = into.appendChild(document.createElement("tr"));
      cells.forEach((cell, at) => {
        const one = row.appendChild(document.createElement(at === 0 && name === "td" ? "th" : name));
        one.scope = name === "th" ? "col" : at === 0 ? "row" : "";
        one.textContent = cell;
      });
    };
    line(head, "th", all.createTHead());
    const rest = all.createTBody();
    rows.forEach((row) => line(row, "td", rest));
    return all;
  };

  const open = (button) => {
    // Where the focus goes back to: not every browser gives it to a button that is clicked.
    button.focus();
    const [kind, number] = button.dataset.opens.split("-");
    const row = button.closest("tr");
    const cells = [...row.cells].map((cell) => cell.textContent);
    if (kind === "case") {
      title.textContent = "Case " + cells[0];
      const values = details.cases[Number(number)];
      const shown = details.columns.map(([name, unit, what], at) => [name, values[at] ?? "–", unit, what]);
      body.replaceChildren(table(["column", "value", "unit", "what it is"], shown));
    } else {
      title.textContent = "Configuration " + cells[2] + " " + cells[3];
      const heads = [...row.closest("table").tHead.rows[0].cells].map((head) => head.textContent);
      const facts = table(["what", "value"], heads.map((head, at) => [head, cells[at]]));
      const by = details.places[Number(number)];
      const chosen = document.createElement(by.length ? "h3" : "p");
      chosen.textContent = by.length ? "Chosen by" : "Nobody chose it.";
      body.replaceChildren(facts, chosen);
      if (by.length) body.append(table(["strategy", "objective", "cases"], by));
    }
    dialog.showModal();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.opens) open(button);
    else if (button.closest("th")) sort(button.closest("th"));
  });

  const key = (row, at) => {
    const cell = row.cells[at];
    if (cell === undefined) return null;
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.textContent === "–" ? null : cell.textContent;
  };

  // What has no value stands last, whichever way.
  const sort = (head) => {
    const all = head.closest("table");
    const at = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rest = all.tBodies[0];
    const words = new Intl.Collator("en", { numeric: true });
    const rows = [...rest.rows].map((row) => [key(row, at), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === "number" && typeof b === "number" ? a - b : words.compare(a, b);
      return down ? -order : order;
    });
    rest.replaceChildren(...rows.map(([, row]) => row));
  };

  for (const input of document.querySelectorAll("input[data-filters]")) {
    const rows = [...document.getElementById(input.dataset.filters).tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const count = input.parentElement.querySelector("output");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !words.every((word) => texts[at].includes(word));
        shown += !row.hidden;
      });
      count.textContent = shown + " of " + rows.length + " rows";
    });
  }
})();
