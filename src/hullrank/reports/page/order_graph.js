// The order between the grades, with the share of pairs ranked right on every edge; upright where there is little width.

function orderGraph(parent, facts) {
  const node = section(parent, "Order and pair accuracy", "order");
  const n = facts.grades.length, upright = widthFor(node) < 500, edge = upright ? 50 : 75;
  put(node, "p", { class: "note" }, `From lower (${upright ? "below" : "left"}) to higher (${upright ? "above" : "right"}); on every ` +
    "edge the share of pairs " + (facts.within ? "within " + facts.within + " " : "") + "ranked right.");
  const spots = facts.places.map(([a, b]) => (upright ? [b * 108, -a * 52] : [a * 110, -b * 74]));
  const curves = facts.edges.map(({ lo, hi }) => bend(spots[lo], spots[hi], lo, upright));
  const all = [...spots, ...curves.map((c) => c.middle)];
  const [x0, x1] = [Math.min(...all.map((p) => p[0])) - edge, Math.max(...all.map((p) => p[0])) + edge];
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
  const names = shortNames(facts.grades);
  facts.grades.forEach((grade, c) => {
    const [a, b] = spots[c];
    put(svg, "rect", { x: a - 48, y: b - 15, width: 96, height: 30, rx: 8, fill: colour(c, n) });
    const name = put(svg, "text", { x: a, y: b + 4, "text-anchor": "middle", style: `fill:${inkOn(mix(c, n))}` }, names[c]);
    put(name, "title", {}, grade);
  });
}

// A curve between two grades that keeps clear of both, and its middle.
function bend([ax, ay], [bx, by], lo, upright) {
  const levels = upright ? (ay - by) / 88 : (bx - ax) / 187, away = Math.sign(upright ? ax + bx : ay + by) || (lo % 2 ? -1 : 1);
  const out = away * (levels - 1), cx = (ax + bx) / 2 + (upright ? out * 90 : 0), cy = (ay + by) / 2 + (upright ? 0 : out * 60);
  const at = (t) => [(1 - t) ** 2 * ax + 2 * t * (1 - t) * cx + t * t * bx, (1 - t) ** 2 * ay + 2 * t * (1 - t) * cy + t * t * by];
  const free = [];
  for (let k = 0; k <= 60; k++) {
    const p = at(k / 60);
    const clear = (q) => Math.abs(p[0] - q[0]) > 52 || Math.abs(p[1] - q[1]) > 18;
    if (clear([ax, ay]) && clear([bx, by])) free.push(p);
  }
  return { middle: at(0.5), path: "M" + free.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L") };
}
