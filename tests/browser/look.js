// Unfolds a page and says what is wrong with it as a reader sees it. Evaluated in the page by pages_test.py.
(async () => {
  const style = document.createElement("style");
  style.textContent = "* { content-visibility: visible !important; }";
  document.head.append(style);
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (let round = 0; round < 2; ++round) {  // sources are put into rows as these open
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    await frame();
  }
  const problems = [];
  const slack = 1.5;
  const holds = (box, rect) => rect.left >= box.left - slack && rect.right <= box.right + slack && rect.top >= box.top - slack && rect.bottom <= box.bottom + slack;
  const shown = (rect) => `${rect.left.toFixed(0)} to ${rect.right.toFixed(0)}, ${rect.top.toFixed(0)} to ${rect.bottom.toFixed(0)}`;

  const page = document.documentElement.scrollWidth;
  if (page > innerWidth) problems.push(`the page is ${page} pixels wide, the window ${innerWidth}`);

  // The parts of a color, 0 to 255, and its opacity.
  const parts = (color) => { const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
  const light = (color) => {
    const [r, g, b] = color.map((part) => { const x = part / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parts(getComputedStyle(at).backgroundColor);
      if (color[3] > 0) return color;
    }
    return [255, 255, 255, 1];
  };

  // Tells where an element lets nothing be seen outside of its box; "scrolls" where a reader can reach it.
  const clipping = (element) => {
    const {overflowX, textOverflow} = getComputedStyle(element);
    if (overflowX === "visible" || textOverflow === "ellipsis") return "";
    return overflowX === "auto" || overflowX === "scroll" ? "scrolls" : "cuts";
  };
  const look_at_text = (node, rects) => {
    const element = node.parentElement, told = JSON.stringify(node.textContent.trim().slice(0, 40));
    const drawing = element.ownerSVGElement;
    let block = element;
    while (!drawing && getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
    let reachable = false;
    for (let at = drawing ? element.parentElement : block; at && at !== document.body; at = at.parentElement) {
      const kind = clipping(at), box = at.getBoundingClientRect();
      if (kind === "scrolls") { reachable = true; break; }
      if (kind !== "cuts") continue;
      for (const rect of rects) if (!holds(box, rect)) problems.push(`${told} at ${shown(rect)} is cut by ${at.tagName}.${at.getAttribute("class")} at ${shown(box)}`);
    }
    const own = drawing || getComputedStyle(block).textOverflow === "ellipsis" ? null : block.getBoundingClientRect();
    for (const rect of rects) {
      if (!reachable && (rect.left < -slack || rect.right > innerWidth + slack)) problems.push(`${told} at ${shown(rect)} is outside of the window`);
      if (own && clipping(block) !== "scrolls" && (rect.left < own.left - slack || rect.right > own.right + slack))
        problems.push(`${told} at ${shown(rect)} is outside of its box ${block.tagName}.${block.className} at ${shown(own)}`);
    }
    const computed = getComputedStyle(element);
    const ink = parts(drawing ? computed.fill : computed.color), ground = behind(drawing || element);
    const [a, b] = [light(ink.slice(0, 3)), light(ground.slice(0, 3))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) problems.push(`${told} has a contrast of ${contrast.toFixed(1)}, expected 4.5`);
  };
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.textContent.trim() || node.parentElement.closest("script, style, title, select")) continue;
    if (!node.parentElement.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 0);
    if (rects.length === 0) continue;
    ++texts;
    look_at_text(node, rects);
  }
  // Texts of one drawing do not lie on each other.
  for (const drawing of document.querySelectorAll("svg")) {
    const labels = [...drawing.querySelectorAll("text")].filter((text) => text.checkVisibility()).map((text) => [text, text.getBoundingClientRect()]);
    for (const [i, [first, a]] of labels.entries()) for (const [second, b] of labels.slice(i + 1)) {
      if (a.left < b.right && b.left < a.right && a.top < b.bottom - 3 && b.top < a.bottom - 3) problems.push(`'${first.textContent}' lies on '${second.textContent}'`);
    }
  }

  const painted = (element) => { const {stroke, strokeOpacity, strokeWidth} = getComputedStyle(element); return stroke !== "none" && strokeOpacity > 0 && parseFloat(strokeWidth) > 0; };
  const trials = [...document.querySelectorAll(".trials .before, .trials .after")].map((path) => ({
    segments: (path.getAttribute("d").match(/[lhvLHV]/g) || []).length, blocks: (path.getAttribute("d").match(/m/gi) || []).length, length: path.getTotalLength(), visible: painted(path),
    inside: holds(path.ownerSVGElement.getBoundingClientRect(), path.getBoundingClientRect())}));
  const marks = [...document.querySelectorAll(".speedups .mark")].map((mark) => {
    const shape = mark.querySelector("circle, rect").getBoundingClientRect(), interval = mark.querySelector(".error");
    const plot = mark.querySelector(".error").ownerSVGElement.getBoundingClientRect();
    return {shape: shape.width * shape.height, interval: painted(interval) ? interval.getBoundingClientRect().width : 0,
            inside: shape.left > plot.left - 8 && shape.right < plot.right + 8};
  });
  const intruders = [...document.querySelectorAll("img, iframe, object, embed, link, base, textarea")].map((one) => one.outerHTML);
  if (window.hostile) intruders.push("a script of a name ran");
  for (const element of document.querySelectorAll("*"))
    for (const {name} of element.attributes) if (name.startsWith("on")) intruders.push(`${element.tagName} ${name}`);
  // Names in tables, as they are broken into lines.
  const names = [...document.querySelectorAll("tbody .name")].map((cell) => {
    const lines = [], range = document.createRange();
    let top = null;
    for (const node of cell.childNodes) for (let i = 0; node.data && i < node.data.length; ++i) {
      range.setStart(node, i);
      range.setEnd(node, i + 1);
      const rect = range.getBoundingClientRect();
      if (rect.width > 0 && (top === null || rect.top > top + 3)) { lines.push(""); top = rect.top; }
      lines[lines.length - 1] += node.data[i];
    }
    return {text: cell.textContent, lines};
  });
  return {problems: problems.slice(0, 20), texts, trials, marks, intruders, names, ground: light(behind(document.body).slice(0, 3))};
})()
