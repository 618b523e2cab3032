// What was learned, in tables: violated pairs, weights or influences, certificate.

function worstPairs(parent, facts) {
  const node = section(parent, "Most violated pairs", "pairs");
  if (!facts.pairs.length) { put(node, "p", {}, "Every pair is ranked right."); return; }
  const grade = facts.trend === null ? "grade" : "target";
  put(node, "p", { class: "note" }, `The row of the lower ${grade} scores above the row of the higher ${grade} ` +
    (facts.within ? "(within " + facts.within + ") " : "") + "by the excess.");
  const called = ({ row, name, grade: own }) => `${row}${name === undefined ? "" : ": " + name} (${own})`;
  const rows = facts.pairs.map(({ lower, higher, excess }) => [called(lower), called(higher), digits(excess), digits(lower.score),
    digits(higher.score)]);
  const what = `row${facts.naming === null ? "" : ": " + facts.naming} (${grade})`;
  table(node, [`lower ${what}`, `higher ${what}`, "excess", "lower scores", "higher scores"], rows, 2);
}

// Points of a scoring system, and what every total of them meant in the training data.
function card(parent, facts) {
  const { points, totals } = facts.card;
  const node = section(parent, "Scoring card", "card");
  put(node, "p", { class: "note" }, "Multiply every feature by its points and add up. The second table says how many rows " +
    "of the fit had that total, and how many of these were above the lowest grade.");
  table(node, ["feature", "points per unit"], points.map((each) => [each.feature, (each.points > 0 ? "+" : "−") + Math.abs(each.points)]));
  const rows = totals.map((each) => [each.total, each.samples.toLocaleString("en"), each.positive.toLocaleString("en"),
    (100 * each.share).toFixed(1) + "%", ""]);
  const grid = table(node, ["total", "rows", "above the lowest grade", "share", ""], rows);
  totals.forEach(({ share }, i) => {
    const cell = grid.tBodies[0].rows[i].cells[4];
    cell.className = "bars";
    put(cell, "span", { class: "weight up", style: `width:${100 * share}%` });
  });
}

function weights(parent, facts) {
  const { shown, total } = facts.weights;
  if (!shown.length || facts.card !== null) return;
  const node = section(parent, "Weights", "weights");
  if (shown.length < total) put(node, "p", { class: "note" }, `The largest ${shown.length} of ${total}.`);
  const most = Math.max(...shown.map((w) => Math.abs(w.weight))) || 1;
  const grid = table(node, ["feature", "weight", "lowers the score | raises it"], shown.map(({ name, weight }) => [name, digits(weight), ""]));
  grid.tHead.rows[0].cells[2].className = "bars";
  shown.forEach(({ weight }, i) => bar(grid.tBodies[0].rows[i].cells[2], weight / most));
}

// A bar from the middle of its cell, to the left for negative shares.
function bar(cell, share) {
  const width = 50 * Math.abs(share);
  cell.className = "bars";
  put(cell, "span", { class: `weight ${share > 0 ? "up" : "down"}`,
    style: `width:${width}%;margin-left:${share > 0 ? 50 : 50 - width}%` });
}

function influences(parent, facts) {
  if (!facts.influences.length) return;
  const node = section(parent, "Influence", "influence");
  put(node, "p", { class: "note" }, "How far pair accuracy falls when the values of a feature are shuffled over the rows " +
    "(mean and deviation of 5 shuffles); near 0 the model does without it.");
  const most = Math.max(...facts.influences.map((each) => Math.abs(each.fall))) || 1;
  const rows = facts.influences.map(({ name, fall, deviation }) => [name, fall.toFixed(4), deviation.toFixed(4), ""]);
  const grid = table(node, ["feature", "fall", "deviation", ""], rows);
  facts.influences.forEach(({ fall }, i) => bar(grid.tBodies[0].rows[i].cells[3], fall / most));
}

function certificate(parent, facts) {
  const entries = Object.entries(facts.certificate);
  if (!entries.length) return;
  const node = section(parent, "Certificate", "certificate");
  const names = { primal: "objective", dual: "lower bound", n_order_constraints: "order constraints" };
  const written = (name, value) => {
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value)) return value.toLocaleString("en");
    return name.endsWith("gap") ? value.toExponential(1) : value.toPrecision(name === "seconds" ? 3 : 10);
  };
  table(node, ["quantity", "value"], entries.map(([name, value]) => [names[name] ?? name.replaceAll("_", " "), written(name, value)]));
}
