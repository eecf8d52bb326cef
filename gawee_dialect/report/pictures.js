// Pictures of a report beside its graphs: the nest of a kernel, the roofline, the plan of memory.

// ---- the schedule of a kernel ---------------------------------------------------------------

function nestPicture(panel, nest) {
  let holder = make(panel, "div", null, "nest");
  const tile = nest.filter((each) => each.kind === "tile");
  for (const loop of nest.filter((each) => each.kind === "loop" || each.kind === "parallel")) {
    const by = loop.step > 1 ? ` by ${loop.step}` : "";
    const words = [`${loop.kind === "parallel" ? "threads share" : "for"} d${loop.dimension}${by}: ${loop.iterations} ×`];
    if (loop.reduction) words.push("adds up");
    make(holder, "div", words.join(", "), loop.kind);
    holder = make(holder, "div", null, "inner");
  }
  const points = tile.reduce((product, each) => product * each.iterations, 1);
  if (tile.length) make(holder, "div", `at once ${tile.map((each) => `d${each.dimension}: ${each.iterations}`).join(" × ")}${tile.length > 1 ? ` = ${points} points` : ""}`, "tile");
  for (const each of nest.filter((each) => each.kind === "vector")) make(holder, "div", `vectors of ${each.iterations} along d${each.dimension}`, "vector");
}

// ---- time under the limits of the machine -----------------------------------------------------

const ROOF = { width: 380, height: 250, left: 44, right: 8, top: 18, bottom: 34 };

function rooflinePicture(panel, rows, limits, act) {
  const points = rows.filter((each) => each.flops && each.bytes && each.milliseconds).map((each) => ({ each, x: each.flops / each.bytes, y: each.flops / each.milliseconds / 1e6 }));
  if (!points.length) return;
  const peak = limits.flops_per_second / 1e9, total = rows.reduce((sum, each) => sum + each.milliseconds, 0);
  const span = (values) => [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  const xs = span([...points.map((each) => each.x), 1, 10]), ys = span([...points.map((each) => each.y), peak]);
  const across = (value) => ROOF.left + (ROOF.width - ROOF.left - ROOF.right) * (Math.log10(value) - xs[0]) / (xs[1] - xs[0]);
  const up = (value) => ROOF.height - ROOF.bottom - (ROOF.height - ROOF.top - ROOF.bottom) * (Math.log10(value) - ys[0]) / (ys[1] - ys[0]);
  make(panel, "h3", "Roofline: each node's rate under the limits of one core");
  const svg = picture(panel, ROOF.width, ROOF.height, "Roofline of all nodes");
  for (let power = xs[0]; power <= xs[1]; power++) {
    shape(svg, "path", { d: `M${across(10 ** power)} ${ROOF.top}V${ROOF.height - ROOF.bottom}`, class: "grid" });
    label(svg, across(10 ** power), ROOF.height - ROOF.bottom + 13, String(10 ** power), "middle");
  }
  for (let power = ys[0]; power <= ys[1]; power++) {
    shape(svg, "path", { d: `M${ROOF.left} ${up(10 ** power)}H${ROOF.width - ROOF.right}`, class: "grid" });
    label(svg, ROOF.left - 4, up(10 ** power) + 4, String(10 ** power), "end");
  }
  label(svg, ROOF.width / 2, ROOF.height - 4, "FLOP for each byte", "middle");
  label(svg, 2, 9, "GFLOP/s");
  limits.memories.forEach((memory, number) => {
    const rate = memory.bytes_per_second / 1e9;
    const from = Math.max(10 ** xs[0], 10 ** ys[0] / rate), ridge = Math.min(10 ** xs[1], peak / rate);
    if (from >= ridge) return;
    shape(svg, "path", { d: `M${across(from)} ${up(from * rate)}L${across(ridge)} ${up(Math.min(peak, ridge * rate))}H${across(10 ** xs[1])}`, class: `roof memory-${number}` });
  });
  for (const { each, x, y } of points) {
    const number = limits.memories.findIndex((memory) => memory.name === each.bound);
    const dot = shape(svg, "circle", { cx: across(x), cy: up(y), r: 3 + 14 * Math.sqrt(each.milliseconds / total), class: number < 0 ? "dot" : `dot memory-${number}` });
    shape(dot, "title", {}).textContent = `${each.node}: ${duration(each.milliseconds)}, ${y.toFixed(1)} GFLOP/s, limit set by ${each.bound}`;
    dot.addEventListener("click", () => act(each));
  }
  const legend = make(panel, "p", null, "legend");
  limits.memories.forEach((memory, number) => make(legend, "span", memory.name, `memory-${number}`));
  make(legend, "span", "compute", "memory-none");
  make(legend, "small", "the colour says what sets a node's limit, the area its share of the time");
}

// ---- the workspace over time --------------------------------------------------------------

const PLAN = { width: 380, height: 200, left: 4, right: 4, top: 4, bottom: 18 };

function memoryPicture(panel, holder, act) {
  const buffers = holder.buffers, size = Math.max(...buffers.map((each) => each.offset + each.bytes));
  const moments = [...new Set(buffers.flatMap((each) => [each.first, each.last]))].sort((one, other) => one - other);
  const at = new Map(moments.map((each, number) => [each, number]));
  const across = (number) => PLAN.left + (PLAN.width - PLAN.left - PLAN.right) * number / moments.length;
  const down = (bytes) => PLAN.height - PLAN.bottom - (PLAN.height - PLAN.top - PLAN.bottom) * bytes / size;
  const sum = buffers.reduce((total, each) => total + each.bytes, 0);
  make(panel, "h3", `Memory of @${holder.name}: ${bytesText(size)} for ${buffers.length} buffers of ${bytesText(sum)}`);
  const svg = picture(panel, PLAN.width, PLAN.height, "Buffers in the workspace over time");
  for (const each of buffers) {
    const from = across(at.get(each.first)), to = across(at.get(each.last) + 1), top = down(each.offset + each.bytes);
    const rect = shape(svg, "rect", { x: from, y: top, width: to - from, height: Math.max(1, down(each.offset) - top), class: "box" });
    shape(rect, "title", {}).textContent = `%${each.name || "(no name)"}: ${bytesText(each.bytes)} at ${each.offset}, written by op ${each.first}, last read by op ${each.last}`;
    rect.addEventListener("click", () => act(each));
  }
  label(svg, PLAN.left, PLAN.height - 5, "first op");
  label(svg, PLAN.width - PLAN.right, PLAN.height - 5, "last op", "end");
}
