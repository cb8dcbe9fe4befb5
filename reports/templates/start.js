// What the page's controls do. Sections that a page does not have are not looked for.
const records = JSON.parse(document.getElementById("records").textContent);

if (records.heatmap) {
  const data = records.heatmap;
  const open = (place) => {
    showProgram(data, place);
    document.getElementById("one-program").scrollIntoView();
    document.getElementById("one").focus({ preventScroll: true });
  };
  const heatmap = new Heatmap(data, open);
  new Cuts(data, heatmap);
  showProgram(data, 0);
  document.getElementById("columns").addEventListener("change", (event) => heatmap.arrange(event.target.value));
  document.getElementById("marked").addEventListener("input", (event) => heatmap.mark(event.target.value));
  document.getElementById("filter").addEventListener("input", (event) => filterPrograms(event.target.value));
  document.getElementById("one").addEventListener("change", (event) => showProgram(data, Number(event.target.value)));
  for (const button of document.querySelectorAll("[data-shows]")) {
    button.addEventListener("click", () => open(Number(button.dataset.shows)));
  }
}
for (const head of document.querySelectorAll(".sortable th[aria-sort]")) {
  head.querySelector("button").addEventListener("click", () => sortBy(head));
}
for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", () => copyText(button));

// What is wider than its room says so.
const wide = new ResizeObserver((entries) => {
  for (const { target } of entries) target.classList.toggle("wide", target.scrollWidth > target.clientWidth + 1);
});
for (const part of document.querySelectorAll(".scroll")) wide.observe(part);

// A link to a closed part opens it, and paper shows everything.
const opened = [];
const reveal = () => {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") target.open = true;
};
addEventListener("hashchange", reveal);
reveal();
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open])")) {
    part.open = true;
    opened.push(part);
  }
});
addEventListener("afterprint", () => {
  for (const part of opened.splice(0)) part.open = false;
});
