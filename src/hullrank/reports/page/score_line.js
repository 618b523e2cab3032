// The score line: every row at its score, intervals and thresholds of the grades, and what follows from dragging them.

// `state` holds the thresholds as they stand and which grades are shown; it outlives a drawing at another width.
function scoreLine(parent, facts, state) {
  const { points, grades, intervals, thresholds: fitted } = facts;
  const node = section(parent, "Score line", "line");
  put(node, "p", { class: "note" }, fitted === null
    ? "Every dot is a row at its score. Point at one, or focus the picture and use the arrow keys."
    : "Every dot is a row at its score; dashed lines are thresholds. Point at a dot, or focus the picture and use the " +
      "arrow keys; drag a threshold, or focus it and use the arrow keys, to see the confusion matrix change.");
  if (points.row.length < facts.rows) {
    put(node, "p", { class: "note" },
      `A random choice of ${points.row.length.toLocaleString("en")} of ${facts.rows.toLocaleString("en")} rows is shown and counted.`);
  }
  gradeChips(node, grades, state.shown, draw);
  const frame = lineFrame(node, facts, state.thresholds);
  const svg = lineAxes(node, facts, frame);
  const dots = points.score.map((s, i) => put(svg, "circle", { class: "point", r: 4, cx: frame.x(s),
    cy: frame.y(points.grade[i]) + jitter(i) * frame.row, fill: colour(points.grade[i], grades.length) }));
  const marks = [
    ...(intervals === null ? [] : [["bar-mark", "shaded: the interval of a grade, whose rows pay nothing inside; a stroke is its end"]]),
    ...(fitted === null ? [] : [["line-mark", "dashed: threshold between two grades"],
      ["ring-mark", "red ring: placed as another grade than its own"]]),
  ];
  legend(node, marks);
  const guess = (s) => (fitted === null ? null : state.thresholds.filter((t) => t < s).length);
  walkRows(node, svg, facts, dots, { guess, shown: state.shown });
  pictureButton(node, svg, marks.map(([, words]) => words), "score-line.png");
  const matrix = fitted === null ? null : confusion(node, grades);
  const handles = (fitted ?? []).map((_, j) => thresholdHandle(svg, frame, grades, state.thresholds, j, draw));
  if (fitted !== null) thresholdButtons(node, facts, state.thresholds, draw);

  function draw() {
    handles.forEach((show) => show());
    dots.forEach((dot, i) => {
      dot.style.display = state.shown[points.grade[i]] ? "" : "none";
      const g = guess(points.score[i]);
      dot.classList.toggle("wrong", g !== null && g !== points.grade[i]);
    });
    if (matrix !== null) matrix(points, guess, state.shown);
  }
  draw();
  return node;
}

// Check boxes that show and hide the rows of a grade.
function gradeChips(node, grades, shown, draw) {
  const chips = put(node, "fieldset", { class: "chips" });
  put(chips, "legend", { class: "note" }, "Show");
  grades.forEach((grade, c) => {
    const label = put(chips, "label");
    const box = put(label, "input", { type: "checkbox" });
    box.checked = shown[c];
    put(label, "span", { class: "swatch", style: `background:${colour(c, grades.length)}` });
    put(label, "span", {}, grade);
    box.addEventListener("change", () => { shown[c] = box.checked; draw(); });
  });
}

// The sizes of the picture, and the way from scores and grades to its units and back.
function lineFrame(node, facts, thresholds) {
  const n = facts.grades.length, width = widthFor(node), narrow = width < 500;
  const row = 46, top = 26, left = narrow ? 90 : 120, right = 14, height = top + row * n + 40;
  const known = [...facts.points.score, ...(thresholds ?? [])];
  const low = Math.min(...known), high = Math.max(...known), room = (high - low || 1) * 0.05;
  const from = low - room, to = high + room, inner = width - left - right;
  return {
    width, height, row, left, right, narrow, from, to,
    x: (score) => left + ((score - from) / (to - from)) * inner,
    score: (px) => from + ((px - left) / inner) * (to - from),
    y: (c) => top + row * (n - 1 - c + 0.5),
  };
}

function lineAxes(node, facts, frame) {
  const { width: W, height: H, row: ROW, left: LEFT, right: RIGHT, from, to, x, y, narrow } = frame;
  const { grades, intervals } = facts, n = grades.length;
  const svg = put(node, "svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", tabindex: "0", role: "application",
    "aria-label": "Score line: arrow keys walk through the rows from low to high scores" });
  const names = shortNames(grades, narrow ? 10 : 14);
  grades.forEach((grade, c) => {
    const name = put(svg, "text", { x: LEFT - 10, y: y(c) + 4, "text-anchor": "end" }, names[c]);
    put(name, "title", {}, grade);
    put(svg, "line", { class: "axis", x1: LEFT, x2: W - RIGHT, y1: y(c) + ROW / 2, y2: y(c) + ROW / 2 });
    if (intervals === null) return;
    const [a, b] = intervals[c];
    const l = x(a === null ? from : Math.max(a, from)), r = x(b === null ? to : Math.min(b, to));
    if (r > l) put(svg, "rect", { class: "bar", x: l, width: r - l, y: y(c) - 16, height: 32, fill: colour(c, n) });
    for (const end of [a, b]) {
      if (end !== null && end > from && end < to) {
        put(svg, "rect", { x: x(end) - 1, width: 2, y: y(c) - 16, height: 32, fill: colour(c, n) });
      }
    }
  });
  for (const value of roundNumbers(from, to, narrow ? 4 : 7)) {
    put(svg, "text", { x: x(value), y: H - 20, "text-anchor": "middle", class: "soft" }, String(value));
  }
  put(svg, "text", { x: (W + LEFT) / 2, y: H - 5, "text-anchor": "middle", class: "soft" }, "score (higher = ranked higher)");
  return svg;
}

// Pointing at a dot, or the arrow keys, tell which row it is.
function walkRows(node, svg, facts, dots, { guess, shown }) {
  const { points, grades } = facts;
  const detail = put(node, "p", { class: "detail", "aria-live": "polite", id: "detail" }, "");
  const front = put(svg, "g");
  const order = points.score.map((_, i) => i).sort((a, b) => points.score[a] - points.score[b]);
  let chosen = -1;
  function choose(i) {
    if (chosen >= 0) dots[chosen].classList.remove("chosen");
    chosen = i;
    if (i < 0) return;
    dots[i].classList.add("chosen");
    svg.insertBefore(dots[i], front);
    const g = guess(points.score[i]);
    detail.textContent = `Row ${points.row[i]}: grade “${grades[points.grade[i]]}”, score ${digits(points.score[i])}` +
      (g === null ? "" : `, placed as “${grades[g]}”`) + cellsOf(facts, i);
  }
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
}
