// Thresholds that are dragged or moved by keys, and the confusion matrix that follows from them.

// Draws the handle of threshold j and gives the function that puts it where the threshold stands.
function thresholdHandle(svg, frame, grades, thresholds, j, draw) {
  const { from, to, width, height, x, score } = frame;
  const handle = put(svg, "g", { class: "threshold", tabindex: "0", role: "slider",
    "aria-label": `Threshold between ${grades[j]} and ${grades[j + 1]}`, "aria-orientation": "horizontal" });
  put(handle, "rect", { x: -9, width: 18, y: 0, height: height - 36 });
  put(handle, "line", { y1: 12, y2: height - 36 });
  put(handle, "circle", { cy: 12, r: 8 });
  const move = (value) => {
    const lowest = j > 0 ? thresholds[j - 1] : from, highest = j < thresholds.length - 1 ? thresholds[j + 1] : to;
    thresholds[j] = Math.min(Math.max(value, lowest), highest);
    draw();
  };
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
    handle.focus();
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const box = svg.getBoundingClientRect();
    move(score(((event.clientX - box.left) / box.width) * width));
  });
  handle.addEventListener("keydown", (event) => {
    const step = (to - from) / (event.shiftKey ? 20 : 200);
    const by = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step }[event.key];
    if (by === undefined) return;
    move(thresholds[j] + by);
    event.preventDefault();
    event.stopPropagation();
  });
  return () => {
    handle.setAttribute("transform", `translate(${x(thresholds[j])} 0)`);
    handle.setAttribute("aria-valuenow", thresholds[j].toPrecision(4));
    handle.setAttribute("aria-valuemin", from.toPrecision(4));
    handle.setAttribute("aria-valuemax", to.toPrecision(4));
  };
}

function thresholdButtons(node, facts, thresholds, draw) {
  const reset = put(node, "button", { type: "button", id: "reset" }, "Reset thresholds");
  reset.addEventListener("click", () => { facts.thresholds.forEach((t, j) => { thresholds[j] = t; }); draw(); });
  const save = put(node, "button", { type: "button", id: "save" }, "Save thresholds");
  save.addEventListener("click", () => {
    const text = JSON.stringify({ hullrank: "thresholds", grades: facts.grades, thresholds }, null, 2);
    download("thresholds.json", new Blob([text], { type: "application/json" }));
  });
  put(node, "p", { class: "note" }, "The file is for: hullrank rank model.hull new.csv --thresholds thresholds.json");
}

// Draws the empty matrix and gives the function that counts the shown points into it.
function confusion(parent, grades) {
  const box = put(parent, "div");
  put(box, "h2", {}, "Confusion matrix");
  const summary = put(box, "p", { id: "summary", "aria-live": "polite" }, "");
  const grid = put(put(box, "div", { class: "scroll", tabindex: "0" }), "table", { id: "confusion" });
  put(grid, "caption", { class: "note" }, "rows: true grade, columns: grade by the thresholds");
  const head = put(put(grid, "thead"), "tr");
  put(head, "td");
  const names = shortNames(grades);
  names.forEach((name) => put(head, "th", { scope: "col" }, name));
  const body = put(grid, "tbody");
  const cells = names.map((name) => {
    const line = put(body, "tr");
    put(line, "th", { scope: "row" }, name);
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
