// The whole report: every picture and table of the facts, one section each.

function drawReport(parent, facts) {
  if (facts.points !== null) {
    const state = { thresholds: facts.thresholds && [...facts.thresholds], shown: facts.grades.map(() => true) };
    let node = scoreLine(parent, facts, state), width = node.clientWidth;
    const redraw = () => {
      if (!node.isConnected) { window.removeEventListener("resize", redraw); return; }
      if (Math.abs(node.clientWidth - width) < 60) return;
      const before = node;
      node = scoreLine(parent, facts, state);
      before.replaceWith(node);
      width = node.clientWidth;
    };
    window.addEventListener("resize", redraw);
  }
  if (facts.trend !== null) trend(parent, facts);
  if (facts.edges.length) orderGraph(parent, facts);
  if (facts.card !== null) card(parent, facts);
  worstPairs(parent, facts);
  weights(parent, facts);
  influences(parent, facts);
  certificate(parent, facts);
}
