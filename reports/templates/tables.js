// Sorting and filtering the programs, and the table of one program's mappings.
function programRows() {
  return Array.from(document.querySelectorAll("#program-table tbody tr"));
}

function setCluster(place, number) {
  const cell = document.querySelector(`#program-table tr[data-place="${place}"] .cluster`);
  if (!cell) return;
  cell.textContent = String(number);
  cell.dataset.value = String(number);
}

function sortBy(head) {
  const table = head.closest("table");
  const column = Array.from(head.parentElement.children).indexOf(head);
  const falling = head.getAttribute("aria-sort") === "ascending";
  const value = (row) => row.children[column].dataset.value;
  const rows = Array.from(table.tBodies[0].rows);
  const numbers = rows.every((row) => value(row) !== "" && Number.isFinite(Number(value(row))));
  const compare = numbers
    ? (a, b) => Number(value(a)) - Number(value(b))
    : (a, b) => value(a).localeCompare(value(b), "en", { numeric: true });
  rows.sort((a, b) => (falling ? compare(b, a) : compare(a, b)));
  table.tBodies[0].append(...rows);
  for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
}

function filterPrograms(text) {
  const wanted = text.trim().toLowerCase();
  const rows = programRows();
  let shown = 0;
  for (const row of rows) {
    const words = Array.from(row.querySelectorAll(".text"), (cell) => cell.dataset.value + " " + cell.textContent);
    row.hidden = !words.join(" ").toLowerCase().includes(wanted);
    shown += !row.hidden;
  }
  document.getElementById("shown").textContent = `${shown} of ${count(rows.length, "program")}`;
}

function showProgram(data, place) {
  const times = data.times_s[place];
  const table = document.getElementById("one-table");
  const caption = table.caption.firstChild;
  caption.textContent = `All mappings of ${shortened(data.programs[place], 300)}, the fastest first `;
  const order = data.labels.map((_, column) => column).sort((a, b) => times[a] - times[b]);
  table.tBodies[0].replaceChildren();
  order.forEach((column, rank) => {
    const row = html("tr", column === data.default ? { class: "default" } : {}, table.tBodies[0]);
    html("th", { scope: "row" }, row, String(rank + 1));
    html("td", { class: "text", title: data.labels[column] }, row, shortened(data.labels[column], 60) + (column === data.default ? " (default)" : ""));
    html("td", {}, row, seconds(times[column]));
    html("td", {}, row, factor(times[data.default] / times[column]));
  });
  document.getElementById("one").value = String(place);
}

function copyText(button) {
  const text = document.getElementById(button.dataset.copies);
  const done = () => {
    button.textContent = "Copied";
    say("copied");
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  // Where a page may not write to the clipboard, the command is at least selected.
  const select = () => {
    const range = document.createRange();
    range.selectNodeContents(text);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "Selected";
    say("selected; copy it with your keyboard");
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(done, select);
  else select();
}
