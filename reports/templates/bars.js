// The bars above the heatmap, which say what each mapping is, and their legend.
const BAR = 11;
const BARS = ["threads", "thread nodes", "thread policy", "page nodes", "page policy", "threads a core"];
const CORE = 5; // the bar that only mappings with several threads on a core need

function barsOf(data) {
  return data.choices.some((choice) => choice && choice[CORE] > 1) ? BARS : BARS.slice(0, CORE);
}

// A bar a choice: numbers the darker the greater, policies by the colours of the legend.
function drawBars(heatmap, parent) {
  const { data, columns, cellWidth, headsEnd, from } = heatmap;
  const group = svg("g", { class: "bars" }, parent);
  barsOf(data).forEach((name, bar) => {
    const value = (place) => { // none where the mappings of a place differ
      const found = new Set(heatmap.places[place].map((column) => (data.choices[column] || [])[bar]));
      return found.size === 1 ? found.values().next().value : undefined;
    };
    const steps = Array.from(new Set(data.choices.map((choice) => (choice || [])[bar]))).filter((each) => each !== undefined);
    steps.sort((a, b) => a - b);
    const y = headsEnd + bar * BAR;
    const parts = new Map(steps.map((step) => [step, []]));
    const texts = [];
    let start = 0;
    for (let place = 1; place <= columns; place++) {
      if (place < columns && value(place) === value(start)) continue;
      const width = (place - start) * cellWidth;
      if (parts.has(value(start))) {
        parts.get(value(start)).push(`M${from + start * cellWidth} ${y}h${width}v${BAR - 1}h${-width}z`);
        texts.push([value(start), from + (start + place) / 2 * cellWidth, width]);
      }
      start = place;
    }
    const share = (step) => 0.12 + 0.78 * steps.indexOf(step) / Math.max(1, steps.length - 1);
    for (const [step, paths] of parts) {
      const d = paths.join("");
      if (typeof step === "string") svg("path", { class: `policy ${step}`, "data-choice": `${name}: ${step}`, d }, group);
      else svg("path", { class: "number", "fill-opacity": share(step).toFixed(2), "data-choice": `${name}: ${step}`, d }, group);
    }
    for (const [step, x, width] of texts) {
      if (typeof step === "string" || width < 7 * String(step).length) continue;
      svg("text", { class: share(step) > 0.5 ? "bar-text on" : "bar-text", x, y: y + BAR - 2.5 }, group, String(step));
    }
  });
}

function drawLegend(data) {
  const holder = document.getElementById("legend");
  for (const bar of [2, 4]) {
    const found = new Set(data.choices.map((choice) => (choice || [])[bar]).filter((each) => each !== undefined));
    const list = html("ul", { "aria-label": BARS[bar] }, holder);
    html("li", { class: "legend-name" }, list, BARS[bar]);
    for (const policy of found) {
      const item = html("li", {}, list);
      const swatch = svg("svg", { class: "swatch", width: 14, height: 11, "aria-hidden": "true" }, item);
      svg("rect", { class: `policy ${policy}`, x: 0.5, y: 0.5, width: 13, height: 10 }, swatch);
      item.append(policy);
    }
  }
}
