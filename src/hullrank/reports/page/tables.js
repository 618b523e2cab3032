// What was learned, in tables: violated pairs, weights or influences, certificate.

function worstPairs(parent, facts) {
  const node = section(parent, "Most violated pairs", "pairs");
  if (!facts.pairs.length) { put(node, "p", {}, "Every pair is ranked right."); return; }
  const grade = facts.trend === null ? "grade" : "target";
  put(node, "p", { class: "note" }, `The row of the lower ${grade} scores above the row of the higher ${grade} ` +
    (facts.within_queries ? "(of the same query) " : "") + "by the excess.");
  const rows = facts.pairs.map(({ lower, higher, excess }) => [`${lower.row} (${lower.grade})`, `${higher.row} (${higher.grade})`,
    digits(lower.score), digits(higher.score), digits(excess)]);
  table(node, [`lower row (${grade})`, `higher row (${grade})`, "lower scores", "higher scores", "excess"], rows, 2);
}

function weights(parent, facts) {
  const { shown, total } = facts.weights;
  if (!shown.length) return;
  const node = section(parent, "Weights", "weights");
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
