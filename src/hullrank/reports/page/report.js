"use strict";
(() => {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const main = document.querySelector("main");
  const SVG = "http://www.w3.org/2000/svg";
  const RAMP = [[122, 76, 176], [52, 106, 161], [41, 150, 138], [92, 184, 92], [190, 170, 40]];

  // Everything is written as text or attributes; nothing from the data is ever parsed as HTML.
  function put(parent, tag, attributes = {}, text = null) {
    const svg = parent instanceof SVGElement || tag === "svg";
    const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== null) node.textContent = text;
    parent.append(node);
    return node;
  }

  function section(title, id) {
    const node = put(main, "section", { "aria-labelledby": id + "-title", id });
    put(node, "h2", { id: id + "-title" }, title);
    return node;
  }

  function mix(code, n) {
    const place = n > 1 ? (code / (n - 1)) * (RAMP.length - 1) : 1;
    const low = Math.min(Math.floor(place), RAMP.length - 2);
    return RAMP[low].map((v, i) => Math.round(v + (place - low) * (RAMP[low + 1][i] - v)));
  }

  const colour = (code, n) => `rgb(${mix(code, n).join(",")})`;
  const inkOn = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 125 ? "#111" : "#fff");

  const short = (text, most = 14) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  const digits = (value) => (value === null || value === undefined ? "∞" : Number(value).toPrecision(4));
  const jitter = (i) => (((i * 2654435761) >>> 0) / 2 ** 32 - 0.5) * 0.5;

  // At most so many multiples of 1, 2 or 5 times a power of ten.
  function roundNumbers(from, to, most) {
    const power = 10 ** Math.floor(Math.log10((to - from) / most));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => Math.floor(to / s) - Math.ceil(from / s) < most);
    const values = [];
    for (let k = Math.ceil(from / step); k <= to / step; k++) values.push(Number((k * step).toPrecision(6)));
    return values;
  }

  // What a row holds beside its grade and score, where the report was given a table.
  function cellsOf(i) {
    const { columns, cells } = facts.shown;
    return columns.length ? "; " + columns.map((name, j) => `${name} ${cells[i][j]}`).join(", ") : "";
  }

  // A line that says what the marks of a picture mean; each entry has a mark and words.
  function legend(parent, entries) {
    const list = put(parent, "ul", { class: "legend note" });
    for (const [mark, words] of entries) {
      const item = put(list, "li");
      put(item, "span", { class: `mark ${mark}`, "aria-hidden": "true" });
      put(item, "span", {}, words);
    }
  }

  function table(parent, head, rows, words = 1) {
    const grid = put(put(parent, "div", { class: "scroll", tabindex: "0" }), "table");
    const top = put(put(grid, "thead"), "tr");
    head.forEach((name, i) => put(top, "th", { scope: "col", class: i < words ? "word" : "" }, name));
    const body = put(grid, "tbody");
    for (const row of rows) {
      const line = put(body, "tr");
      row.forEach((value, i) => put(line, "td", { class: i < words ? "word" : "" }, value));
    }
    return grid;
  }

  // ------------------------------------------------------------------ score line
  const state = { thresholds: facts.thresholds && [...facts.thresholds], shown: facts.grades.map(() => true) };

  function scoreLine() {
    const { points, grades, intervals } = facts;
    const n = grades.length;
    const { thresholds, shown } = state;
    const node = section("Score line", "line");
    put(node, "p", { class: "note" }, thresholds === null
      ? "Every dot is a row at its score. Point at one, or focus the picture and use the arrow keys."
      : "Every dot is a row at its score; dashed lines are thresholds. Point at a dot, or focus the picture and use the " +
        "arrow keys; drag a threshold, or focus it and use the arrow keys, to see the confusion matrix change.");
    if (points.row.length < facts.rows) {
      put(node, "p", { class: "note" }, `A random choice of ${points.row.length} of ${facts.rows} rows is shown and counted.`);
    }
    const chips = put(node, "fieldset", { class: "chips" });
    put(chips, "legend", { class: "note" }, "Show");
    grades.forEach((grade, c) => {
      const label = put(chips, "label");
      const box = put(label, "input", { type: "checkbox" });
      box.checked = shown[c];
      put(label, "span", { class: "swatch", style: `background:${colour(c, n)}` });
      put(label, "span", {}, grade);
      box.addEventListener("change", () => { shown[c] = box.checked; draw(); });
    });

    const W = Math.min(Math.max(node.clientWidth - 24, 300), 960), ROW = 46, LEFT = W < 500 ? 74 : 120, RIGHT = 14;
    const TOP = 26, H = TOP + ROW * n + 40, TICKS = W < 500 ? 4 : 7;
    const known = [...points.score, ...(thresholds ?? [])];
    const low = Math.min(...known), high = Math.max(...known), room = (high - low || 1) * 0.05;
    const from = low - room, to = high + room;
    const x = (score) => LEFT + ((score - from) / (to - from)) * (W - LEFT - RIGHT);
    const score = (px) => from + ((px - LEFT) / (W - LEFT - RIGHT)) * (to - from);
    const y = (c) => TOP + ROW * (n - 1 - c + 0.5);
    const svg = put(node, "svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", tabindex: "0", role: "application",
      "aria-label": "Score line: arrow keys walk through the rows from low to high scores" });
    grades.forEach((grade, c) => {
      const name = put(svg, "text", { x: LEFT - 10, y: y(c) + 4, "text-anchor": "end" }, short(grade, W < 500 ? 10 : 14));
      put(name, "title", {}, grade);
      put(svg, "line", { class: "axis", x1: LEFT, x2: W - RIGHT, y1: y(c) + ROW / 2, y2: y(c) + ROW / 2 });
      if (intervals !== null) {
        const [a, b] = intervals[c];
        const l = x(a === null ? from : Math.max(a, from)), r = x(b === null ? to : Math.min(b, to));
        if (r > l) put(svg, "rect", { class: "bar", x: l, width: r - l, y: y(c) - 16, height: 32, fill: colour(c, n) });
        for (const end of [a, b]) {
          if (end !== null && end > from && end < to) {
            put(svg, "rect", { x: x(end) - 1, width: 2, y: y(c) - 16, height: 32, fill: colour(c, n) });
          }
        }
      }
    });
    for (const value of roundNumbers(from, to, TICKS)) {
      put(svg, "text", { x: x(value), y: H - 20, "text-anchor": "middle", class: "soft" }, String(value));
    }
    put(svg, "text", { x: (W + LEFT) / 2, y: H - 5, "text-anchor": "middle", class: "soft" }, "score (higher = ranked higher)");

    const dots = points.score.map((s, i) => put(svg, "circle", { class: "point", r: 4, cx: x(s),
      cy: y(points.grade[i]) + jitter(i) * ROW, fill: colour(points.grade[i], n) }));
    legend(node, [
      ...(intervals === null ? [] : [["bar-mark", "shaded: the interval of a grade, whose rows pay nothing inside; a stroke is its end"]]),
      ...(thresholds === null ? [] : [["line-mark", "dashed: threshold between two grades"],
        ["ring-mark", "red ring: placed as another grade than its own"]]),
    ]);
    const detail = put(node, "p", { class: "detail", "aria-live": "polite", id: "detail" }, "");
    const guess = (s) => (thresholds === null ? null : thresholds.filter((t) => t < s).length);
    let chosen = -1;
    function choose(i) {
      if (chosen >= 0) dots[chosen].classList.remove("chosen");
      chosen = i;
      if (i < 0) return;
      dots[i].classList.add("chosen");
      dots[i].parentNode.insertBefore(dots[i], handlesStart);
      const g = guess(points.score[i]);
      detail.textContent = `Row ${points.row[i]}: grade “${grades[points.grade[i]]}”, score ${digits(points.score[i])}` +
        (g === null ? "" : `, placed as “${grades[g]}”`) + cellsOf(i);
    }

    const handlesStart = put(svg, "g");
    const order = points.score.map((_, i) => i).sort((a, b) => points.score[a] - points.score[b]);
    svg.addEventListener("pointermove", (event) => {
      if (event.target.classList.contains("point")) choose(dots.indexOf(event.target));
    });
    svg.addEventListener("keydown", (event) => {
      if (event.target !== svg || !["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
      const visible = order.filter((i) => shown[points.grade[i]]);
      if (!visible.length) return;
      const at = visible.indexOf(chosen);
      const next = { ArrowLeft: Math.max(at - 1, 0), ArrowRight: Math.min(at + 1, visible.length - 1),
        Home: 0, End: visible.length - 1 }[event.key];
      choose(visible[next]);
      event.preventDefault();
    });

    const matrix = thresholds === null ? null : confusion(node);
    const handles = (thresholds ?? []).map((_, j) => {
      const handle = put(svg, "g", { class: "threshold", tabindex: "0", role: "slider",
        "aria-label": `Threshold between ${grades[j]} and ${grades[j + 1]}`, "aria-orientation": "horizontal" });
      put(handle, "rect", { x: -9, width: 18, y: 0, height: H - 36 });
      put(handle, "line", { y1: 12, y2: H - 36 });
      put(handle, "circle", { cy: 12, r: 8 });
      const move = (value) => {
        const lowest = j > 0 ? thresholds[j - 1] : from, highest = j < thresholds.length - 1 ? thresholds[j + 1] : to;
        thresholds[j] = Math.min(Math.max(value, lowest), highest);
        draw();
      };
      const place = (event) => {
        const box = svg.getBoundingClientRect();
        move(score(((event.clientX - box.left) / box.width) * W));
      };
      handle.addEventListener("pointerdown", (event) => { handle.setPointerCapture(event.pointerId); event.preventDefault(); handle.focus(); });
      handle.addEventListener("pointermove", (event) => { if (handle.hasPointerCapture(event.pointerId)) place(event); });
      handle.addEventListener("keydown", (event) => {
        const step = (to - from) / (event.shiftKey ? 20 : 200);
        const by = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step }[event.key];
        if (by === undefined) return;
        move(thresholds[j] + by);
        event.preventDefault();
        event.stopPropagation();
      });
      return handle;
    });
    if (thresholds !== null) {
      const reset = put(node, "button", { type: "button" }, "Reset thresholds");
      reset.addEventListener("click", () => { facts.thresholds.forEach((t, j) => { thresholds[j] = t; }); draw(); });
      const save = put(node, "button", { type: "button", id: "save" }, "Save thresholds");
      save.addEventListener("click", () => {
        const text = JSON.stringify({ hullrank: "thresholds", grades, thresholds }, null, 2);
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
        link.download = "thresholds.json";
        link.click();
        URL.revokeObjectURL(link.href);
      });
      put(node, "p", { class: "note" }, "The file is for: hullrank rank model.hull new.csv --thresholds thresholds.json");
    }

    function draw() {
      handles.forEach((handle, j) => {
        handle.setAttribute("transform", `translate(${x(thresholds[j])} 0)`);
        handle.setAttribute("aria-valuenow", thresholds[j].toPrecision(4));
        handle.setAttribute("aria-valuemin", from.toPrecision(4));
        handle.setAttribute("aria-valuemax", to.toPrecision(4));
      });
      dots.forEach((dot, i) => {
        dot.style.display = shown[points.grade[i]] ? "" : "none";
        const g = guess(points.score[i]);
        dot.classList.toggle("wrong", g !== null && g !== points.grade[i]);
      });
      if (matrix !== null) matrix(points, guess, shown);
    }
    draw();
    return node;
  }

  function confusion(parent) {
    const { grades } = facts;
    const box = put(parent, "div");
    put(box, "h2", {}, "Confusion matrix");
    const summary = put(box, "p", { id: "summary", "aria-live": "polite" }, "");
    const grid = put(put(box, "div", { class: "scroll", tabindex: "0" }), "table", { id: "confusion" });
    put(grid, "caption", { class: "note" }, "rows: true grade, columns: grade by the thresholds");
    const head = put(put(grid, "thead"), "tr");
    put(head, "td");
    grades.forEach((grade) => put(head, "th", { scope: "col" }, short(grade)));
    const body = put(grid, "tbody");
    const cells = grades.map((grade) => {
      const line = put(body, "tr");
      put(line, "th", { scope: "row" }, short(grade));
      return grades.map(() => put(line, "td"));
    });
    return (points, guess, shown) => {
      const counts = grades.map(() => grades.map(() => 0));
      let total = 0, right = 0, off = 0;
      points.score.forEach((s, i) => {
        const c = points.grade[i], g = guess(s), w = points.weight[i];
        if (!shown[c]) return;
        counts[c][g] += w; total += w; off += w * Math.abs(c - g); right += c === g ? w : 0;
      });
      counts.forEach((row, c) => {
        const sum = row.reduce((a, b) => a + b, 0) || 1;
        row.forEach((count, g) => {
          cells[c][g].textContent = Number(count.toPrecision(6));
          cells[c][g].className = c === g ? "hit" : "miss";
          cells[c][g].style.setProperty("--share", Math.round((70 * count) / sum));
        });
      });
      summary.textContent = total
        ? `Accuracy ${((100 * right) / total).toFixed(1)} %, mean rank error ${(off / total).toFixed(3)}`
        : "No grade is shown.";
    };
  }

  // ------------------------------------------------------------------ order graph
  function orderGraph() {
    const node = section("Order and pair accuracy", "order");
    put(node, "p", { class: "note" }, "From lower (left) to higher (right); on every edge the share of pairs " +
      (facts.within_queries ? "within queries " : "") + "ranked right.");
    const n = facts.grades.length, X = 110, Y = 74;
    const spots = facts.places.map(([a, b]) => [a * X, -b * Y]);
    const curves = facts.edges.map(({ lo, hi }) => bend(spots[lo], spots[hi], lo, X * 1.7));
    const all = [...spots, ...curves.map((c) => c.middle)];
    const [x0, x1] = [Math.min(...all.map((p) => p[0])) - 75, Math.max(...all.map((p) => p[0])) + 75];
    const [y0, y1] = [Math.min(...all.map((p) => p[1])) - 34, Math.max(...all.map((p) => p[1])) + 34];
    const svg = put(put(node, "div", { class: "scroll", tabindex: "0" }), "svg", { viewBox: `${x0} ${y0} ${x1 - x0} ${y1 - y0}`,
      role: "img", "aria-label": facts.edges.map((e) => `${facts.grades[e.lo]} below ${facts.grades[e.hi]}: ` +
        (e.accuracy === null ? "no pairs" : e.accuracy.toFixed(3))).join("; "),
      style: `min-width:${Math.min(x1 - x0, 900)}px;max-width:${x1 - x0}px` });
    const marker = put(put(svg, "defs"), "marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7,
      markerHeight: 7, orient: "auto-start-reverse" });
    put(marker, "path", { d: "M0 0L10 5L0 10z", fill: "context-stroke" });
    facts.edges.forEach(({ accuracy }, e) => {
      put(svg, "path", { class: "edge", d: curves[e].path, "marker-end": "url(#arrow)",
        opacity: accuracy === null ? 0.4 : Math.min(Math.max(2 * accuracy - 1, 0.35), 1) });
    });
    facts.edges.forEach(({ accuracy }, e) => {
      if (accuracy !== null) put(svg, "text", { class: "halo", x: curves[e].middle[0], y: curves[e].middle[1] + 4,
        "text-anchor": "middle" }, accuracy.toFixed(3));
    });
    facts.grades.forEach((grade, c) => {
      const [a, b] = spots[c];
      put(svg, "rect", { x: a - 48, y: b - 15, width: 96, height: 30, rx: 8, fill: colour(c, n) });
      const name = put(svg, "text", { x: a, y: b + 4, "text-anchor": "middle", style: `fill:${inkOn(mix(c, n))}` }, short(grade));
      put(name, "title", {}, grade);
    });
  }

  function bend([ax, ay], [bx, by], lo, step) {
    const levels = (bx - ax) / step, away = Math.sign(ay + by) || (lo % 2 ? -1 : 1);
    const cx = (ax + bx) / 2, cy = (ay + by) / 2 + away * (levels - 1) * 60;
    const at = (t) => [(1 - t) ** 2 * ax + 2 * t * (1 - t) * cx + t * t * bx, (1 - t) ** 2 * ay + 2 * t * (1 - t) * cy + t * t * by];
    const free = [];
    for (let k = 0; k <= 60; k++) {
      const p = at(k / 60);
      const clear = (q) => Math.abs(p[0] - q[0]) > 52 || Math.abs(p[1] - q[1]) > 18;
      if (clear([ax, ay]) && clear([bx, by])) free.push(p);
    }
    return { middle: at(0.5), path: "M" + free.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L") };
  }

  // ------------------------------------------------------------------ pairs, weights, certificate
  function worstPairs() {
    const node = section("Most violated pairs", "pairs");
    if (!facts.pairs.length) { put(node, "p", {}, "Every pair is ranked right."); return; }
    const grade = facts.trend === null ? "grade" : "target";
    put(node, "p", { class: "note" }, `The row of the lower ${grade} scores above the row of the higher ${grade} ` +
      (facts.within_queries ? "(of the same query) " : "") + "by the excess.");
    const rows = facts.pairs.map(({ lower, higher, excess }) => [`${lower.row} (${lower.grade})`, `${higher.row} (${higher.grade})`,
      digits(lower.score), digits(higher.score), digits(excess)]);
    table(node, [`lower row (${grade})`, `higher row (${grade})`, "lower scores", "higher scores", "excess"], rows, 2);
  }

  // Points of a scoring system, and what every total of them meant in the training data.
  function card() {
    const { points, totals } = facts.card;
    const node = section("Scoring card", "card");
    put(node, "p", { class: "note" }, "Multiply every feature by its points and add up. The second table says how many rows " +
      "of the fit had that total, and how many of these were above the lowest grade.");
    table(node, ["feature", "points per unit"], points.map((each) => [each.feature, (each.points > 0 ? "+" : "−") + Math.abs(each.points)]));
    const rows = totals.map((each) => [each.total, each.samples.toLocaleString("en"), each.positive.toLocaleString("en"),
      (100 * each.share).toFixed(1) + "%", ""]);
    const grid = table(node, ["total", "rows", "above the lowest grade", "share", ""], rows);
    totals.forEach(({ share }, i) => {
      const cell = grid.tBodies[0].rows[i].cells[4];
      cell.className = "word";
      put(cell, "span", { class: "weight up", style: `width:${12 * share}rem` });
    });
  }

  function weights() {
    const { shown, total } = facts.weights;
    if (!shown.length || facts.card !== null) return;
    const node = section("Weights", "weights");
    if (shown.length < total) put(node, "p", { class: "note" }, `The largest ${shown.length} of ${total}.`);
    const most = Math.max(...shown.map((w) => Math.abs(w.weight))) || 1;
    const grid = table(node, ["feature", "weight", "lowers the score | raises it"], shown.map(({ name, weight }) => [name, digits(weight), ""]));
    shown.forEach(({ weight }, i) => bar(grid.tBodies[0].rows[i].cells[2], weight / most));
  }

  // A bar from the middle of its cell, to the left for negative shares.
  function bar(cell, share) {
    const width = 6 * Math.abs(share);
    cell.className = "word";
    put(cell, "span", { class: `weight ${share > 0 ? "up" : "down"}`,
      style: `width:${width}rem;margin-left:${share > 0 ? 6 : 6 - width}rem` });
  }

  function influences() {
    if (!facts.influences.length) return;
    const node = section("Influence", "influence");
    put(node, "p", { class: "note" }, "How far pair accuracy falls when the values of a feature are shuffled over the rows " +
      "(mean and deviation of 5 shuffles); near 0 the model does without it.");
    const most = Math.max(...facts.influences.map((each) => Math.abs(each.fall))) || 1;
    const rows = facts.influences.map(({ name, fall, deviation }) => [name, fall.toFixed(4), deviation.toFixed(4), ""]);
    const grid = table(node, ["feature", "fall", "deviation", ""], rows);
    facts.influences.forEach(({ fall }, i) => bar(grid.tBodies[0].rows[i].cells[3], fall / most));
  }

  // ------------------------------------------------------------------ targets that are numbers
  function trend() {
    const { target, rank, score } = facts.trend;
    const node = section("Predicted rank against target", "trend");
    put(node, "p", { class: "note" }, "Every dot is a row; rank 1, on top, has the highest score. A perfect ranking rises " +
      "from the lower left to the upper right. Point at a dot to see its row.");
    const W = Math.min(Math.max(node.clientWidth - 24, 300), 960), H = 380, LEFT = 64, RIGHT = 14, TOP = 10, BOTTOM = 44;
    const low = Math.min(...target), high = Math.max(...target), room = (high - low || 1) * 0.03;
    const x = (t) => LEFT + ((t - low + room) / (high - low + 2 * room)) * (W - LEFT - RIGHT);
    const y = (r) => TOP + ((r - 1) / Math.max(facts.rows - 1, 1)) * (H - TOP - BOTTOM);
    const svg = put(node, "svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", role: "img",
      "aria-label": "Predicted rank of every row against its target" });
    for (const value of roundNumbers(low, high + (high > low ? 0 : 1), W < 500 ? 4 : 7)) {
      put(svg, "text", { x: x(value), y: H - 24, "text-anchor": "middle", class: "soft" }, String(value));
    }
    for (const value of [1, ...roundNumbers(1, facts.rows, 5).filter((v) => v > facts.rows / 20), facts.rows]) {
      if (value !== facts.rows && value > facts.rows * 0.95) continue;
      put(svg, "text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end", class: "soft" }, value.toLocaleString("en"));
    }
    put(svg, "text", { x: (W + LEFT) / 2, y: H - 6, "text-anchor": "middle", class: "soft" }, "target");
    put(svg, "text", { x: 14, y: H / 2, "text-anchor": "middle", class: "soft", transform: `rotate(-90 14 ${H / 2})` }, "predicted rank");
    const dots = target.map((t, i) => put(svg, "circle", { class: "point", r: 4, cx: x(t), cy: y(rank[i]), fill: colour(1, 4) }));
    const detail = put(node, "p", { class: "detail", "aria-live": "polite", id: "trend-detail" }, "");
    svg.addEventListener("pointermove", (event) => {
      const i = dots.indexOf(event.target);
      if (i < 0) return;
      dots.forEach((dot, j) => dot.classList.toggle("chosen", j === i));
      detail.textContent = `Row ${facts.shown.row[i]}: target ${digits(target[i])}, rank ${rank[i]}, score ${digits(score[i])}` + cellsOf(i);
    });
  }

  function certificate() {
    const entries = Object.entries(facts.certificate);
    if (!entries.length) return;
    const node = section("Certificate", "certificate");
    const names = { primal: "objective", dual: "lower bound", n_order_constraints: "order constraints" };
    const written = (name, value) => {
      if (typeof value !== "number") return String(value);
      if (Number.isInteger(value)) return value.toLocaleString("en");
      return name.endsWith("gap") ? value.toExponential(1) : value.toPrecision(name === "seconds" ? 3 : 10);
    };
    table(node, ["quantity", "value"], entries.map(([name, value]) => [names[name] ?? name.replaceAll("_", " "), written(name, value)]));
  }

  if (facts.points !== null) {
    let node = scoreLine(), width = node.clientWidth;
    window.addEventListener("resize", () => {
      if (Math.abs(node.clientWidth - width) < 60) return;
      node.remove();
      node = scoreLine();
      main.prepend(node);
      width = node.clientWidth;
    });
  }
  if (facts.trend !== null) trend();
  if (facts.edges.length) orderGraph();
  if (facts.card !== null) card();
  worstPairs();
  weights();
  influences();
  certificate();
})();
