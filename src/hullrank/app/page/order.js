// The grades from highest to lowest, put in order by dragging, by the arrow keys or by buttons.

// Whether levels are of these grades: every one is there, and no other.
function areLevelsOf(values, levels) {
  const known = new Set(values.map(({ value }) => value)), given = levels?.flat() ?? [];
  return given.length === known.size && given.every((value) => known.has(value));
}

// The grades from highest to lowest by given levels, or as they come; `tied`: not compared with the one above.
function arranged(values, levels) {
  const rows = new Map(values.map(({ value, rows }) => [value, rows]));
  const given = areLevelsOf(values, levels) ? levels : values.map(({ value }) => [value]);
  return [...given].reverse().flatMap((level) => level.map((value, i) => ({ value, rows: rows.get(value), tied: i > 0 })));
}

// Draws the list and gives a function that returns the levels from lowest to highest; `changed` is called when they change.
function gradeList(parent, values, said, before, changed) {
  const grades = arranged(values, before);
  put(parent, "p", { class: "end note" }, "highest");
  const list = put(parent, "ol", { class: "grades" });
  put(parent, "p", { class: "end note" }, "lowest");

  function move(from, to, how) {
    if (to < 0 || to >= grades.length || from === to) return;
    const [grade] = grades.splice(from, 1);
    grade.tied = false;
    grades.splice(to, 0, grade);
    grades[0].tied = false;
    draw();
    const item = list.children[to];
    (how === "button" ? item.querySelector(to < from ? ".higher" : ".lower") : item).focus();
    said.textContent = `“${grade.value}” is now number ${to + 1} of ${grades.length} from the top.`;
    changed();
  }

  function draw() {
    list.replaceChildren();
    grades.forEach((grade, i) => item(grade, i));
  }

  function item(grade, i) {
    const node = put(list, "li", { tabindex: "0", class: grade.tied ? "tied" : "",
      "aria-label": `${grade.value}, number ${i + 1} of ${grades.length}; arrow keys move it` });
    put(node, "span", { class: "grip", "aria-hidden": "true" }, "⠿");
    put(node, "span", { class: "swatch", style: `background:${colour(grades.length - 1 - i, grades.length)}` });
    put(node, "span", { class: "name" }, grade.value);
    put(node, "span", { class: "note" }, `${grade.rows.toLocaleString("en")} rows`);
    if (i > 0) tie(node, grade);
    button(node, "higher", "▲", `Move ${grade.value} higher`, () => move(i, i - 1, "button"));
    button(node, "lower", "▼", `Move ${grade.value} lower`, () => move(i, i + 1, "button"));
    node.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (by === undefined || event.target !== node) return;
      event.preventDefault();
      move(i, i + by);
    });
    node.addEventListener("pointerdown", (event) => { if (!event.target.closest("button")) drag(event, node, i); });
  }

  function tie(node, grade) {
    const words = () => (grade.tied ? "not compared with the one above" : "below the one above");
    const toggle = button(node, "tie", words(), "", () => {
      grade.tied = !grade.tied;
      toggle.textContent = words();
      toggle.setAttribute("aria-pressed", grade.tied);
      node.classList.toggle("tied", grade.tied);
      changed();
    });
    toggle.setAttribute("aria-pressed", grade.tied);
  }

  function button(node, name, text, label, act) {
    const made = put(node, "button", { type: "button", class: name, ...(label ? { "aria-label": label } : {}) }, text);
    made.addEventListener("click", act);
    return made;
  }

  // While the pointer is down the list stays as it is, and a line shows where the grade would go.
  function drag(event, node, from) {
    event.preventDefault();
    node.focus();
    node.classList.add("dragged");
    const others = [...list.children];
    let to = from;
    const over = (moved) => {
      const above = others.filter((other) => other !== node && middle(other) < moved.clientY).length;
      others.forEach((other) => other.classList.remove("before", "after"));
      to = above;
      const rest = others.filter((other) => other !== node);
      if (to < rest.length) rest[to].classList.add("before");
      else rest.at(-1)?.classList.add("after");
    };
    const drop = (ended) => {
      window.removeEventListener("pointermove", over);
      window.removeEventListener("pointerup", drop);
      window.removeEventListener("pointercancel", drop);
      node.classList.remove("dragged");
      others.forEach((other) => other.classList.remove("before", "after"));
      if (ended.type === "pointerup") move(from, to);
    };
    window.addEventListener("pointermove", over);
    window.addEventListener("pointerup", drop);
    window.addEventListener("pointercancel", drop);
  }

  const middle = (node) => { const box = node.getBoundingClientRect(); return box.top + box.height / 2; };

  draw();
  return () => {
    const levels = [];
    for (const grade of grades) {
      if (grade.tied) levels.at(-1).push(grade.value);
      else levels.push([grade.value]);
    }
    return levels.reverse();
  };
}
