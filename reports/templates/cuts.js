// The choice of k: what it does to the tree, to the clusters and to the speedup.

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
    this.curve = document.querySelector(".curve");
    this.points = Array.from(this.curve.querySelectorAll(".choice-of-k"));
    this.points.forEach((point, index) => point.addEventListener("click", () => {
      this.control.value = String(index + 1);
      this.choose();
    }));
    this.control.addEventListener("input", () => this.choose());
    this.choose();
  }

  choose() {
    const { data } = this;
    const number = Number(this.control.value);
    const cut = data.cuts[number - 1];
    const { x, geometric, arithmetic } = this.points[number - 1].dataset;
    this.curve.querySelectorAll(".mark").forEach((mark, index) => {
      mark.setAttribute("cx", x);
      mark.setAttribute("cy", index ? arithmetic : geometric);
    });
    const line = this.curve.querySelector(".cut");
    line.setAttribute("d", line.getAttribute("d").replace(/^M[^ ]+/, `M${x}`));
    this.said.textContent = this.points[number - 1].textContent;
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
