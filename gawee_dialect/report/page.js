
// ---- a report ---------------------------------------------------------------------------

const report = JSON.parse(document.getElementById("report").textContent);
const drawings = JSON.parse(document.getElementById("drawings").textContent);
const boxes = drawings.boxes;
// Texts come as numbers in the table of lines; -n stands for the n numbers after the one before it.
function unpack(numbers) {
  const found = [];
  let last = 0;
  for (const each of numbers) {
    if (each >= 0) found.push(drawings.lines[last = each]);
    else for (let more = each; more < 0; more++) found.push(drawings.lines[++last]);
  }
  return found;
}
for (const level of report.levels) for (const each of level.functions) each.text = unpack(each.text).join("\n");
for (const step of drawings.steps) for (const each of step.functions) each.lines = unpack(each.lines);
for (const pass of report.passes) for (const each of pass.diff) each.lines = unpack(each.lines).map((line, at) => each.signs[at] + line);
for (const each of report.assembly || []) each.lines = unpack(each.lines);
const $ = (id) => document.getElementById(id);
const narrow = matchMedia("(max-width: 900px)");
const LEAF = 36, ROW_GAP = 24, PORT_GAP = 4, GAP = 16, PAD = 12, HEAD = 24, LETTER = 7.3, MOST = 34, MARGIN = 600;
const state = { sources: [], pass: null, colour: "kind", query: "", cursor: null };

const short = (number) => Number(number.toPrecision(3)).toString();
// A time, in the unit of the greatest of those that it stands among.
const unitOf = (most) => (most < 1 ? ["µs", 1000] : most < 1000 ? ["ms", 1] : ["s", 0.001]);
function duration(milliseconds) {
  const [unit, times] = unitOf(milliseconds);
  return `${short(milliseconds * times)} ${unit}`;
}
const counted = (count, one, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;
const cut = (text) => (text.length > MOST ? text.slice(0, MOST - 1) + "…" : text);
// What a graph can show: each level, and the public functions as each pass left them.
const steps = drawings.steps;
const views = [
  ...report.levels.map((each, number) => ({ name: each.name, label: each.name, root: drawings.roots[number], passes: each.passes, functions: each.functions })),
  ...steps.map((each) => ({ name: `pass${each.pass}`, label: `${each.pass + 1}: ${report.passes[each.pass].name}`, root: each.root, passes: each.pass + 1, functions: each.functions })),
];
const functionOf = (level, box) => views[level].functions[box.f];
const opOf = (level, box) => (box.op === undefined ? null : functionOf(level, box).ops[box.op]);
const originText = (number) => {
  const origin = report.origins[number];
  return origin.node || origin.place || "";
};

// ---- what is known of origins: time, errors -----------------------------------------------

const places = new Map(report.origins.map((each, number) => [each.node + "\n" + each.place, number]));
const byPlace = new Map(report.origins.map((each, number) => [each.place, number]));
const timeOf = new Map();
let longest = 0;
for (const row of report.times.profile || []) {
  const number = numberOf(row);
  if (number === undefined) continue;
  const known = timeOf.get(number) || { milliseconds: 0, rows: [] };
  known.milliseconds += row.milliseconds;
  known.rows.push(row);
  timeOf.set(number, known);
  longest = Math.max(longest, known.milliseconds);
}
// What became part of what: by the first origin of an op, others that it has at a level. Behind one
// that has an op of its own there are those of that op, of which a kernel may write the padding.
const partsOf = new Map(), wholeOf = new Map();
for (const level of report.levels) {
  const ops = level.functions.flatMap((each) => each.ops);
  const own = new Set(ops.map((op) => op.sources[0]));
  for (const { sources: [whole, ...parts] } of ops) {
    const end = parts.findIndex((each) => own.has(each));
    for (const part of end < 0 ? parts : parts.slice(0, end)) {
      if (!partsOf.has(whole)) partsOf.set(whole, new Set());
      partsOf.get(whole).add(part);
      wholeOf.set(part, whole);
    }
  }
}
const partsText = (number) => [...(partsOf.get(number) || [])].map(originText).filter(Boolean).join(", ");
const ran = (row) => (row.within ? `${row.calls} × ${row.kernel}` : row.kernel);
const concerned = (error) => report.origins.flatMap((origin, number) => ((error.place ? origin.place === error.place : error.node && origin.node === error.node) ? [number] : []));
const wrong = new Set([...report.errors, ...report.passes.flatMap((each) => each.errors)].flatMap(concerned));
const verdicts = new Map((report.coverage || []).map((each) => [each.source, each]));
const WORST = ["supported", "supported with limits", "unsupported"];
const assembly = new Map((report.assembly || []).map((each) => [each.function, each]));
const proofs = new Map((report.proofs || []).map((each) => [each.number, each]));
const failed = report.errors.length && report.passes.length ? report.passes.length - 1 : undefined;

// ---- boxes: what a box stands for ---------------------------------------------------------

const sourcesCache = new Map();
function sourcesOf(level, number) {
  if (sourcesCache.has(number)) return sourcesCache.get(number);
  const box = boxes[number];
  let found;
  if (box.rows) {
    found = new Set();
    for (const row of box.rows) for (const child of row) {
      if (child >= 0) for (const each of sourcesOf(level, child)) found.add(each);
    }
  } else {
    found = new Set(ownSources(level, box));
  }
  sourcesCache.set(number, found);
  return found;
}

function ownSources(level, box) {
  const op = opOf(level, box);
  return op ? op.sources : box.o || [];
}

// ---- placing ------------------------------------------------------------------------------

const text = (box) => [cut(box.t), cut(box.rows ? counted(box.n, "op") : box.s || "")];

function measure(number) {
  const box = boxes[number];
  if (!(box.rows && box.open)) {
    const [first, second] = text(box);
    return { w: Math.max(60, LETTER * Math.max(first.length + (box.rows ? 2 : 0), 0.9 * second.length) + 18), h: LEAF };
  }
  let width = LETTER * cut(box.t).length + 40, height = box.n === undefined ? 0 : HEAD;
  const rows = [];
  for (const row of box.rows) {
    const sizes = row.map((child) => (child < 0 ? { w: 6, h: 0 } : measure(child)));
    const w = sizes.reduce((sum, size) => sum + size.w + GAP, -GAP);
    const h = Math.max(0, ...sizes.map((size) => size.h));
    rows.push({ row, sizes, w, h, y: height });
    height += h + (h ? ROW_GAP : PORT_GAP);
    width = Math.max(width, w);
  }
  return { w: width + 2 * PAD, h: height - (box.out ? PORT_GAP : ROW_GAP - PAD), rows };
}

// ---- the difference of two states of the network ---------------------------------------------

function leaves(number) {
  const box = boxes[number];
  return box.rows ? box.rows.flat().filter((each) => each >= 0).flatMap(leaves) : [number];
}

function linesOf(holder) {
  return (holder.lines || holder.text.split("\n")).map((line) => line || " ");
}

// Values without a name, and those of one name, have numbers, which are others when an op is made anew.
const plain = (line) => line.replace(/%\d+/g, "%").replace(/(%[\w$.-]+)_\d+\b/g, "$1");
const plainLines = new Map();
function plainLinesOf(holder) {
  if (!plainLines.has(holder)) plainLines.set(holder, linesOf(holder).map(plain));
  return plainLines.get(holder);
}

function same(view, number) {
  const box = boxes[number], at = box.op ?? box.at;
  const words = [box.t, box.s || "", ownSources(view, box)];
  if (at !== undefined) {
    const op = functionOf(view, box).ops[at], [first, last] = op.lines || op;
    words.push(...plainLinesOf(functionOf(view, box)).slice(first, last + 1));
  }
  return words.join("\n");
}

function contents(view) {
  const functions = views[view].functions.filter((each) => each.public !== false);
  return { ops: new Set(leaves(views[view].root).map((each) => same(view, each))), lines: new Set(functions.flatMap(plainLinesOf)) };
}

class Graph {
  constructor(section, level) {
    this.section = section;
    const bar = make(section, "div", null, "bar");
    this.select = make(bar, "select");
    this.select.setAttribute("aria-label", "Level");
    for (const [button, title, act] of [
      ["+", "Open all modules", () => this.fold(true)],
      ["−", "Close all modules", () => this.fold(false)],
    ]) {
      const made = make(bar, "button", button);
      made.title = title;
      made.setAttribute("aria-label", title);
      made.addEventListener("click", act);
    }
    this.zoom = 1;
    this.other = null;
    this.isText = this.isBefore = false;
    for (const [label, title, act] of [["fit", "Fit the graph to the pane (f)", () => this.fit()], ["100 %", "Actual size (0)", () => this.scale(1)]]) {
      const made = make(bar, "button", label);
      made.title = title;
      made.addEventListener("click", act);
    }
    this.textButton = make(bar, "button", "text");
    this.textButton.title = "Show the text, with the ops linked (x)";
    this.textButton.addEventListener("click", () => this.toggleText());
    this.note = make(bar, "small");
    this.canvas = make(section, "div", null, "canvas");
    this.canvas.tabIndex = 0;
    this.svg = shape(this.canvas, "svg", {});
    this.listing = make(section, "div", null, "listing");
    this.listing.addEventListener("click", (event) => {
      const line = event.target.closest("[data-op]");
      if (line) choose(this.lineSources.get(line), this);
    });
    this.canvas.addEventListener("scroll", () => this.paint());
    this.canvas.addEventListener("wheel", (event) => {
      // A pinch on a touchpad is a wheel with Ctrl.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.scale(this.zoom * Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
    }, { passive: false });
    this.svg.addEventListener("click", (event) => {
      const number = event.target.dataset && event.target.dataset.box;
      if (number !== undefined) this.pressed(Number(number), event.target);
    });
    this.select.addEventListener("change", () => { this.show(this.select.value); arrange(); keep(); });
    this.choices();
    this.show(level);
  }

  choices() {
    if (this.section.id === "graph-b") make(this.select, "option", "(one graph)").value = "";
    const groups = [["levels", 0, report.levels.length], ["after a pass", report.levels.length, views.length]];
    for (const [label, from, to] of groups) {
      if (from === to) continue;
      const group = make(this.select, "optgroup");
      group.label = label;
      for (let number = from; number < to; number++) make(group, "option", views[number].label).value = number;
    }
  }

  show(level, other) {
    this.other = other || null;
    this.select.value = level;
    this.level = level === "" ? null : Number(level);
    this.place();
    this.canvas.scrollTo(Math.max(0, (this.width * this.zoom - this.canvas.clientWidth) / 2), 0);
  }

  scale(zoom, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    // What is at a place of the pane stays there.
    const { canvas } = this, before = this.zoom;
    this.zoom = Math.min(4, Math.max(0.02, zoom));
    const left = (canvas.scrollLeft + x) * this.zoom / before - x, top = (canvas.scrollTop + y) * this.zoom / before - y;
    this.resize();
    canvas.scrollTo(left, top);
    this.paint();
  }

  fit() {
    const { clientWidth, clientHeight } = this.canvas;
    if (this.width) this.scale(Math.min(1, clientWidth / this.width, clientHeight / this.height));
  }

  resize() {
    this.svg.setAttribute("width", this.width * this.zoom);
    this.svg.setAttribute("height", this.height * this.zoom);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
  }

  toggleText(isText = !this.isText) {
    this.isText = isText;
    this.section.classList.toggle("texts", isText);
    this.textButton.setAttribute("aria-pressed", String(isText));
    this.paint();
  }

  place() {
    this.flat = [];
    this.edges = [];
    this.width = this.height = 0;
    if (this.level !== null) {
      const root = views[this.level].root;
      const size = measure(root);
      this.lay(root, size, PAD, PAD, null, true);
      this.width = size.w + 2 * PAD;
      this.height = size.h + 2 * PAD;
      const ops = boxes[root].rows.flat().reduce((sum, each) => sum + boxes[each].n, 0);
      this.note.textContent = `${counted(ops, "op")}, after ${counted(views[this.level].passes, "pass", "passes")}`;
    }
    this.resize();
    this.paint();
  }

  lay(number, size, x, y, parent, isRoot) {
    // Returns where the ports of an open module are, on its frame.
    if (!isRoot) this.flat.push({ number, x, y, w: size.w, h: size.h, parent });
    const at = new Map(), ports = new Map();
    if (!size.rows) return ports;
    for (const { row, sizes, w, h, y: top } of size.rows) {
      let left = x + (size.w - w) / 2;
      row.forEach((child, index) => {
        const each = sizes[index];
        // An arrow that passes a row goes straight through all of it, beside the boxes.
        const tall = child < 0 ? h : each.h;
        at.set(child, { x: left + each.w / 2, top: y + top + (h - tall) / 2, bottom: y + top + (h + tall) / 2 });
        if (child >= 0) ports.set(child, this.lay(child, each, left, y + top + (h - each.h) / 2, number, false));
        left += each.w + GAP;
      });
    }
    const own = boxes[number], frame = new Map();
    for (const port of Object.values(own.in || {})) frame.set(port, { x: at.get(port).x, top: y, bottom: y });
    if (own.out) frame.set(own.out, { x: at.get(own.out).x, top: y + size.h, bottom: y + size.h });
    for (const path of own.arrows || []) {
      const points = path.map((each) => frame.get(each) || at.get(each));
      const source = path[0], last = path.length - 1, target = path[last];
      const leaves = source >= 0 && ports.get(source).get(boxes[source].out);
      const enters = target >= 0 && ports.get(target).get((boxes[target].in || {})[source]);
      if (leaves) points[0] = leaves;
      if (enters) points[last] = enters;
      const ys = points.flatMap((point) => [point.top, point.bottom]);
      this.edges.push({ path, points, top: Math.min(...ys), bottom: Math.max(...ys) });
    }
    return frame;
  }

  paint(all) {
    const from = all ? -1 : this.canvas.scrollTop / this.zoom - MARGIN;
    const to = all ? Infinity : (this.canvas.scrollTop + this.canvas.clientHeight) / this.zoom + MARGIN;
    this.svg.replaceChildren();
    if (this.level === null) return;
    if (this.isText && !all) return this.lines();
    // An open module is behind the arrows in it, everything else before them.
    const seen = this.flat.filter((each) => each.y <= to && each.y + each.h >= from);
    for (const each of seen) if (boxes[each.number].rows && boxes[each.number].open) this.box(each);
    for (const edge of this.edges) if (edge.top <= to && edge.bottom >= from) this.edge(edge);
    for (const each of seen) if (!(boxes[each.number].rows && boxes[each.number].open)) this.box(each);
  }

  lines() {
    // The text of the public functions; what is on a line is linked to what it comes from.
    const shown = `${this.level}`;
    if (this.listing.dataset.level !== shown) {
      this.listing.dataset.level = shown;
      this.listing.replaceChildren();
      this.lineSources = new Map();
      for (const each of views[this.level].functions) {
        if (each.public === false) continue;
        const elements = linesOf(each).map((line) => make(this.listing, "div", line));
        const ops = each.lines ? each.ops : each.ops.map((op) => [...op.lines, op.sources]);
        for (const [first, last, sources] of ops) {
          for (let line = first; line <= last; line++) {
            elements[line].dataset.op = "";
            this.lineSources.set(elements[line], sources);
          }
        }
      }
    }
    const other = this.other && this.other.lines;
    let first = null;
    for (const line of this.listing.children) {
      const sources = this.lineSources.get(line) || [];
      const chosen = state.sources.some((each) => sources.includes(each));
      line.className = [chosen && "chosen", other && !other.has(plain(line.textContent)) && (this.isBefore ? "removed" : "added")].filter(Boolean).join(" ");
      if (chosen && !first) first = line;
    }
    if (first && this.followed !== state.sources) first.scrollIntoView({ block: "center", inline: "start" });
    this.followed = state.sources;
  }

  edge(edge) {
    const [first, ...rest] = edge.points;
    let d = `M${first.x} ${first.bottom}`, last = first;
    for (const point of rest) {
      const middle = (last.bottom + point.top) / 2;
      d += `C${last.x} ${middle} ${point.x} ${middle} ${point.x} ${point.top}`;
      if (point.bottom > point.top && point !== rest[rest.length - 1]) d += `L${point.x} ${point.bottom}`;
      last = point;
    }
    const ends = [edge.path[0], edge.path[edge.path.length - 1]];
    const chosen = ends.some((each) => each >= 0 && !boxes[each].rows && this.isChosen(each));
    shape(this.svg, "path", { d, class: chosen ? "edge chosen" : "edge" });
  }

  box({ number, x, y, w, h }) {
    const box = boxes[number], sources = sourcesOf(this.level, number);
    const open = box.rows && box.open;
    const classes = ["box"];
    if (box.rows) classes.push("group");
    if (open) classes.push("open");
    if (box.op === undefined && !box.rows && !box.o) classes.push("input");
    if (!open && this.other && leaves(number).some((each) => !this.other.ops.has(same(this.level, each)))) classes.push(this.isBefore ? "gone" : "new");
    if (!open && this.isChosen(number)) classes.push("chosen");
    if (!open && state.query && this.matches(number)) classes.push("found");
    if (!open && [...sources].some((each) => wrong.has(each))) classes.push("bad");
    if (!open && state.colour === "coverage") classes.push(...worst(sources));
    const rect = shape(this.svg, "rect", { x, y, width: w, height: h, rx: 5, class: classes.join(" "), "data-box": number });
    const [first, second] = text(box);
    shape(rect, "title", {}).textContent = this.title(number);
    const heated = !open && state.colour === "time" && longest && this.runs(number);
    if (heated) {
      const sum = [...this.ownTimes(number)].reduce((total, each) => total + timeOf.get(each).milliseconds, 0);
      shape(this.svg, "rect", { x, y, width: w, height: h, rx: 5, class: "heat", "fill-opacity": Math.min(0.85, 0.85 * sum / longest) });
    }
    const mark = box.rows ? (open ? "− " : "+ ") : "";
    shape(this.svg, "text", { x: x + 9, y: y + 15 }).textContent = mark + first;
    if (!open) shape(this.svg, "text", { x: x + 9, y: y + 29, class: heated ? "sub heated" : "sub" }).textContent = second;
  }

  isChosen(number) {
    const sources = sourcesOf(this.level, number);
    return state.sources.some((each) => sources.has(each));
  }

  runs(number) {
    // Times are those of the function that the network runs, not of what prepares its weights.
    if (this.running === undefined) this.running = new Map();
    if (!this.running.has(number)) {
      const box = boxes[number];
      const main = box.f === undefined ? null : functionOf(this.level, box).name === "main";
      this.running.set(number, main ?? Boolean(box.rows && box.rows.flat().some((each) => each >= 0 && this.runs(each))));
    }
    return this.running.get(number);
  }

  ownTimes(number) {
    // Of what was fused into an op, the time is the op's own.
    const box = boxes[number];
    if (!box.rows) return ownSources(this.level, box).slice(0, 1).filter((each) => timeOf.has(each));
    const inside = box.rows.flat().filter((each) => each >= 0).flatMap((each) => [...this.ownTimes(each)]);
    return new Set(inside);
  }

  title(number) {
    const box = boxes[number], op = opOf(this.level, box);
    const lines = [box.t, ...(box.s ? [box.s] : []), ...(box.y ? [box.y] : [])];
    if (op) lines.push(...op.results.map((each) => each.type));
    const [whole, ...parts] = ownSources(this.level, box);
    const names = parts.filter((each) => partsOf.get(whole)?.has(each)).map(originText).filter(Boolean);
    if (names.length) lines.push(`with ${names.join(", ")}`);
    for (const each of this.ownTimes(number)) if (!box.rows) lines.push(`${originText(each)}: ${duration(timeOf.get(each).milliseconds)}`);
    return lines.join("\n");
  }

  matches(number) {
    const box = boxes[number];
    const own = `${box.t}\n${box.s || ""}`.toLowerCase();
    if (own.includes(state.query)) return true;
    return Boolean(box.rows && box.rows.some((row) => row.some((child) => child >= 0 && this.matches(child))));
  }

  pressed(number, target) {
    const box = boxes[number];
    state.cursor = { graph: this, number };
    if (box.rows) {
      // What was pressed comes into the middle, its top where it was unless that hides the most of it.
      const pane = this.canvas.getBoundingClientRect();
      const before = target.getBoundingClientRect().top - pane.top;
      box.open = !box.open;
      this.place();
      const now = this.flat.find((each) => each.number === number), { zoom } = this;
      const hidden = before + now.h * zoom > pane.height;
      this.canvas.scrollTo((now.x + now.w / 2) * zoom - pane.width / 2, now.y * zoom - (hidden ? Math.min(before, pane.height / 8) : before));
      this.paint();
      return;
    }
    choose(ownSources(this.level, box), this);
  }

  fold(open) {
    if (this.level === null) return;
    const visit = (number, depth) => {
      const box = boxes[number];
      if (!box.rows) return;
      if (depth > 1) box.open = open;
      for (const row of box.rows) for (const child of row) if (child >= 0) visit(child, depth + 1);
    };
    visit(views[this.level].root, 0);
    this.place();
  }

  reveal(wanted) {
    // Open what hides an op that is wanted, and bring the first one into view.
    if (this.level === null) return;
    const open = (number) => {
      const box = boxes[number];
      if (!box.rows) return wanted(number);
      let within = false;
      for (const row of box.rows) for (const child of row) if (child >= 0 && open(child)) within = true;
      if (within) box.open = true;
      return within;
    };
    open(views[this.level].root);
    this.place();
    const first = this.flat.find((each) => !boxes[each.number].rows && wanted(each.number));
    if (!first) return;
    const { scrollTop, clientHeight, clientWidth } = this.canvas, { zoom } = this;
    const away = first.y * zoom < scrollTop || (first.y + first.h) * zoom > scrollTop + clientHeight;
    this.canvas.scrollTo((first.x + first.w / 2) * zoom - clientWidth / 2, away ? first.y * zoom - clientHeight / 3 : scrollTop);
    this.paint();
  }
}

// ---- the selection ------------------------------------------------------------------------

function choose(sources, from) {
  state.sources = sources;
  state.pass = null;
  for (const graph of graphs) {
    if (graph === from) graph.paint();
    else graph.reveal((number) => ownSources(graph.level, boxes[number]).some((each) => sources.includes(each)));
  }
  paintPasses();
  details();
  keep();
  if (narrow.matches) tab("details");
}

function choosePass(number, isStep) {
  state.pass = number;
  state.sources = [];
  for (const graph of graphs) graph.paint();
  paintPasses();
  details();
  keep();
  if (narrow.matches) tab(isStep ? "graph-a" : "details");
}

function listing(parent, lines, title, open) {
  const holder = make(parent, "details");
  holder.open = Boolean(open);
  make(holder, "summary", title);
  // Long texts are put in only when they are opened.
  const fill = () => { if (holder.open && !holder.querySelector("pre")) make(holder, "pre", lines.join("\n")); };
  holder.addEventListener("toggle", fill);
  fill();
}

function reached(level, names) {
  const functions = new Map(level.functions.map((each) => [each.name, each]));
  const found = [], pending = [...names];
  while (pending.length) {
    const name = pending.shift(), each = functions.get(name);
    if (!each || found.includes(each)) continue;
    found.push(each);
    pending.push(...each.calls);
  }
  return found;
}

function details() {
  const panel = $("details");
  panel.replaceChildren();
  panel.scrollTop = 0;
  if (state.pass !== null || state.sources.length) link(panel, "← this run", () => { choose([], graphs[0]); });
  if (state.pass !== null) passDetails(panel, state.pass);
  else if (state.sources.length) opDetails(panel);
  else overview(panel);
}

function overview(panel) {
  make(panel, "h2", "This run");
  errorList(panel, report.errors, failed);
  make(panel, "p", "Press an op to see what became of it at every level, or a pass to see what it did. ? lists the keys.");
  swatches(panel);
  const table = make(panel, "table");
  const packages = Object.entries(report.tool.packages).map(([name, version]) => `${name} ${version || "(not installed)"}`);
  const changed = report.passes.filter((each) => each.status === "changed").length;
  for (const [name, value] of [
    ["command", [report.tool.name, ...report.tool.arguments].join(" ")],
    ["input", report.input],
    ...(report.passes.length ? [
      ["passes", `${report.passes.length}, of which ${changed} changed something`],
      ["they took", duration(1000 * report.times.passes.reduce((sum, each) => sum + each, 0))],
    ] : []),
    ["versions", packages.join(", ")],
    ...(report.times.processor ? [["limits", report.times.processor]] : []),
  ]) row(table, name, value);
  if (report.coverage) coverageTable(panel);
  if (report.times.profile) profileTable(panel);
  if (report.times.profile && report.times.limits) rooflinePicture(panel, report.times.profile, report.times.limits, chooseTimed);
  plannedMemory(panel);
}

function swatches(panel) {
  const list = make(panel, "p", null, "swatches");
  for (const [classes, what, there] of [
    ["box", "op", true],
    ["box group", "+ a module, or all ops of a node: press to open", true],
    ["box input", "input", true],
    ["heat", "by time: the darker, the longer", longest],
    ["box bad", "named by an error", wrong.size],
    ["box chosen", "selected", true],
    ["box found", "found by the search", true],
  ]) {
    if (!there) continue;
    const item = make(list, "span");
    const svg = shape(item, "svg", { width: 18, height: 12, "aria-hidden": true });
    shape(svg, "rect", { x: 2, y: 2, width: 14, height: 8, rx: 2, class: classes });
    item.append(what);
  }
}

function row(table, name, value) {
  const line = make(table, "tr");
  make(line, "td", name);
  make(line, "td", value);
}

function profileTable(panel) {
  const rows = [...report.times.profile].sort((one, other) => other.milliseconds - one.milliseconds).slice(0, 12);
  const [unit, times] = unitOf(longest);
  make(panel, "h3", `Slowest nodes, in ${unit}`);
  const table = make(panel, "table");
  for (const each of rows) {
    const line = make(table, "tr");
    const number = numberOf(each);
    const cell = make(line, "td");
    if (number === undefined) cell.textContent = each.node;
    else link(cell, each.node, () => choose([number], null));
    make(line, "td", short(each.milliseconds * times), "number");
    const parts = number === undefined ? "" : partsText(number);
    make(line, "td", ran(each) + (parts && `, with ${parts}`));
  }
}

function numberOf(time) {
  return places.get(time.node + "\n" + time.place) ?? byPlace.get(time.place);
}

function chooseTimed(time) {
  const number = numberOf(time);
  if (number !== undefined) choose([number], null);
}

function plannedMemory(panel) {
  // The plan is the same at every level after it; the last of a function that has it is drawn.
  const planned = report.levels.flatMap((level) => level.functions.filter((each) => each.buffers.length));
  const names = [...new Set(planned.map((each) => each.name))].sort((one, other) => Number(other === "main") - Number(one === "main"));
  for (const name of names) {
    const last = planned.filter((each) => each.name === name).pop();
    memoryPicture(panel, last, (buffer) => choose(last.ops[buffer.first].sources, null));
  }
}

function link(parent, label, act) {
  const made = make(parent, "button", label, "link");
  made.addEventListener("click", act);
  return made;
}

function worst(sources) {
  // The class of what becomes of some nodes: the worst of it.
  const found = [...sources].map((each) => verdicts.get(each)).filter(Boolean).map((each) => WORST.indexOf(each.verdict));
  return found.length ? [["supported", "limited", "unsupported"][Math.max(...found)]] : [];
}

function coverageTable(panel) {
  make(panel, "h3", "What of it can be read and lowered");
  const table = make(panel, "table");
  for (const verdict of WORST) {
    const some = report.coverage.filter((each) => each.verdict === verdict);
    if (!some.length) continue;
    const line = make(table, "tr");
    const name = make(line, "td", null, `verdict ${["supported", "limited", "unsupported"][WORST.indexOf(verdict)]}`);
    name.textContent = verdict;
    make(line, "td", `${some.length} of ${report.coverage.length} nodes`);
  }
  const list = make(panel, "ul");
  for (const each of report.coverage.filter((each) => each.verdict === "unsupported")) {
    const item = make(list, "li");
    link(item, originText(each.source), () => choose([each.source], null));
    item.append(`: ${each.notes.join("; ")}`);
  }
}

function errorList(panel, errors, pass) {
  for (const error of errors) {
    const said = make(panel, "p", [error.place, error.message, error.node && `node ${error.node}`, error.hint].filter(Boolean).join("\n"), "bad-text");
    const sources = concerned(error);
    if (sources.length && !state.sources.length) link(make(said, "span", "\n"), `→ the op: ${originText(sources[0])}`, () => choose(sources, null));
    if (pass !== undefined && state.pass !== pass) link(make(said, "span", "\n"), `→ the pass: ${report.passes[pass].name}`, () => choosePass(pass));
  }
}

function opDetails(panel) {
  make(panel, "h2", originText(state.sources[0]));
  const table = make(panel, "table");
  for (const number of state.sources) {
    const origin = report.origins[number];
    if (origin.place) row(table, "made from", (origin.node ? `${origin.node}, ` : "") + origin.place);
  }
  for (const number of state.sources) {
    const verdict = verdicts.get(number);
    if (verdict) row(table, "verdict", [verdict.verdict, verdict.op && `becomes ${verdict.op}`, ...verdict.notes].filter(Boolean).join("; "));
  }
  // A node has one time, which is also that of what became part of it.
  const first = state.sources[0], time = timeOf.get(first), parts = partsText(first), whole = wholeOf.get(first);
  if (parts) row(table, "with", parts);
  if (time) {
    const said = (each) => `${duration(each.milliseconds)} in ${ran(each)}${each.within ? `, in ${each.within}` : ""}`;
    row(table, "time", time.rows.length > 1 ? duration(time.milliseconds) : said(time.rows[0]));
    if (time.rows.length > 1) for (const each of time.rows) row(table, "of it", said(each));
    const limits = time.rows.map((each) => each.limit_milliseconds);
    if (!limits.includes(null)) row(table, "limit", `${duration(limits.reduce((sum, each) => sum + each, 0))}, by ${[...new Set(time.rows.map((each) => each.bound))].join(" and ")}`);
  } else if (timeOf.has(whole)) row(table, "time", `in that of ${originText(whole)}`);
  errorList(panel, report.errors.filter((error) => concerned(error).some((each) => state.sources.includes(each))), failed);
  for (const level of report.levels) levelDetails(panel, level);
  const told = report.passes.flatMap((pass, number) => passLines(pass).map((line) => ({ number, pass, line })));
  if (told.length) make(panel, "h3", "What passes did to it");
  const list = told.length ? make(panel, "ul") : null;
  for (const { number, pass, line } of told) {
    const item = make(list, "li");
    link(item, pass.name, () => choosePass(number));
    item.append(`: ${line}`);
  }
}

const concerns = (each) => each.sources.some((number) => state.sources.includes(number));

function passLines(pass) {
  const lines = [];
  for (const rewrite of pass.rewrites) for (const op of rewrite.ops) if (concerns(op)) lines.push(`${op.name} by ${rewrite.pattern}` + (op.count > 1 ? ` ×${op.count}` : ""));
  for (const each of pass.fused) if (concerns(each)) lines.push(`${each.op} became part of ${each.into} at ${each.into_sources.map(originText)}`);
  for (const each of pass.declined) if (concerns(each)) for (const why of each.reasons) lines.push(`${each.name} was left by ${why.pattern}: ${why.reason}`);
  return lines;
}

function levelDetails(panel, level) {
  const found = [];
  for (const each of level.functions) {
    for (const op of each.ops) if (concerns(op)) found.push([each, op]);
  }
  if (!found.length) return;
  // What a network runs comes before what prepares its weights, what computes before the rest.
  const weight = ([each, op]) => 4 * (each.name === "main") + 2 * /conv|matmul|pool|generic|kernel|winograd/.test(op.name) + /^(gawee|linalg|func\.call)/.test(op.name);
  found.sort((one, other) => weight(other) - weight(one));
  make(panel, "h3", `${level.name}: ${counted(found.length, "op")}`);
  found.forEach(([each, op], index) => {
    const lines = each.text.split("\n").slice(op.lines[0], op.lines[1] + 1);
    listing(panel, lines, `${op.name} in @${each.name}`, index < 3 && lines.length < 30);
    if (op.nest.length) nestPicture(panel, op.nest);
  });
  const called = reached(level, found.flatMap(([, op]) => op.calls));
  for (const each of called) {
    const lines = each.text.split("\n");
    const what = each.text.startsWith("define ") ? " of LLVM IR" : "";
    listing(panel, lines, `@${each.name}, ${counted(lines.length, "line")}${what}`, false);
  }
  const compiled = called.filter((each) => level.level === "llvm" && assembly.has(each.name));
  if (compiled.length) make(panel, "h3", "assembly: what the processor runs");
  for (const { name } of compiled) {
    const { lines, cut } = assembly.get(name);
    const total = `${lines.length + cut} lines`;
    listing(panel, cut ? [...lines, `… ${cut} more lines`] : lines, `@${name}, ${total}`, false);
  }
}

function passDetails(panel, number) {
  const pass = report.passes[number], check = report.checks && report.checks[number + 1];
  make(panel, "h2", pass.name);
  const stepped = steps.findIndex((each) => each.pass === number);
  if (stepped >= 0) link(panel, "the graph before and after it", () => showStep(stepped));
  errorList(panel, pass.errors);
  if (number === report.passes.length - 1 && !pass.errors.length) errorList(panel, report.errors);
  const table = make(panel, "table");
  row(table, "as", pass.spec);
  if (pass.within.length) row(table, "part of", pass.within.join(", "));
  row(table, "it", `${pass.status}, in ${duration(1000 * report.times.passes[number])}`);
  for (const [name, value] of Object.entries(pass.statistics)) row(table, name, value.toLocaleString("en"));
  if (check) row(table, "check", checkText(check));
  if (proofs.has(number)) row(table, "proof", proofText(proofs.get(number)));
  const groups = [
    ["Patterns that fired", pass.rewrites.map((each) => [`${each.pattern} ×${each.count}`, each.place, each.ops.map((op) => [`${op.name} at ${op.sources.map(originText)}` + (op.count > 1 ? ` ×${op.count}` : ""), op.sources])])],
    ["What became part of what", pass.fused.map((each) => [`${each.op} at ${each.sources.map(originText)} into ${each.into} at ${each.into_sources.map(originText)}, by ${each.pattern}`, null, []])],
    ["What was left, and why", pass.declined.map((each) => [`${each.name} at ${each.sources.map(originText)}`, null, each.reasons.map((why) => [`${why.pattern}: ${why.reason}`, each.sources])])],
  ];
  for (const [title, items] of groups) {
    if (!items.length) continue;
    make(panel, "h3", title);
    for (const [name, place, parts] of items) {
      const holder = make(panel, "details"), summary = make(holder, "summary", name);
      if (place) make(summary, "small", place);
      const list = make(holder, "ul");
      for (const [line, sources] of parts) link(make(list, "li"), line, () => choose(sources, null));
    }
  }
  for (const diff of pass.diff) {
    make(panel, "h3", diff.function);
    const pre = make(panel, "pre");
    for (const line of diff.lines) make(pre, "span", line || " ", { "+": "added", "-": "removed", "@": "hunk" }[line[0]]);
    if (diff.cut === null) make(pre, "span", "changed; of private functions as large as these there is no diff", "hunk");
    if (diff.cut) make(pre, "span", `… ${diff.cut} more lines`, "hunk");
  }
}

function proofText(proof) {
  const unchecked = proof.checked ? "" : "could not be checked by data either";
  return [proof.verdict, proof.note, unchecked].filter(Boolean).join("; ");
}

function checkText(check) {
  if (check.note === "unchanged") return "not run: unchanged";
  if (!check.engine) return check.note || "not run";
  const ulp = check.ulp === null ? "a NaN or an infinity" : `${check.ulp} ulp`;
  const number = (value) => (value === null ? "infinite" : value.toPrecision(3));
  return `largest difference ${number(check.absolute)} (${number(check.relative)} relative, ${ulp}), ${check.numerics}, ran in ${check.engine}` + (check.note ? `; ${check.note}` : "");
}

// ---- the list of passes -------------------------------------------------------------------

function paintPasses() {
  const panel = $("passes");
  if (!panel.firstChild) {
    make(panel, "h2", counted(report.passes.length, "pass", "passes"));
    const list = make(panel, "ol");
    report.passes.forEach((pass, number) => {
      const last = number === report.passes.length - 1 && report.errors.length;
      const button = make(make(list, "li"), "button", pass.name, pass.status);
      if (last) button.classList.add("failed");
      const rewrites = pass.rewrites.reduce((sum, each) => sum + each.count, 0);
      const check = report.checks && report.checks[number + 1];
      const parts = [last ? "failed" : pass.status];
      if (rewrites) parts.push(counted(rewrites, "rewrite"));
      if (pass.declined.length) parts.push(`${counted(pass.declined.length, "op")} left`);
      if (check && check.engine) parts.push(check.note.endsWith("is wrong") ? "wrong" : "checked");
      if (proofs.has(number) && proofs.get(number).verdict !== "unchanged") parts.push(proofs.get(number).verdict);
      button.append(document.createElement("br"));
      make(button, "small", parts.join(", "));
      button.addEventListener("click", () => choosePass(number));
    });
  }
  panel.querySelectorAll("button").forEach((button, number) => button.classList.toggle("chosen", number === state.pass));
}

// ---- search, keys, link -------------------------------------------------------------------

let hits = [], hit = -1;

function search(query) {
  state.query = query.trim().toLowerCase();
  hits = [];
  hit = -1;
  const graph = graphs[0];
  if (state.query) hits = leaves(views[graph.level].root).filter((each) => graph.matches(each));
  $("found").textContent = state.query ? `${hits.length} found` : "";
  for (const each of graphs) each.paint();
}

function step(by) {
  const graph = graphs[0];
  const list = state.query ? hits : leaves(views[graph.level].root).filter((each) => boxes[each].op !== undefined || boxes[each].o);
  if (!list.length) return;
  const at = state.query ? hit : list.indexOf(state.cursor && state.cursor.number);
  hit = (at + by + list.length) % list.length;
  const number = list[hit];
  state.cursor = { graph, number };
  choose(ownSources(graph.level, boxes[number]), null);
  graph.reveal((each) => each === number);
}

const KEYS = [
  ["/", "search; Enter goes to the next op that is found", () => { $("search").focus(); $("search").select(); }],
  ["j", "next op", () => step(1)],
  ["k", "op before", () => step(-1)],
  ["ArrowRight", "the graph before and after the next pass that changed it", () => stepGraph(1)],
  ["ArrowLeft", "the same of the pass before", () => stepGraph(-1)],
  ["n", "next pass", () => stepPass(1)],
  ["p", "pass before", () => stepPass(-1)],
  ["[", "level before", () => stepLevel(-1)],
  ["]", "next level", () => stepLevel(1)],
  ["o", "open all modules", () => graphs.forEach((each) => each.fold(true))],
  ["c", "close all modules", () => graphs.forEach((each) => each.fold(false))],
  ["x", "text of both graphs, with ops linked, or the graphs", () => { const isText = !graphs[0].isText; for (const each of graphs) each.toggleText(isText); }],
  ["f", "fit the graphs to their panes", () => graphs.forEach((each) => each.fit())],
  ["+", "larger", () => graphs.forEach((each) => each.scale(each.zoom * 1.25))],
  ["-", "smaller", () => graphs.forEach((each) => each.scale(each.zoom / 1.25))],
  ["0", "actual size", () => graphs.forEach((each) => each.scale(1))],
  ["t", "colours: kind of box, time, or coverage", () => { $("colour").selectedIndex = ($("colour").selectedIndex + 1) % $("colour").options.length; colour(); }],
  ["?", "these keys", () => $("keys").showModal()],
  ["Escape", "no selection", () => choose([], graphs[0])],
];

function stepPass(by) {
  if (report.passes.length) choosePass(((state.pass ?? (by > 0 ? -1 : 0)) + by + report.passes.length) % report.passes.length);
}

function stepGraph(by) {
  // To the next pass that changed the graph: as it was before on the left, and as it is after.
  if (!steps.length) return;
  const at = steps.findIndex((each) => each.pass >= (state.pass ?? -1));
  const now = at >= 0 && steps[at].pass === state.pass;
  const next = now ? at + by : by > 0 ? Math.max(at, 0) : (at < 0 ? steps.length : at) - 1;
  showStep(Math.min(steps.length - 1, Math.max(0, next)));
}

function showStep(number) {
  const after = report.levels.length + number, before = number ? after - 1 : 0;
  const [left, right] = graphs;
  const old = contents(before);
  left.isBefore = !narrow.matches;
  right.isBefore = false;
  if (narrow.matches) left.show(String(after), old);
  else {
    left.show(String(before), contents(after));
    right.show(String(after), old);
  }
  arrange();
  choosePass(steps[number].pass, true);
}

function stepLevel(by) {
  const graph = graphs[0];
  graph.show(String((Math.min(graph.level, report.levels.length - 1) + by + report.levels.length) % report.levels.length));
  keep();
}

function colour() {
  state.colour = $("colour").value;
  for (const graph of graphs) graph.paint();
}

function keep() {
  const parts = new URLSearchParams();
  if (state.pass !== null) parts.set("pass", state.pass);
  if (state.sources.length) parts.set("op", state.sources.join("."));
  parts.set("a", views[graphs[0].level].name);
  if (graphs[1].level !== null) parts.set("b", views[graphs[1].level].name);
  // A page inside of a notebook has no address.
  if (location.protocol !== "about:") history.replaceState(null, "", "#" + parts);
}

function restore() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const level = (name) => views.findIndex((each) => each.name === name);
  if (level(parts.get("a")) >= 0) graphs[0].show(String(level(parts.get("a"))));
  if (parts.has("a")) graphs[1].show(level(parts.get("b")) >= 0 ? String(level(parts.get("b"))) : "");
  arrange();
  const sources = (parts.get("op") || "").split(".").filter(Boolean).map(Number).filter((each) => each in report.origins);
  const pass = parts.get("pass");
  if (sources.length) choose(sources, null);
  else if (pass !== null && Number(pass) in report.passes) choosePass(Number(pass));
  else { paintPasses(); details(); }
}

function arrange() {
  const { classList } = document.querySelector("main");
  classList.toggle("single", graphs[1].level === null);
  classList.toggle("bare", !report.passes.length);
  for (const graph of graphs) graph.paint();
}

const TABS = [["passes", "Passes"], ["graph-a", "Graph"], ["details", "Details"]];
function tab(id) {
  for (const [each] of TABS) $(each).classList.toggle("shown", each === id);
  $("tabs").querySelectorAll("button").forEach((button) => button.setAttribute("aria-selected", String(button.dataset.tab === id)));
  if (id === "graph-a") graphs[0].paint();
}

for (const [id, label] of TABS) {
  const button = make($("tabs"), "button", label);
  button.dataset.tab = id;
  button.addEventListener("click", () => tab(id));
}
for (const [value, label] of [["kind", "by kind"], ...(longest ? [["time", "by time"]] : []), ...(report.coverage ? [["coverage", "by coverage"]] : [])]) make($("colour"), "option", label).value = value;
const keysTable = make($("keys"), "table");
for (const [key, what] of KEYS) {
  const line = make(keysTable, "tr");
  make(make(line, "td"), "kbd", { ArrowRight: "→", ArrowLeft: "←" }[key] || key);
  make(line, "td", what);
}
const close = make(make($("keys"), "form"), "button", "close");
close.addEventListener("click", (event) => { event.preventDefault(); $("keys").close(); });

// A line between two panes is dragged, or moved by arrow keys, and its pane gets the width.
for (const [id, name, side] of [["grip-passes", "--passes", 1], ["grip-details", "--details", -1], ["grip-graphs", "--a", 1]]) {
  const grip = $(id), main = document.querySelector("main");
  const pane = $({ "grip-passes": "passes", "grip-details": "details", "grip-graphs": "graph-a" }[id]);
  const move = (width) => {
    if (name === "--a") {
      const both = pane.getBoundingClientRect().width + $("graph-b").getBoundingClientRect().width;
      const share = Math.min(0.9, Math.max(0.1, width / both));
      main.style.setProperty("--a", `${share}fr`);
      main.style.setProperty("--b", `${1 - share}fr`);
    } else main.style.setProperty(name, `${Math.min(innerWidth / 2, Math.max(80, width))}px`);
    for (const graph of graphs) graph.paint();
  };
  grip.addEventListener("pointerdown", (event) => {
    grip.setPointerCapture(event.pointerId);
    const from = event.clientX, width = pane.getBoundingClientRect().width;
    grip.onpointermove = (moved) => move(width + side * (moved.clientX - from));
  });
  grip.addEventListener("pointerup", () => { grip.onpointermove = null; });
  grip.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    move(pane.getBoundingClientRect().width + side * by);
  });
}

const graphs = [new Graph($("graph-a"), "0"), new Graph($("graph-b"), "")];
$("search").addEventListener("input", (event) => search(event.target.value));
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") { event.target.value = ""; search(""); event.target.blur(); }
  event.stopPropagation();
});
$("colour").addEventListener("change", colour);
$("help").addEventListener("click", () => $("keys").showModal());
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open || event.target.tagName === "SELECT") return;
  const found = KEYS.find(([key]) => key === event.key);
  if (!found) return;
  event.preventDefault();
  found[2]();
});
addEventListener("resize", () => graphs.forEach((each) => each.paint()));
addEventListener("hashchange", restore);
addEventListener("beforeprint", () => graphs.forEach((each) => each.paint(true)));
addEventListener("afterprint", () => graphs.forEach((each) => each.paint()));
tab(report.errors.length ? "details" : "graph-a");
state.colour = longest ? "time" : report.coverage ? "coverage" : "kind";
$("colour").value = state.colour;
if (innerWidth > 1100 && report.levels.length > 1 && !location.hash) {
  const tensors = report.levels.map((each) => ["gawee", "linalg", "kernels"].includes(each.level));
  graphs[1].show(String(tensors.lastIndexOf(true) > 0 ? tensors.lastIndexOf(true) : report.levels.length - 1));
}
restore();
