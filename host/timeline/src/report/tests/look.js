// Checks the pages in the frames of this document. It writes its findings into #found as JSON.

// WCAG 2.1: small text, and graphics that carry meaning.
const TEXT = 4.5, GRAPHIC = 3;
const LEAST_PIXELS = 11;

const parts = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
const linear = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
const luminance = ([red, green, blue]) =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

function look(frame) {
  const page = frame.contentDocument, view = frame.contentWindow;
  const style = (node) => view.getComputedStyle(node);
  const width = page.documentElement.clientWidth;
  const words = (node) => (node.textContent || node.tagName).trim().slice(0, 40);
  const found = {
    page: frame.name, width, texts: 0, wide: [], cut: [], faint: [], small: [],
    dark: view.matchMedia("(prefers-color-scheme: dark)").matches,
    requests: view.performance.getEntriesByType("resource").length,
  };
  // The first background that is not transparent.
  const surface = (node) => {
    for (; node; node = node.parentElement) {
      const colour = parts(style(node).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const isShown = (node) => node.getClientRects().length > 0 && style(node).clipPath === "none";

  if (page.documentElement.scrollWidth > width) found.wide.push(page.documentElement.scrollWidth);
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || node.closest("title, desc, thead") || !isShown(node)) continue;
    found.texts += 1;
    const colour = parts(node.closest("svg") ? style(node).fill : style(node).color);
    if (contrast(colour, surface(node)) < TEXT) found.faint.push(words(node));
    if (parseFloat(style(node).fontSize) < LEAST_PIXELS) found.small.push(words(node));
    // Beyond the page, unless its table scrolls.
    const range = page.createRange();
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    if (!node.closest(".scroll") && (box.right > width + 1 || box.left < -1)) found.wide.push(words(node));
  }
  for (const node of page.querySelectorAll("*")) {
    const isClipped = ["hidden", "clip"].includes(style(node).overflowX);
    const isHtml = node instanceof view.HTMLElement;
    if (isHtml && isClipped && isShown(node) && node.scrollWidth > node.clientWidth + 1) found.cut.push(words(node));
  }
  for (const bar of page.querySelectorAll("svg .bar, .swatch")) {
    const colour = parts(bar.closest("svg") ? style(bar).fill : style(bar).backgroundColor);
    const panel = bar.closest("svg") ? bar.closest("svg").parentElement : bar.parentElement;
    if (contrast(colour, surface(panel)) < GRAPHIC) found.faint.push(bar.parentElement.getAttribute("class"));
  }
  return found;
}

window.addEventListener("load", () => {
  const found = Array.from(document.querySelectorAll("iframe"), look);
  document.getElementById("found").textContent = JSON.stringify(found);
});
