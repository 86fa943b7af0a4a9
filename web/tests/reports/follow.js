// Follows links within the page and names the targets that are not to be seen then: folded away, or behind the bar at
// the top. Of the links into folded parts, and of all, so many as people would try.
(async () => {
  const target = (link) => document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)));
  const links = [...document.querySelectorAll("main a[href^='#'], nav a[href^='#']")].filter(target);
  const folded = links.filter((link) => target(link).closest("details:not([open])"));
  const every = Math.ceil(links.length / 20);
  const hidden = new Set();
  for (const link of [...folded.slice(0, 5), ...links.filter((_, index) => index % every === 0)]) {
    location.hash = link.getAttribute("href");
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
    const part = target(link);
    const box = part.getBoundingClientRect();
    const at = document.elementFromPoint(Math.max(box.left, 0) + 1, Math.max(box.top, 0) + 1);
    const behind = at?.closest("nav") && !part.closest("nav") && part.id !== "top";
    if (part.closest("details:not([open])") || box.top < -1 || box.top >= innerHeight || behind) {
      hidden.add(link.getAttribute("href"));
    }
  }
  history.replaceState(null, "", location.pathname);
  return [...hidden];
})()
