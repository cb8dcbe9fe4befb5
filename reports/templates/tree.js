// A dendrogram with its leaves at the right, on a root scale: else the last merge would hide all others.
// Returns draw(height), which marks what a cut at that distance leaves whole.
function dendrogram(parent, branches, programs, left, top, width, rowHeight) {
  const farthest = Math.max(...branches.map(([, , apart]) => apart), 1e-9) * 1.05;
  const x = (distance) => left + width * (1 - Math.sqrt(Math.max(distance, 0) / farthest));
  const nodes = [];
  for (let row = 0; row < programs; row++) nodes.push([top + (row + 0.5) * rowHeight, 0]);
  const corners = branches.map(([one, other, apart]) => {
    const [y1, d1] = nodes[one];
    const [y2, d2] = nodes[other];
    nodes.push([(y1 + y2) / 2, apart]);
    return [apart, `M${x(d1).toFixed(1)} ${y1.toFixed(1)}H${x(apart).toFixed(1)}V${y2.toFixed(1)}H${x(d2).toFixed(1)}`];
  });
  const above = svg("path", { class: "merge above" }, parent);
  const below = svg("path", { class: "merge below" }, parent);
  const line = svg("path", { class: "cut" }, parent);
  return (height) => {
    const part = (test) => corners.filter(([apart]) => test(apart)).map(([, d]) => d).join("");
    above.setAttribute("d", part((apart) => apart > height));
    below.setAttribute("d", part((apart) => apart <= height));
    line.setAttribute("d", `M${x(height).toFixed(1)} ${top}v${programs * rowHeight}`);
  };
}

// Bars beside the rows, one a cluster, with its number.
function clusterStrip(group, starts, numbers, rows, left, top, rowHeight) {
  group.replaceChildren();
  starts.forEach((start, index) => {
    const stop = index + 1 < starts.length ? starts[index + 1] : rows;
    const y = top + start * rowHeight;
    const height = (stop - start) * rowHeight;
    svg("rect", { class: index % 2 ? "strip odd" : "strip", x: left, y, width: 16, height }, group);
    if (height >= 9) {
      const attributes = { class: index % 2 ? "strip-number odd" : "strip-number", x: left + 8, y: y + height / 2 + 3.5 };
      svg("text", attributes, group, String(numbers[index]));
    }
  });
}

function rowHeightFor(rows) {
  return rows <= 40 ? 18 : rows <= 200 ? 12 : 10;
}

// The tree of a model: its dataset is not at hand, so there is nothing to cut anew.
function drawModelTree(data) {
  const rows = data.programs.length;
  const rowHeight = rowHeightFor(rows);
  const starts = data.clusters.map((cluster, row) => [cluster, row]);
  const first = starts.filter(([cluster, row]) => row === 0 || data.clusters[row - 1] !== cluster);
  const width = 700;
  const root = svg("svg", { class: "tree", width, height: rows * rowHeight + 4, role: "img" });
  root.setAttribute("viewBox", `0 0 ${width} ${rows * rowHeight + 4}`);
  root.setAttribute("aria-label", `Merge tree of ${rows} programs in ${new Set(data.clusters).size} clusters`);
  if (data.branches.length) {
    const distances = data.branches.map(([, , apart]) => apart).sort((a, b) => a - b);
    const whole = rows - new Set(data.clusters).size;
    const height = ((distances[whole - 1] || 0) + (distances[whole] || distances[rows - 2] * 1.06)) / 2;
    dendrogram(root, data.branches, rows, 6, 2, 380, rowHeight)(height);
  }
  const strip = svg("g", {}, root);
  clusterStrip(strip, first.map(([, row]) => row), first.map(([cluster]) => cluster), rows, 392, 2, rowHeight);
  data.programs.forEach((name, row) => {
    const y = 2 + (row + 0.5) * rowHeight + 3.5;
    svg("title", {}, svg("text", { class: "name", x: 416, y }, root, shortened(name, 44)), name);
  });
  document.getElementById("tree-scroll").append(root);
}
