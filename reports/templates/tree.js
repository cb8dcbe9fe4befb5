// The tree beside the heatmap, whose merges come drawn, from 0 at the left to 1 at the leaves and a row each 1 down.
// Returns draw(at), which marks what a cut there leaves whole.
function mergeTree(parent, merges, rows, left, top, width, rowHeight) {
  const group = svg("g", { transform: `translate(${left} ${top}) scale(${width} ${rowHeight})` }, parent);
  const above = svg("path", { class: "merge above" }, group);
  const below = svg("path", { class: "merge below" }, group);
  const line = svg("path", { class: "cut" }, group);
  return (cut) => {
    const part = (test) => merges.filter(([at]) => test(at)).map(([, path]) => path).join("");
    above.setAttribute("d", part((at) => at < cut));
    below.setAttribute("d", part((at) => at >= cut));
    line.setAttribute("d", `M${cut} 0v${rows}`);
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
