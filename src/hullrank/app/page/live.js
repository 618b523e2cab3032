// A job while it runs: what is being done, how far it is, the falling gap, and a button that stops it.

// Draws into `parent` and calls `hear` with every event; the promise gives the last one.
function follow(parent, number, hear) {
  parent.replaceChildren();
  const box = put(parent, "div", { class: "live" });
  const doing = put(box, "p", { role: "status" }, "starting");
  const bar = put(box, "progress", { max: "1", "aria-label": "How far it is" });
  const clock = put(box, "span", { class: "note clock" }, "");
  const stop = put(box, "button", { type: "button", class: "stop" }, "Stop");
  const chart = gapChart(box);
  const notes = put(parent, "ul", { class: "notes" });
  const began = Date.now();
  const ticking = setInterval(() => { clock.textContent = `${((Date.now() - began) / 1000).toFixed(0)} s`; }, 500);
  stop.addEventListener("click", () => {
    fetch("stop", { method: "POST" });
    stop.textContent = "Stop at once";
    doing.textContent = "stopping with what there is";
  });
  // The steps of a job read the same table and say the same of it.
  function tellOnce(kind, words) {
    if (![...notes.children].some((told) => told.textContent === words)) put(notes, "li", { class: kind }, words);
  }
  return new Promise((resolve) => {
    const source = new EventSource(`jobs/${number}`);
    const end = (event) => { source.close(); clearInterval(ticking); box.remove(); resolve(event); };
    source.onmessage = (message) => {
      const event = JSON.parse(message.data);
      if ("working" in event) {
        doing.textContent = event.working;
        delete doing.dataset.remark;
        bar.removeAttribute("value");
      }
      if ("share" in event) { bar.value = event.share; doing.dataset.remark = event.remark; }
      if ("gap" in event) { bar.value = chart(event.gap, event.tol); }
      for (const kind of ["note", "warning"]) if (kind in event) tellOnce(kind, event[kind]);
      hear(event);
      if ("ended" in event) end(event);
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) end({ ended: "error", sentence: "the page has lost its server" });
    };
  });
}

// The relative gap over its steps on a scale of powers of ten; gives a function that adds one and says how far it is.
function gapChart(parent) {
  const W = 320, H = 90, LEFT = 46, BOTTOM = 8;
  const svg = put(parent, "svg", { class: "gaps", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Relative gap" });
  svg.style.display = "none";
  const line = put(svg, "polyline", { class: "gap" });
  const goal = put(svg, "line", { class: "goal", x1: LEFT, x2: W });
  const top = put(svg, "text", { x: LEFT - 6, "text-anchor": "end", class: "soft" }, "");
  const bottom = put(svg, "text", { x: LEFT - 6, "text-anchor": "end", class: "soft" }, "");
  put(svg, "text", { x: LEFT + 6, y: 60, class: "soft" }, "relative gap, step by step");
  const gaps = [];
  let done = 0;
  return (gap, tol) => {
    gaps.push(Math.max(gap, tol / 10));
    svg.style.display = "";
    const high = Math.log10(Math.max(...gaps, 10 * tol)), low = Math.log10(Math.min(...gaps, tol));
    const y = (value) => 8 + ((high - Math.log10(value)) / (high - low)) * (H - 8 - BOTTOM);
    const x = (i) => LEFT + (i / Math.max(gaps.length - 1, 1)) * (W - LEFT - 4);
    line.setAttribute("points", gaps.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" "));
    goal.setAttribute("y1", y(tol));
    goal.setAttribute("y2", y(tol));
    top.setAttribute("y", 14);
    top.textContent = (10 ** high).toExponential(0);
    bottom.setAttribute("y", y(tol) + 4);
    bottom.textContent = tol.toExponential(0);
    svg.setAttribute("aria-label", `Relative gap ${gap.toExponential(1)}, tolerance ${tol.toExponential(0)}`);
    const first = Math.max(...gaps, 2 * tol);
    done = Math.max(done, Math.min(Math.log(first / Math.max(gap, tol)) / Math.log(first / tol), 1));
    return done;
  };
}
