// The choice of k: what it does to the tree, to the clusters and to the speedup.
const CURVE = { height: 200, left: 46, right: 12, top: 20, bottom: 34 };

// The numbers of a cut's clusters: the model's where they are its clusters, else from the top.
function numbersOf(cut) {
  return cut.numbers.length ? cut.numbers : cut.starts.map((_, index) => index + 1);
}

class Cuts {
  constructor(data, heatmap) {
    this.data = data;
    this.heatmap = heatmap;
    this.control = document.getElementById("k");
    this.said = document.getElementById("cut-said");
    this.body = document.querySelector("#cut-clusters tbody");
    this.drawCurve();
    this.control.addEventListener("input", () => this.choose());
    this.choose();
  }

  drawCurve() {
    const { cuts, oracle, oracle_arithmetic: other } = this.data;
    const { height, left, right, top, bottom } = CURVE;
    const holder = document.getElementById("curve");
    const width = Math.min(640, holder.clientWidth || 640);
    const most = Math.max(oracle, other, ...cuts.map((cut) => cut.arithmetic), 1) * 1.04;
    const least = Math.min(1, ...cuts.map((cut) => cut.geometric));
    this.x = (number) => left + (width - left - right) * (cuts.length > 1 ? (number - 1) / (cuts.length - 1) : 0.5);
    this.y = (value) => height - bottom - (height - top - bottom) * (value - least) / (most - least || 1);
    const root = svg("svg", { class: "curve", width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
    root.setAttribute("aria-label", "Speedup over the number of clusters; the table below has the figures");
    const step = most - least > 4 ? 2 : most - least > 1.6 ? 0.5 : most - least > 0.5 ? 0.2 : 0.05;
    for (let value = Math.ceil(least / step - 1e-9) * step; value <= most; value += step) {
      svg("path", { class: "grid", d: `M${left} ${this.y(value)}H${width - right}` }, root);
      svg("text", { class: "axis end", x: left - 6, y: this.y(value) + 4 }, root, factor(value));
    }
    const every = Math.max(1, Math.ceil(cuts.length / (width / 50)));
    for (let number = 1; number <= cuts.length; number += every) {
      svg("text", { class: "axis middle", x: this.x(number), y: height - bottom + 15 }, root, String(number));
    }
    svg("text", { class: "axis middle", x: (left + width - right) / 2, y: height - 4 }, root, "clusters k");
    const line = (field) => cuts.map((cut, at) => `${at ? "L" : "M"}${this.x(at + 1).toFixed(1)} ${this.y(cut[field]).toFixed(1)}`).join("");
    const apart = this.y(oracle) - this.y(other); // the geometric mean is never above the arithmetic one
    for (const [value, mean, off] of [[other, "arithmetic", -5], [oracle, "geometric", apart > 28 ? -5 : 14]]) {
      svg("path", { class: `oracle of-${mean}`, d: `M${left} ${this.y(value)}H${width - right}` }, root);
      svg("text", { class: "axis end halo", x: width - right, y: this.y(value) + off }, root, `every program's own best, ${mean} mean`);
    }
    svg("path", { class: "arithmetic", d: line("arithmetic") }, root);
    svg("path", { class: "geometric", d: line("geometric") }, root);
    this.rule = svg("path", { class: "cut" }, root);
    this.marks = [svg("circle", { class: "mark", r: 5 }, root), svg("circle", { class: "mark hollow", r: 4 }, root)];
    root.addEventListener("click", (event) => {
      const box = root.getBoundingClientRect();
      const at = (event.clientX - box.left) * width / box.width;
      this.control.value = String(1 + Math.round((at - left) / (width - left - right) * (cuts.length - 1)));
      this.choose();
    });
    holder.append(root);
  }

  choose() {
    const { data } = this;
    const number = Number(this.control.value);
    const cut = data.cuts[number - 1];
    const { top, bottom, height } = CURVE;
    [cut.geometric, cut.arithmetic].forEach((value, index) => {
      this.marks[index].setAttribute("cx", this.x(number));
      this.marks[index].setAttribute("cy", this.y(value));
    });
    this.rule.setAttribute("d", `M${this.x(number)} ${top}V${height - bottom}`);
    const means = `${factor(cut.geometric)} geometric mean, ${factor(cut.arithmetic)} arithmetic mean, in sample`;
    this.said.textContent = `${count(cut.starts.length, "cluster")}: ${means}`;
    document.getElementById("cut-numbers").textContent = this.whose(cut);
    this.heatmap.cut(cut);
    this.list(cut);
  }

  whose(cut) {
    if (cut.numbers.length) return "These are the clusters of the model below, by the model's own numbers.";
    const same = this.data.cuts.find((each) => each.numbers.length);
    const top = "Clusters are numbered from the top of the heatmap";
    return same ? `${top}; the model's, with its own numbers, are those of k = ${same.starts.length}.` : `${top}.`;
  }

  list(cut) {
    const { data } = this;
    const rows = data.programs.length;
    const numbers = numbersOf(cut);
    this.body.replaceChildren();
    cut.starts.forEach((start, index) => {
      const stop = index + 1 < cut.starts.length ? cut.starts[index + 1] : rows;
      const column = cut.mappings[index];
      const speedups = data.times_s.slice(start, stop).map((times) => times[data.default] / times[column]);
      const row = html("tr", {}, this.body);
      html("th", { scope: "row" }, row, String(numbers[index]));
      html("td", {}, row, String(stop - start));
      html("td", { class: "text", title: data.labels[column] }, row, shortened(data.labels[column], 60));
      const mean = geometricMean(speedups);
      html("td", {}, row, `${factor(mean)}${mean < 1 ? " (slower: never advised)" : ""}`);
      html("td", {}, row, factor(Math.min(...speedups)));
      const names = data.programs.slice(start, stop);
      const more = names.length > 4 ? ` and ${names.length - 4} more` : "";
      html("td", { class: "text members", title: names.join(", ") }, row, names.slice(0, 4).map((name) => shortened(name, 60)).join(", ") + more);
      for (let place = start; place < stop; place++) setCluster(place, numbers[index]);
    });
  }
}
