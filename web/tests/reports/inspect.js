// What a check wants to know of a report that is open, as one object. Nothing in the page is changed.
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const ids = all("[id]").map((part) => part.id);
  const named = new Set(ids);
  const links = all("a[href]").map((link) => link.getAttribute("href"));
  const within = links.filter((link) => link.startsWith("#")).map((link) => decodeURIComponent(link.slice(1)));
  const anchor = (link) => decodeURIComponent(link.getAttribute("href").slice(1));
  const page = document.documentElement;
  const scrolled = (part) => {
    for (let at = part.parentElement; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== "visible") return true;
    }
    return false;
  };
  const name = (part) => `${part.tagName.toLowerCase()}${part.id ? `#${part.id}` : ""}` +
    (part.classList.length ? `.${[...part.classList].join(".")}` : "");
  const wide = all("body *").filter((part) => part.getBoundingClientRect().right > page.clientWidth + 1);
  const load = performance.getEntriesByType("navigation")[0];
  return {
    load_ms: load.loadEventEnd - load.startTime,
    text: document.body.innerText,
    links: within.length,
    ids_given_twice: ids.filter((id, index) => ids.indexOf(id) !== index),
    links_to_nothing: within.filter((id) => id && !named.has(id)),
    links_elsewhere: links.filter((link) => !link.startsWith("#") && !link.startsWith("data:")),
    numbers: all("a[data-number]").map((square) => [anchor(square), square.dataset.state]),
    claims: all("a[data-claim]").map((disc) => [anchor(disc), disc.dataset.state]),
    cells: all("td[id]").map((cell) => [cell.id, cell.querySelector(".mark")?.textContent ?? ""]),
    settled: all("li.claim[id]").map((claim) => [claim.id, claim.querySelector(".mark")?.textContent ?? ""]),
    scrolls_by_px: page.scrollWidth - page.clientWidth,
    too_wide: wide.filter((part) => !scrolled(part)).slice(0, 5).map(name),
  };
})()
