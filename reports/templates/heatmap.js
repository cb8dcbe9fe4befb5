// The heatmap. Cells of one colour are one path: 60,000 cells would be too many elements.
const LEVELS = 33;
const MANY = 120; // more mappings than that need the room of the tree and of long names

class Heatmap {
  constructor(data, shows) {
    this.data = data;
    this.shows = shows; // what to do when a program is asked for
    this.rows = data.programs.length;
    this.rowHeight = data.row_height;
    this.scroller = document.getElementById("heatmap-scroll");
    this.narrow = innerWidth < 700;
    this.names = shortNames(data.programs);
    this.barred = data.choices.some((choice) => choice !== null);
    this.tip = html("div", { id: "tip", hidden: "" }, document.getElementById("heatmap-figure"));
    this.drawScale();
    if (this.barred) drawLegend(data);
    const pin = () => this.pin(this.scroller.scrollLeft, this.scroller.scrollTop);
    this.scroller.addEventListener("scroll", pin);
    addEventListener("resize", pin);
    addEventListener("beforeprint", () => this.unpin());
    addEventListener("afterprint", pin);
    this.arrange("best");
  }

  // A place is a column of the drawing: one mapping, or several of which each program shows its fastest.
  arrange(by) {
    const { data } = this;
    let order = data.labels.map((_, column) => column);
    if (by === "speedup") {
      const mean = order.map((column) => data.times_s.reduce((sum, _, row) => sum + this.gain(row, column), 0));
      order.sort((a, b) => mean[a] - mean[b]);
    }
    this.by = by;
    this.places = by === "best" ? data.places.map((place) => place.mappings) : order.map((column) => [column]);
    this.columns = this.places.length;
    this.defaultPlace = this.places.findIndex((place) => place.includes(data.default));
    this.labels = by === "best" ? data.places.map((place) => place.label) : order.map((column) => data.labels[column]);
    this.at = null;
    this.layOut();
    this.draw();
    this.point(null);
    if (this.shownCut) this.cut(this.shownCut);
    if (this.marked) this.mark(this.marked);
  }

  layOut() {
    const { data, narrow } = this;
    const many = this.columns > MANY;
    this.labelled = this.columns <= 48 && !narrow;
    const least = this.labelled ? 12 : many ? 1.5 : narrow && this.columns <= 48 ? 4 : 3; // labels must not meet
    this.treeWidth = narrow ? 50 : many ? 110 : 150;
    this.from = this.treeWidth + (narrow ? 24 : 30); // where the cells begin
    // 18: a scroll bar. Names are as long as narrow cells let them be; on a narrow screen both are scrolled.
    const whole = (this.scroller.clientWidth || 1200) - this.from - 18;
    const letters = Math.floor((whole - (narrow ? least + 1 : least) * this.columns - 14) / 6.1);
    this.letters = Math.max(narrow ? 14 : 20, Math.min(40, letters));
    this.nameWidth = Math.max(60, 14 + 6.1 * Math.max(...this.names.map((name) => Math.min(name.length, this.letters))));
    const room = whole - this.nameWidth;
    this.cellWidth = Math.max(least, Math.min(22, Math.floor(10 * room / this.columns) / 10));
    this.headsEnd = this.labelled ? 10 + 6 * Math.max(...this.labels.map((label) => Math.min(label.length, 40))) : 40;
    this.barsEnd = this.headsEnd + (this.barred ? barsOf(data).length * BAR + 2 : 0);
    this.top = this.barsEnd + 12;
  }

  gain(row, column) {
    const times = this.data.times_s[row];
    return Math.log2(times[column] / times[this.data.default]);
  }

  // The mapping that a cell shows.
  shown(row, place) {
    const times = this.data.times_s[row];
    return this.places[place].reduce((best, column) => (times[column] < times[best] ? column : best));
  }

  draw() {
    const { data, rows, rowHeight, cellWidth } = this;
    const end = this.from + this.columns * cellWidth;
    this.width = end + this.nameWidth;
    this.height = this.top + rows * rowHeight + 6;
    const root = svg("svg", {
      id: "heatmap-drawing", class: "heatmap", width: this.width, height: this.height, tabindex: "0",
      viewBox: `0 0 ${this.width} ${this.height}`, role: "application", "aria-roledescription": "heatmap",
      "aria-label": `Heatmap of ${count(rows, "program")} under ${count(this.columns, "mapping")}`,
      "aria-describedby": "heatmap-help",
    });
    this.root = root;
    this.cells = svg("g", {}, root);
    this.lines = svg("path", { class: "cluster-lines" }, root);
    this.veils = svg("path", { class: "veil" }, root);
    this.cursor = svg("rect", { class: "cursor", width: cellWidth, height: rowHeight, visibility: "hidden" }, root);
    // What is pinned hides the cells that are scrolled below it: each has a ground of its own.
    const pinned = (name, x, y, width, height) => {
      const group = svg("g", { class: `pinned ${name}` }, root);
      svg("rect", { class: "ground", x, y, width, height }, group);
      return group;
    };
    this.above = pinned("above", this.from, 0, end - this.from, this.top);
    this.left = pinned("left", 0, this.top, this.from - 1, this.height - this.top);
    this.right = pinned("right", end + 1, this.top, this.nameWidth, this.height - this.top);
    this.corners = [pinned("corner", 0, 0, this.from - 1, this.top), pinned("corner", end + 1, 0, this.nameWidth, this.top)];
    this.heads = svg("g", {}, this.above);
    if (data.merges.length) {
      this.cutTree = mergeTree(this.left, data.merges, rows, 4, this.top, this.treeWidth, rowHeight);
    }
    this.strip = svg("g", {}, this.left);
    this.nameTexts = data.programs.map((name, row) => {
      const at = { class: "name", x: end + 6, y: this.top + (row + 0.5) * rowHeight + 3.5 };
      const text = svg("text", at, this.right, beginning(this.names[row], this.letters));
      svg("title", {}, text, name);
      return text;
    });
    if (this.barred) {
      barsOf(data).forEach((name, at) => {
        svg("text", { class: "bar-name end", x: this.from - 6, y: this.headsEnd + (at + 1) * BAR - 2 }, this.corners[0], name);
      });
    }
    this.scroller.replaceChildren(root);
    this.scroller.style.scrollPadding = `${this.top + 4}px ${this.nameWidth + 4}px 4px ${this.from + 4}px`;
    this.drawCells();
    this.listen();
    this.pin(this.scroller.scrollLeft, this.scroller.scrollTop);
  }

  // Keeps tree, names and heads in sight; on paper everything is where it was drawn.
  pin(x, y) {
    const right = Math.min(0, x + this.scroller.clientWidth - this.width);
    const places = [[this.above, 0, y], [this.left, x, 0], [this.right, right, 0], [this.corners[0], x, y], [this.corners[1], right, y]];
    for (const [group, across, down] of places) group.setAttribute("transform", `translate(${across} ${down})`);
  }

  unpin() {
    for (const group of this.root.querySelectorAll(".pinned")) group.removeAttribute("transform");
  }

  drawCells() {
    const { data, rows, columns, rowHeight, cellWidth, top } = this;
    const paths = Array.from({ length: LEVELS }, () => []);
    const dots = [];
    for (let row = 0; row < rows; row++) {
      const y = top + row * rowHeight;
      const times = data.times_s[row];
      let fastest = 0;
      let start = 0;
      let before = -1;
      for (let place = 0; place <= columns; place++) {
        let level = -2;
        if (place < columns) {
          const column = this.shown(row, place);
          const share = this.gain(row, column) / data.limit; // -1 fast, 1 slow
          level = Math.round((Math.max(-1, Math.min(1, share)) + 1) / 2 * (LEVELS - 1));
          if (times[column] < times[this.shown(row, fastest)]) fastest = place;
        }
        if (level !== before) {
          if (before >= 0) {
            paths[before].push(`M${this.from + start * cellWidth} ${y}h${(place - start) * cellWidth}v${rowHeight}H${this.from + start * cellWidth}z`);
          }
          start = place;
          before = level;
        }
      }
      const radius = Math.min(Math.max(cellWidth / 2, 2), rowHeight / 2, 3);
      dots.push(`M${this.from + (fastest + 0.5) * cellWidth - radius} ${y + rowHeight / 2}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0`);
    }
    paths.forEach((parts, level) => {
      if (parts.length) svg("path", { class: `q${level}`, d: parts.join("") }, this.cells);
    });
    svg("path", { class: "fastest", d: dots.join("") }, this.cells);
    this.drawHeads();
  }

  drawHeads() {
    const { data, columns, cellWidth, headsEnd, top } = this;
    const x = (place) => this.from + place * cellWidth;
    const size = (place) => {
      const choice = data.choices[this.places[place][0]];
      if (this.by === "best") return `${data.places[place].group} ${this.places[place].length > 1 ? place : ""}`;
      return choice ? `${choice[0]}x${choice[1]}${choice[CORE] > 1 ? ` smt${choice[CORE]}` : ""}` : "";
    };
    const head = (place, text) => {
      const at = `translate(${place.toFixed(1)} ${headsEnd - 4}) rotate(-90)`;
      svg("text", { class: "head", transform: at }, this.heads, shortened(text, 40));
    };
    if (this.labelled) this.labels.forEach((label, place) => head(x(place + 0.5) + 3.5, label));
    if (this.by !== "speedup") {
      let start = 0;
      const lines = [];
      for (let place = 1; place <= columns; place++) {
        if (place < columns && size(place) === size(start)) continue;
        if (this.by === "label" && !this.labelled && (place - start) * cellWidth >= 11) head(x((start + place) / 2) + 3.5, size(start));
        if (place < columns) lines.push(`M${x(place)} ${top}v${this.rows * this.rowHeight}`);
        start = place;
      }
      if (this.by === "best" || !this.labelled) svg("path", { class: "size-lines", d: lines.join("") }, this.cells);
    }
    if (this.by !== "label" && !this.labelled) {
      svg("text", { class: "head", x: x(0), y: headsEnd - 6 }, this.heads, this.by === "best" ? "best first" : "fastest on average");
      svg("text", { class: "head end", x: x(columns), y: headsEnd - 6 }, this.heads, this.by === "best" ? "fewer cores" : "slowest");
    }
    if (this.barred) drawBars(this, this.heads);
    const middle = x(this.defaultPlace + 0.5);
    svg("path", { class: "default-mark", d: `M${middle - 5} ${top - 10}h10l-5 8z` }, this.heads);
  }

  drawScale() {
    const holder = document.getElementById("scale");
    const limit = this.data.limit;
    const width = Math.min(600, holder.clientWidth || 600);
    const root = svg("svg", { class: "scale", width, height: 34, viewBox: `0 0 ${width} 34`, role: "img" }, holder);
    root.setAttribute("aria-label", "Colours from faster than the default, blue, to slower, red");
    const step = (width - 40) / LEVELS;
    for (let level = 0; level < LEVELS; level++) {
      svg("rect", { class: `q${level}`, x: 20 + level * step, y: 2, width: step + 0.3, height: 12 }, root);
    }
    const every = width < 450 && limit >= 2 ? Math.floor(limit) : 1; // where they would meet, only the outer ones
    for (let power = -Math.floor(limit); power <= limit; power += every) {
      const word = power === 0 ? "default" : `${2 ** Math.abs(power)}x ${power < 0 ? "faster" : "slower"}`;
      const x = 20 + (width - 40) * (power / limit + 1) / 2;
      svg("path", { class: "tick", d: `M${x} 14v4` }, root);
      svg("text", { class: "scale-text", x: Math.max(30, Math.min(width - 30, x)), y: 29 }, root, word);
    }
  }

  listen() {
    const { root } = this;
    const cell = (event) => {
      if (event.target.closest(".pinned")) return null;
      const box = root.getBoundingClientRect();
      const column = Math.floor(((event.clientX - box.left) * this.width / box.width - this.from) / this.cellWidth);
      const row = Math.floor(((event.clientY - box.top) * this.height / box.height - this.top) / this.rowHeight);
      const inside = column >= 0 && column < this.columns && row >= 0 && row < this.rows;
      return inside ? { row, place: column } : null;
    };
    root.addEventListener("pointermove", (event) => this.point(cell(event)));
    root.addEventListener("pointerleave", () => this.point(null));
    root.addEventListener("click", (event) => {
      const at = cell(event);
      if (at && event.pointerType === "touch") this.point(at);
      else if (at) this.shows(at.row);
    });
    root.addEventListener("focus", () => {
      if (root.matches(":focus-visible")) this.moveTo(this.at || { row: 0, place: this.defaultPlace });
    });
    root.addEventListener("blur", () => this.point(null));
    root.addEventListener("keydown", (event) => this.press(event));
  }

  press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { row, place } = this.at || { row: 0, place: this.defaultPlace };
    const moves = {
      ArrowUp: [row - 1, place], ArrowDown: [row + 1, place], ArrowLeft: [row, place - 1], ArrowRight: [row, place + 1],
      Home: [row, 0], End: [row, this.columns - 1], PageUp: [row - 10, place], PageDown: [row + 10, place],
    };
    if (event.key in moves) {
      const [nextRow, nextPlace] = moves[event.key];
      const within = (value, count_) => Math.max(0, Math.min(count_ - 1, value));
      this.moveTo({ row: within(nextRow, this.rows), place: within(nextPlace, this.columns) });
    } else if (event.key === "Enter") {
      this.shows(row);
    } else if (event.key === "Escape") {
      this.point(null);
    } else {
      return;
    }
    event.preventDefault();
  }

  moveTo(at) {
    this.point(at);
    this.cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.point(at); // where the cell is by now
    say(this.words(at.row, this.shown(at.row, at.place)).join(", "));
  }

  words(row, column) {
    const time = this.data.times_s[row][column];
    const speedup = this.data.times_s[row][this.data.default] / time;
    const what = column === this.data.default ? "the default" : `${factor(speedup)} over the default`;
    return [shortened(this.data.programs[row], 300), shortened(this.data.labels[column], 300), seconds(time), what];
  }

  // Shows what a cell says, or hides it.
  point(at) {
    if (at) this.at = at;
    this.tip.hidden = !at;
    this.cursor.setAttribute("visibility", at ? "visible" : "hidden");
    if (!at) return;
    const { tip, cursor } = this;
    cursor.setAttribute("x", this.from + at.place * this.cellWidth);
    cursor.setAttribute("y", this.top + at.row * this.rowHeight);
    tip.replaceChildren();
    this.words(at.row, this.shown(at.row, at.place)).forEach((text, line) => html(line ? "span" : "strong", {}, tip, text));
    const figure = tip.parentElement.getBoundingClientRect();
    const box = cursor.getBoundingClientRect();
    const left = Math.max(0, Math.min(box.right - figure.left + 10, figure.width - tip.offsetWidth));
    const below = box.bottom - figure.top + 8;
    const fits = box.bottom + 8 + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${fits ? below : box.top - figure.top - tip.offsetHeight - 8}px`;
  }

  cut(cut) {
    const { at, starts } = cut;
    this.shownCut = cut;
    if (this.cutTree) this.cutTree(at);
    clusterStrip(this.strip, starts, numbersOf(cut), this.rows, this.from - 20, this.top, this.rowHeight);
    const across = this.columns * this.cellWidth;
    const lines = starts.slice(1).map((start) => `M${this.from} ${this.top + start * this.rowHeight}h${across}`);
    this.lines.setAttribute("d", lines.join(""));
  }

  // Veils the programs whose names do not have the text.
  mark(text) {
    this.marked = text;
    const wanted = text.trim().toLowerCase();
    const across = this.columns * this.cellWidth;
    let found = 0;
    const veils = [];
    this.data.programs.forEach((name, row) => {
      const has = name.toLowerCase().includes(wanted);
      found += has;
      this.nameTexts[row].classList.toggle("faint", !has);
      if (!has) veils.push(`M${this.from} ${this.top + row * this.rowHeight}h${across}v${this.rowHeight}H${this.from}z`);
    });
    this.veils.setAttribute("d", veils.join(""));
    document.getElementById("marked-said").textContent = wanted ? `${count(found, "program")} marked` : "";
  }
}
