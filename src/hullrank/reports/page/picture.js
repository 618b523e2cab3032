// A drawing of the page as a picture to keep: a PNG file on a white ground, whatever the colours of the screen.

const PICTURE_WIDTH = 1600;  // pixels, at least: enough for a slide or a printed page

function pictureButton(node, svg, words, name) {
  const button = put(node, "button", { type: "button", id: "save-picture" }, "Save picture");
  button.addEventListener("click", async () => {
    try {
      download(name, await painted(withWords(svg, words)));
    } catch {
      button.textContent = "This browser cannot save the picture; print the page instead";
      button.disabled = true;
    }
  });
}

// A copy of a drawing that stands alone: with the style of light pages, a ground, and below it what its marks mean.
function withWords(svg, words) {
  const { width, height } = svg.viewBox.baseVal, line = 16;
  const lines = words.flatMap((sentence) => wrapped(sentence, Math.floor(width / 6.5))), whole = height + line * (lines.length + 0.5);
  const copy = svg.cloneNode(true);
  copy.setAttribute("viewBox", `0 0 ${width} ${whole}`);
  copy.setAttribute("style", `width:${width}px;height:${whole}px`);
  copy.querySelectorAll(".chosen").forEach((dot) => dot.classList.remove("chosen"));
  lines.forEach((text, i) => put(copy, "text", { x: 10, y: height + line * (i + 1), class: "soft" }, text));
  copy.prepend(put(copy, "style", {}, lightStyle()), put(copy, "rect", { width, height: whole, style: "fill:var(--card)" }));
  return copy;
}

// The rules of the page that hold on every screen, without those for dark ones and for print.
const lightStyle = () => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
  .filter((rule) => rule instanceof CSSStyleRule).map((rule) => rule.cssText).join("\n");

// A sentence in lines of at most so many letters, as far as its words allow.
function wrapped(sentence, most) {
  const lines = [""];
  for (const word of sentence.split(" ")) {
    if (lines.at(-1) && lines.at(-1).length + 1 + word.length > most) lines.push(word);
    else lines.push(`${lines.pop()} ${word}`.trim());
  }
  return lines;
}

async function painted(svg) {
  const { width, height } = svg.viewBox.baseVal, scale = Math.max(1, PICTURE_WIDTH / width);
  const image = new Image(width, height);
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(svg));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(scale * width);
  canvas.height = Math.round(scale * height);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}
