// Shows what stands behind a number on hover and on focus. Without this script the same text is in the title.
(() => {
  const tip = document.getElementById("tip");
  const cells = document.querySelectorAll(".cell, .marks a[title]");
  const show = (cell) => {
    tip.textContent = cell.dataset.tip;
    tip.hidden = false;
    place(cell);
  };
  const place = (cell) => {
    const box = cell.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(box.left, room)) + scrollX}px`;
    const below = box.bottom + 6 + tip.offsetHeight < innerHeight;
    tip.style.top = `${(below ? box.bottom + 6 : box.top - 6 - tip.offsetHeight) + scrollY}px`;
  };
  const hide = () => { tip.hidden = true; };
  for (const cell of cells) {
    cell.dataset.tip = cell.title;
    cell.setAttribute("aria-label", cell.title);
    cell.removeAttribute("title");
    cell.addEventListener("mouseenter", () => show(cell));
    cell.addEventListener("focus", () => show(cell));
    cell.addEventListener("mouseleave", hide);
    cell.addEventListener("blur", hide);
  }
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  // Marks in drawings: the pointer, or the arrow keys once the drawing has the focus.
  const told = (mark) => {
    const title = mark.querySelector("title");
    if (title) {
      mark.dataset.tip = title.textContent;
      title.remove();
    }
    return mark;
  };
  for (const drawing of document.querySelectorAll("svg.time.chart")) {
    // Lanes have every event; what panels have of them, too, is for the pointer.
    const lanes = drawing.querySelectorAll(".lane .mark");
    const marks = lanes.length ? lanes : drawing.querySelectorAll(".mark");
    if (!marks.length) continue;
    let at = -1;
    const leave = () => {
      if (at >= 0) marks[at].classList.remove("at");
      hide();
    };
    drawing.setAttribute("tabindex", "0");
    drawing.addEventListener("mouseover", (event) => {
      const mark = event.target.closest(".mark");
      if (mark) show(told(mark)); else hide();
    });
    drawing.addEventListener("mouseleave", leave);
    drawing.addEventListener("blur", leave);
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      leave();
      at = Math.max(0, Math.min(marks.length - 1, at + step));
      marks[at].classList.add("at");
      marks[at].scrollIntoView({ block: "nearest", inline: "nearest" });
      show(told(marks[at]));
    });
  }
  // A link into something folded opens it.
  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
  // On wide pages the index stands beside the text; on narrow ones it folds away once used.
  const index = document.querySelector("nav.index details");
  const wide = matchMedia("(min-width: 75rem)");
  const fit = () => { index.open = wide.matches; };
  wide.addEventListener("change", fit);
  fit();
  index.addEventListener("click", (event) => { if (event.target.closest("a") && !wide.matches) index.open = false; });
})();
