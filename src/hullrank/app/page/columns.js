// The columns of a table, each with the part that it plays.

const ROLES = ["feature", "target", "query", "weights", "left out"];
const TARGETS = /^(grade|grades|rating|quality|relevance|label|class|target|stars|severity)$/i;
const QUERIES = /^(qid|query|query_?id)$/i;

// The part that a column most likely plays, by its name; everyone can see and change it.
function likelyRole(column, columns) {
  const target = columns.findLast((each) => TARGETS.test(each.column));
  if (column === target) return "target";
  if (target && QUERIES.test(column.column)) return "query";
  return column.kind === "left out" ? "left out" : "feature";
}

// Draws the columns and gives their roles; `changed` is called with the roles whenever one of them changes.
function columnTable(parent, columns, changed) {
  const roles = Object.fromEntries(columns.map((column) => [column.column, likelyRole(column, columns)]));
  const rows = columns.map((c) => [c.column, "", c.kind, c.examples, c.missing.toLocaleString("en")]);
  const grid = table(parent, ["column", "use as", "kind", "examples", "missing"], rows, 4);
  const selects = columns.map((column, i) => {
    const select = put(grid.tBodies[0].rows[i].cells[1], "select", { "aria-label": `Use ${column.column} as` });
    for (const role of ROLES) put(select, "option", { value: role }, role);
    select.value = roles[column.column];
    select.addEventListener("change", () => choose(i, select.value));
    grid.tBodies[0].rows[i].title = column.done;
    return select;
  });
  const choose = (i, role) => {
    const single = ["target", "query", "weights"].includes(role);
    columns.forEach((column, j) => {
      if (j !== i && single && roles[column.column] === role) roles[column.column] = "feature";
    });
    roles[columns[i].column] = role;
    selects.forEach((select, j) => { select.value = roles[columns[j].column]; });
    changed(roles);
  };
  changed(roles);
  return roles;
}
