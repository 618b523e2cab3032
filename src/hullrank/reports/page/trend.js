// For targets that are numbers: the predicted rank of every row against its target.

function trend(parent, facts) {
  const { target, rank, score } = facts.trend;
  const node = section(parent, "Predicted rank against target", "trend");
  put(node, "p", { class: "note" }, "Every dot is a row; rank 1, on top, has the highest score. A perfect ranking rises " +
    "from the lower left to the upper right. Point at a dot to see its row.");
  const W = widthFor(node), H = 380, LEFT = 64, RIGHT = 14, TOP = 10, BOTTOM = 44;
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
    detail.textContent = `Row ${facts.shown.row[i]}: target ${digits(target[i])}, rank ${rank[i]}, score ${digits(score[i])}` + cellsOf(facts, i);
  });
  pictureButton(node, svg, ["Every dot is a row; rank 1, on top, has the highest score."], "predicted-rank.png");
}
