"use strict";
// The page: a table arrives, its columns and grades are put in order, and jobs are started and shown.

const at = (id) => document.getElementById(id);
const page = { table: null, roles: {}, levels: null, working: 0, waits: "" };  // waits: why nothing can be learned yet

async function ask(path, options = {}) {
  const answer = await fetch(path, { method: "POST", ...options });
  const told = await answer.json().catch(() => ({ error: "the page has lost its server; is `hullrank app` still running?" }));
  if (!answer.ok) throw new Error(told.error);
  return told;
}

function say(node, text, wrong = false) {
  node.textContent = text;
  node.classList.toggle("wrong-said", wrong);
}

// ---------------------------------------------------------------- table
async function take(name, request) {
  say(at("table-said"), `Reading ${name} …`);
  at("table-notes").replaceChildren();
  try {
    showTable(await request());
  } catch (error) {
    say(at("table-said"), error.message, true);
  }
}

function send(file) {
  if (file.size > page.upload) {
    say(at("table-said"), `${file.name} is larger than ${Math.round(page.upload / 2 ** 20)} MB, the most that this page takes.`, true);
    return;
  }
  take(file.name, () => ask(`table?name=${encodeURIComponent(file.name)}`, { body: file }));
}

// `before` is what was wished of the table before the page was loaded anew.
function showTable(facts, before = {}) {
  page.table = facts;
  page.target = null;
  const columns = facts.columns?.length;
  const width = columns ? `${columns} ${columns === 1 ? "column" : "columns"}` : `${facts.features.toLocaleString("en")} features`;
  say(at("table-said"), `${facts.file}: ${facts.rows.toLocaleString("en")} rows, ${width}${facts.style ? ", " + facts.style : ""}.`);
  at("table-notes").replaceChildren();
  for (const note of facts.notes) put(at("table-notes"), "li", { class: "note" }, note);
  for (const id of ["fit-live", "fit-result", "report", "files", "ranked", "new-ranked", "compare-live", "compare-result", "columns-table"]) {
    at(id).replaceChildren();
  }
  at("rows").hidden = true;
  at("columns").hidden = facts.columns === null;
  for (const id of ["learn", "comparison"]) at(id).hidden = false;
  if (facts.columns) page.roles = columnTable(at("columns-table"), facts.columns, (roles) => showGrades(roles, before.levels ?? facts.levels), before.roles);
  else showGrades(null);
}

function showGrades(roles, before = null) {
  const target = roles && page.table.columns.find((column) => roles[column.column] === "target");
  if (target && target === page.target) return;  // another column has changed, and the order stays as it was put
  page.target = target;
  at("grades-list").replaceChildren();
  at("grades-said").textContent = "";
  at("grades-ask").hidden = true;
  page.levels = null;
  waitFor("");
  at("grades").hidden = roles === null;
  if (roles === null) return;
  if (!target) {
    say(at("grades-note"), "Choose the column with the grades: set its “use as” to target.");
    waitFor("First choose the column with the grades, above.");
  } else if (target.values) {
    orderGrades(target, before);
  } else {
    const { column, distinct, ordered } = target;
    say(at("grades-note"), ordered
      ? `“${column}” has ${distinct.toLocaleString("en")} different values, which are ordered as numbers or dates.`
      : `“${column}” has ${distinct.toLocaleString("en")} different words, too many to put in order here.`, !ordered);
    if (!ordered) waitFor("First choose another column as the grades, above.");
  }
}

function orderGrades({ values, ordered }, before) {
  const isKnown = areLevelsOf(values, before);
  const stand = ordered ? "In the order of their values; change it if higher is not better. " : isKnown ? ""
    : "These grades are words, and the page cannot know which of them is higher: so far they stand in the order of the alphabet. ";
  say(at("grades-note"), stand + "Drag the grades into order, or focus one and use the arrow keys.");
  const usual = JSON.stringify(values.map(({ value }) => [value]));
  const levels = gradeList(at("grades-list"), values, at("grades-said"), before, () => {
    at("grades-ask").hidden = true;
    waitFor("");
  });
  page.levels = () => (ordered && JSON.stringify(levels()) === usual ? null : levels());
  if (!ordered && !isKnown) askForOrder();
}

// Words have no order of their own: nothing is learned until they were moved, or somebody says that they stand right.
function askForOrder() {
  const ask = () => waitFor(at("grades-checked").checked ? ""
    : "First put the grades in order, above; if they stand right already, tick “I have checked the order”.");
  at("grades-checked").checked = false;
  at("grades-checked").onchange = ask;
  at("grades-ask").hidden = false;
  ask();
}

// Says why nothing can be learned yet; nothing to say, and it can.
function waitFor(reason) {
  page.waits = reason;
  for (const node of document.querySelectorAll(".waits")) say(node, reason);
  enable();
}

// ---------------------------------------------------------------- jobs
function wishes(more) {
  return JSON.stringify({ roles: page.table.columns ? page.roles : {}, levels: page.levels?.() ?? null, ...more });
}

// Starts a job, shows it while it runs, and ends with a sentence where something went wrong.
async function work(kind, start, hear) {
  const live = at(`${kind}-live`);
  live.replaceChildren();
  page.working += 1;
  enable();
  try {
    const { job } = await start();
    const last = await follow(live, job, hear);
    if (last.ended === "error") throw new Error(last.sentence);
    if (last.ended === "stopped") put(live, "p", {}, "Stopped.");
  } catch (error) {
    put(live, "p", { class: "wrong-said", role: "alert" }, error.message);
  } finally {
    page.working -= 1;
    enable();
  }
}

// One job at a time, and none before the target and the order of its grades are known.
function enable() {
  at("fit").disabled = at("compare").disabled = page.working > 0 || page.waits !== "";
  at("new-file").disabled = page.working > 0;
}

function hearFit(event) {
  if ("command" in event) {
    for (const id of ["fit-result", "report", "files", "ranked", "new-ranked"]) at(id).replaceChildren();
    page.command = event.command;
  }
  if ("fitted" in event) {
    showFit(at("fit-result"), event.fitted);
    put(put(at("fit-result"), "p", { class: "note" }, "On the command line: "), "code", {}, page.command);
    at("rows").hidden = false;
    showFile(at("files"), "model.hull");
  }
  if (event.ready === "report.html") {
    showReport(at("report"));
    showFile(at("files"), "report.html");
  }
  if (event.ready === "ranked.csv") {
    showFile(at("files"), "ranked.csv");
    showRanked(at("ranked"), event.ranked, "This table");
  }
}

function hearRank(event) {
  if (event.ready !== "new-ranked.csv") return;
  showRanked(at("new-ranked"), event.ranked, "The other table");
  showFile(put(at("new-ranked"), "ul", { class: "files" }), event.ready);
}

function hearComparison(event) {
  if ("command" in event) at("compare-result").replaceChildren();
  if ("compared" in event) showComparison(at("compare-result"), event.compared);
}

const HEAR = { fit: hearFit, rank: hearRank, compare: hearComparison };

// ---------------------------------------------------------------- controls
function ready() {
  at("file").addEventListener("change", () => { if (at("file").files.length) send(at("file").files[0]); at("file").value = ""; });
  at("sample").addEventListener("click", () => take(page.sample, () => ask("sample")));
  for (const kind of ["dragover", "dragenter"]) {
    window.addEventListener(kind, (event) => { event.preventDefault(); at("drop").classList.add("over"); });
  }
  window.addEventListener("dragleave", (event) => { if (!event.relatedTarget) at("drop").classList.remove("over"); });
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    at("drop").classList.remove("over");
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
  at("method").addEventListener("change", describe);
  at("fit").addEventListener("click", () => work("fit", () => ask("fit", {
    body: wishes({ method: at("method").value, probabilities: at("probabilities").checked }) }), hearFit));
  at("compare").addEventListener("click", () => work("compare", () => ask("compare", {
    body: wishes({ methods: chosenMethods(), folds: Number(at("folds").value) }) }), hearComparison));
  at("new-file").addEventListener("change", () => {
    const [file] = at("new-file").files;
    at("new-file").value = "";
    if (file) work("rank", () => ask(`rank?name=${encodeURIComponent(file.name)}`, { body: file }), hearRank);
  });
}

const describe = () => say(at("method-for"), page.methods.find((method) => method.name === at("method").value).for);
const chosenMethods = () => [...at("methods").querySelectorAll("input:checked")].map((box) => box.value);

async function begin() {
  const state = await (await fetch("state")).json();
  Object.assign(page, { methods: state.methods, upload: state.upload, sample: state.sample });
  for (const method of state.methods) {
    put(at("method"), "option", { value: method.name }, method.name);
    const label = put(at("methods"), "label", { title: method.for });
    put(label, "input", { type: "checkbox", value: method.name });
    put(label, "span", {}, method.name);
  }
  for (const name of ["hull", "fixed-margin", "swapped-pairs"]) {
    const box = at("methods").querySelector(`input[value="${name}"]`);
    if (box) box.checked = true;
  }
  describe();
  ready();
  if (state.table) showTable(state.table, state.wishes);
  const jobs = Object.entries(state.jobs).sort(([, one], [, other]) => one - other);
  for (const [kind, job] of jobs) await work(kind, async () => ({ job }), HEAR[kind]);
}

begin();
