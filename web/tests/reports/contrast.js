// Text whose contrast with what is behind it is below level AA of WCAG 2 (1.4.3): 4.5, or 3 for large text. The lowest
// first, one example per kind of element and colour.
(() => {
  // rgb(0, 114, 178), rgba(0, 0, 0, 0), and what `color-mix` gives: color(srgb 0.1 0.2 0.3 / 0.5).
  const rgba = (colour) => {
    const [, kind, parts] = colour.match(/^(rgba?|color)\((?:srgb )?(.*)\)$/) ?? ["", "", ""];
    const [r, g, b, a = 1] = parts.split(/[ ,/]+/).map(Number);
    const scale = kind === "color" ? 255 : 1;
    return { r: r * scale, g: g * scale, b: b * scale, a };
  };
  const luminance = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (part) => {
    for (let at = part; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour.a === 1) return colour;
    }
    return { r: 255, g: 255, b: 255 };
  };
  const low = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const part = texts.currentNode.parentElement;
    const shown = part.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
    if (!texts.currentNode.textContent.trim() || !shown || part.closest("title, script, style")) continue;
    const style = getComputedStyle(part);
    const ink = rgba(part.closest("svg") ? style.fill : style.color);
    const [more, less] = [luminance(ink), luminance(behind(part))].sort((a, b) => b - a);
    const contrast = (more + 0.05) / (less + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    // A colour that cannot be read is a finding too.
    if (contrast >= (large ? 3 : 4.5)) continue;
    const kind = `${part.tagName.toLowerCase()}.${[...part.classList].join(".")}`;
    const text = texts.currentNode.textContent.trim().slice(0, 30);
    low.set(`${kind} ${style.color}`, [contrast, `${kind} "${text}"`]);
  }
  return [...low.values()].sort((a, b) => a[0] - b[0]).slice(0, 5).map(([contrast, part]) => [part, contrast || 0]);
})()
