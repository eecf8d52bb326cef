
// ---- a study ----------------------------------------------------------------------------
const study = JSON.parse(document.getElementById("study").textContent);
const $ = (id) => document.getElementById(id);
const rows = study.rows;
const distinct = (values) => [...new Set(values)];
const networks = distinct(rows.map((each) => each.network));
const processors = distinct(rows.map((each) => each.processor));
const SERIES = 6, WIDEST = 10, LANE = 12, LABEL = 18, SIDE = 10, FOOT = 18;
const state = { row: null, shown: new Set(rows.keys()), sort: null };

const called = (row) => (row.options === "default" ? row.pipeline : `${row.pipeline}, ${row.options}`);
const series = (row) => `series-${networks.indexOf(row.network) % SERIES}`;
const figure = (value) => Number(value.toPrecision(4)).toString();

function told(row) {
  const parts = [`${row.network}, ${called(row)}`];
  if (processors.length > 1) parts.push(`on ${row.processor}`);
  if (row.error !== null) parts.push(`failed: ${row.error}`);
  if (row.milliseconds !== null) parts.push(`${figure(row.milliseconds)} ms, ${row.rounds.length} rounds`);
  if (row.ratio) parts.push(`${figure(row.ratio.value)} times the baseline (${bound(row.ratio.low)} to ${bound(row.ratio.high)})${row.ratio.different ? "" : ", not significantly different from 1"}`);
  if (row.baseline) parts.push("the baseline");
  return parts.join(" · ");
}

function bound(value) {
  return value === null ? "∞" : figure(value);
}

// ---- scales -------------------------------------------------------------------------------

function ticks(from, to, most) {
  const rough = (to - from) / most, power = 10 ** Math.floor(Math.log10(rough));
  const unit = [1, 2, 5, 10].find((each) => each * power >= rough) * power;
  const found = [];
  for (let at = Math.ceil(from / unit); at * unit <= to; at++) found.push(Number((at * unit).toPrecision(12)));
  return found;
}

class Chart {
  // A lane for each pipeline, its name above it, and in a lane a line for each network.
  constructor(parent, what, unit, chosen, from, to) {
    this.holder = make(parent, "div", null, "chart");
    const pipelines = distinct(chosen.map((each) => called(rows[each])));
    const lines = distinct(chosen.map((each) => rows[each].network));
    this.height = LABEL + LANE * lines.length + 4;
    this.width = Math.max(300, Math.min(parent.clientWidth || 900, 1100));
    this.from = from;
    this.to = to;
    this.bottom = pipelines.length * this.height;
    const total = this.bottom + FOOT;
    this.svg = shape(this.holder, "svg", { width: this.width, height: total, viewBox: `0 0 ${this.width} ${total}`, role: "group", "aria-label": what });
    for (const tick of ticks(from, to, this.width / 90)) {
      shape(this.svg, "path", { d: `M${this.x(tick)} 0V${this.bottom}`, class: tick === 1 && unit === "" ? "one" : "grid" });
      label(this.svg, this.x(tick), this.bottom + 13, String(tick), "middle");
    }
    make(parent, "small", what);
    pipelines.forEach((each, lane) => {
      const name = shape(this.svg, "text", { x: SIDE, y: lane * this.height + 13, class: "name" });
      name.textContent = each;
    });
    this.place = (row) => pipelines.indexOf(called(row)) * this.height + LABEL + LANE * (lines.indexOf(row.network) + 0.5);
  }

  x(value) {
    return SIDE + (this.width - 2 * SIDE) * (Math.min(Math.max(value, this.from), this.to) - this.from) / (this.to - this.from);
  }

  mark(number, draw) {
    const row = rows[number], y = this.place(row);
    const group = shape(this.svg, "g", { class: `mark ${series(row)}`, "data-row": number, tabindex: 0, role: "img", "aria-label": told(row) });
    shape(group, "rect", { x: 0, y: y - LANE / 2, width: this.width, height: LANE, class: "touch" });
    draw(group, row, y);
  }
}

function ratioChart(parent, numbers) {
  const ends = numbers.flatMap((each) => [rows[each].ratio.low ?? 1 / WIDEST, rows[each].ratio.high ?? WIDEST]);
  const from = Math.max(1 / WIDEST, Math.min(1, ...ends)), to = Math.min(WIDEST, Math.max(1, ...ends));
  const room = 0.02 * (to - from) || 0.02;
  const chart = new Chart(parent, "time / time of the baseline (right of 1: slower; hollow: not significant)", "", numbers, from - room, to + room);
  chart.svg.prepend(shape(chart.svg, "path", { d: `M${chart.x(1)} 0V${chart.bottom}`, class: "one" }));
  for (const number of numbers) chart.mark(number, (group, row, y) => {
    const low = row.ratio.low ?? 1 / WIDEST, high = row.ratio.high ?? WIDEST;
    shape(group, "line", { x1: chart.x(low), x2: chart.x(high), y1: y, y2: y });
    shape(group, "circle", { cx: chart.x(row.ratio.value), cy: y, r: 3.5, class: row.ratio.different ? "" : "hollow" });
    if (row.ratio.value > to) label(group, chart.x(to) - 8, y + 4, figure(row.ratio.value), "end");
  });
}

function timeChart(parent, numbers) {
  const times = numbers.flatMap((each) => [rows[each].milliseconds, ...rows[each].rounds]).filter((each) => each !== null);
  const chart = new Chart(parent, "ms; a dot is a round, the line the time of all", "ms", numbers, 0, 1.03 * Math.max(...times));
  for (const number of numbers) chart.mark(number, (group, row, y) => {
    for (const each of row.rounds) if (each !== null) shape(group, "circle", { cx: chart.x(each), cy: y, r: 3, class: "round" });
    shape(group, "path", { d: `M${chart.x(row.milliseconds)} ${y - 5}v10` });
  });
}

// ---- the parts ----------------------------------------------------------------------------

function drawCharts() {
  const parts = $("charts");
  parts.replaceChildren();
  const shown = [...state.shown];
  for (const processor of processors) {
    const own = shown.filter((each) => rows[each].processor === processor);
    if (processors.length > 1 && own.length) make(parts, "h2", processor);
    const compared = own.filter((each) => rows[each].ratio && rows[each].ratio.value !== null);
    if (compared.length) {
      make(parts, "h3", "Against the baseline");
      legend(parts);
      ratioChart(parts, compared);
    }
    for (const network of networks) {
      const timed = own.filter((each) => rows[each].network === network && rows[each].milliseconds !== null);
      if (!timed.length) continue;
      make(parts, "h3", `Times of ${network}`);
      timeChart(parts, timed);
    }
  }
  paint();
}

function legend(parent) {
  const line = make(parent, "p", null, "legend");
  networks.forEach((each, number) => {
    const button = make(line, "button", `● ${each}`, `series-${number % SERIES}`);
    button.title = `Show only ${each}`;
    button.addEventListener("click", () => { $("search").value = $("search").value === each ? "" : each; filter(); });
  });
}

function drawTable() {
  const table = $("table");
  table.replaceChildren();
  const head = make(make(table, "thead"), "tr");
  study.header.forEach((name, column) => {
    const cell = make(head, "th");
    const [own, up] = state.sort || [];
    if (own === column) cell.setAttribute("aria-sort", up ? "ascending" : "descending");
    make(cell, "button", name).addEventListener("click", () => { state.sort = [column, own === column ? !up : true]; drawTable(); });
  });
  const body = make(table, "tbody");
  for (const number of sorted()) {
    const line = make(body, "tr");
    line.dataset.row = number;
    line.hidden = !state.shown.has(number);
    rows[number].cells.forEach((cell) => make(line, "td", cell, cell.startsWith("failed: ") ? "failed" : ""));
  }
  paint();
}

function sorted() {
  const order = [...rows.keys()];
  if (!state.sort) return order;
  const [column, up] = state.sort;
  const value = (number) => rows[number].cells[column].replace(/^\(/, "");
  const compare = (one, other) => {
    const numbers = [parseFloat(one), parseFloat(other)];
    if (numbers.some(Number.isNaN)) return Number(Number.isNaN(numbers[0])) - Number(Number.isNaN(numbers[1])) || one.localeCompare(other);
    return numbers[0] - numbers[1];
  };
  return order.sort((one, other) => (up ? 1 : -1) * compare(value(one), value(other)));
}

function paint() {
  for (const each of document.querySelectorAll("[data-row]")) each.classList.toggle("chosen", Number(each.dataset.row) === state.row);
}

function choose(number) {
  state.row = number;
  $("readout").textContent = number === null ? "Point at a mark or a row; press it to keep it." : told(rows[number]);
  paint();
}

function press(number) {
  choose(number);
  if (location.protocol !== "about:") history.replaceState(null, "", number === null ? "#" : `#row=${number}`);
}

function kept() {
  const number = Number(new URLSearchParams(location.hash.slice(1)).get("row") ?? NaN);
  return number in rows ? number : null;
}

function filter() {
  const query = $("search").value.trim().toLowerCase();
  const words = (row) => `${row.network}\n${called(row)}\n${row.processor}`.toLowerCase();
  state.shown = new Set([...rows.keys()].filter((each) => words(rows[each]).includes(query)));
  $("found").textContent = query ? `${state.shown.size} of ${rows.length}` : "";
  drawCharts();
  drawTable();
}

function step(by) {
  const order = sorted().filter((each) => state.shown.has(each));
  if (!order.length) return;
  const at = state.row === null ? (by > 0 ? -1 : 0) : order.indexOf(state.row);
  press(order[(at + by + order.length) % order.length]);
  document.querySelector(`tr[data-row="${state.row}"]`).scrollIntoView({ block: "nearest" });
}

const rowOf = (event) => {
  const found = event.target.closest && event.target.closest("[data-row]");
  return found ? Number(found.dataset.row) : null;
};
const parts = $("study-parts");
make(parts, "div").id = "charts";
make(parts, "h3", "All that was measured");
make(make(parts, "div", null, "scroll"), "table").id = "table";
make(parts, "p", "j and k go through the rows, / searches, Escape ends either. A ratio in brackets is not significantly different from 1.").id = "help";
make(make(parts, "p"), "small", `${[study.tool.name, ...study.tool.arguments].join(" ")}; ${processors.join("; ")}`);
parts.addEventListener("pointerover", (event) => { const number = rowOf(event); if (number !== null) choose(number); });
parts.addEventListener("pointerleave", () => choose(kept()));
parts.addEventListener("focusin", (event) => { const number = rowOf(event); if (number !== null) choose(number); });
parts.addEventListener("click", (event) => { const number = rowOf(event); if (number !== null) press(number); });
$("search").addEventListener("input", filter);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target === $("search");
  if (event.key === "Escape") {
    if (typing) { $("search").value = ""; $("search").blur(); filter(); } else press(null);
  } else if (!typing && event.key === "/") { event.preventDefault(); $("search").focus(); }
  else if (!typing && (event.key === "j" || event.key === "k")) step(event.key === "j" ? 1 : -1);
});
let drawn = parts.clientWidth;
addEventListener("resize", () => { if (parts.clientWidth !== drawn) { drawn = parts.clientWidth; drawCharts(); } });
addEventListener("hashchange", () => choose(kept()));
filter();
choose(kept());
