// What came out of a job: figures, the report, files, ranked rows, compared methods.

function showFit(parent, fitted) {
  parent.replaceChildren();
  const [name, share] = Object.entries(fitted.training).at(-1);
  const figures = put(parent, "div", { class: "figures" });
  const held = fitted.cross_validated;
  if (held) figure(figures, held.mean, `${held.figure} on rows left out, ${held.folds.length} folds`,
    `95% interval ${held.low.toFixed(3)} to ${held.high.toFixed(3)}; 0.5 is chance, 1 is perfect`);
  figure(figures, share, `${name.replaceAll("_", " ")} on the ${fitted.rows.toLocaleString("en")} training rows`,
    held ? "flatters the model, which has seen these rows" : "flatters the model, which has seen these rows; 0.5 is chance");
  const foretold = held?.probabilities;
  if (foretold) figure(figures, foretold.log_loss, "log loss of the probabilities on rows left out",
    `lower is better; ${foretold.log_loss_of_shares.toFixed(3)} if every row got the shares of the grades`);
  const proof = fitted.certificate;
  if (proof) {
    const gap = proof.relative_gap ?? proof.gap;
    put(parent, "p", {}, proof.status === "interrupted"
      ? `Stopped: this is the best model so far, within ${gap.toExponential(1)} (relative) of the best possible objective.`
      : `Proven: the objective lies within ${gap.toExponential(1)} (relative) of the best possible one.`);
  }
}

function figure(parent, value, name, more) {
  const box = put(parent, "div", { class: "figure" });
  put(box, "strong", {}, value === null ? "none" : value.toFixed(3));
  put(box, "span", {}, name);
  put(box, "span", { class: "note" }, more);
}

// The facts of a report are inside its page; a page that is parsed this way runs no script.
async function showReport(parent) {
  const page = await (await fetch("files/report.html")).text();
  const facts = new DOMParser().parseFromString(page, "text/html").getElementById("facts").textContent;
  parent.replaceChildren();
  drawReport(parent, JSON.parse(facts));
}

const FILE_WORDS = {
  "model.hull": ["Download model", "for hullrank rank, evaluate, explain and certify"],
  "report.html": ["Download report", "one page that opens in any browser"],
  "ranked.csv": ["Download ranked table", "every row with its rank, score and grade"],
  "new-ranked.csv": ["Download ranked table", "the other table, with ranks, scores and grades"],
};

function showFile(list, name) {
  const item = put(list, "li");
  const [words, what] = FILE_WORDS[name];
  put(item, "a", { href: `files/${name}`, download: name }, words);
  put(item, "span", { class: "note" }, what);
}

function showRanked(parent, ranked, title) {
  parent.replaceChildren();
  if (!ranked.best.length) return;
  put(parent, "h3", {}, `${title}: the best ${Math.min(ranked.best.length, ranked.rows)} of ${ranked.rows.toLocaleString("en")} rows`);
  const own = ["rank", "score", "grade", "row"].flatMap((name) => lastOf(ranked.best[0], name));
  const names = [...own, ...Object.keys(ranked.best[0]).filter((name) => !own.includes(name))].slice(0, 12);
  const grid = table(parent, names, ranked.best.map((row) => names.map((name) => written(row[name]))), 0);
  names.forEach((name, i) => {
    if (!ranked.best.some((row) => typeof row[name] === "string")) return;
    for (const row of grid.rows) row.cells[i].className = "word";
  });
}

// The column that the ranking added: its name has underscores at its end where the table has such a name already.
function lastOf(row, name) {
  return Object.keys(row).filter((key) => key.replace(/_+$/, "") === name).sort((a, b) => b.length - a.length).slice(0, 1);
}

const written = (value) => (value === null ? "" : typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value);

function showComparison(parent, compared) {
  parent.replaceChildren();
  put(parent, "p", { class: "note" }, `${compared.figure} on held-out rows, ${compared.cv} folds of ` +
    `${compared.rows.toLocaleString("en")} rows; p: the probability of such a difference from the best by chance`);
  const rows = compared.methods.map((m) => (m.collapsed
    ? [m.name, "collapsed", "", "", m.seconds.toFixed(2), ""]
    : [m.name, m.mean.toFixed(4), `${m.low.toFixed(4)} to ${m.high.toFixed(4)}`, Number(m.p_value).toPrecision(2), m.seconds.toFixed(2), ""]));
  const grid = table(parent, ["method", "mean", "95% interval", "p", "seconds a fold", ""], rows);
  const known = compared.methods.filter((m) => !m.collapsed);
  const low = Math.min(...known.map((m) => m.low)), high = Math.max(...known.map((m) => m.high));
  compared.methods.forEach((m, i) => {
    if (!m.collapsed) whisker(grid.tBodies[0].rows[i].cells[5], m, low, high);
  });
}

// The interval of a method as a line with a dot at its mean, on a scale that all methods share.
function whisker(cell, { low, mean, high }, from, to) {
  const x = (value) => 6 + ((value - from) / (to - from || 1)) * 148;
  const svg = put(cell, "svg", { viewBox: "0 0 160 16", class: "whisker", "aria-hidden": "true" });
  put(svg, "line", { x1: x(low), x2: x(high), y1: 8, y2: 8, class: "edge" });
  put(svg, "circle", { cx: x(mean), cy: 8, r: 4.5, class: "mean" });
}
