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
  const titled = (mark) => {
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
      if (mark) show(titled(mark)); else hide();
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
      drawing.dispatchEvent(new CustomEvent("mark", { detail: marks[at] }));
      show(titled(marks[at]));
    });
  }
  // One instant in all drawings of a capture or a run: a line in each, and below it what its curves have there.
  const numbers = (text) => text.split(" ").map(Number);
  const shown = (value) => (value === 0 ? "0" : String(Number(value.toPrecision(3))));
  const points = (path) => {
    let [x, y] = [0, 0];
    const found = [];
    for (const [, move, first, second] of path.getAttribute("d").matchAll(/([MLHV])(-?[\d.]+)(?: (-?[\d.]+))?/g)) {
      if (move === "V") y = Number(first);
      else x = Number(first);
      if (second !== undefined) y = Number(second);
      found.push([x, y]);
    }
    return found;
  };
  const charts = [...document.querySelectorAll("svg.time.chart[data-time]")].map((drawing) => {
    const [left, from, right, to] = numbers(drawing.dataset.time);
    const [top, bottom] = numbers(drawing.dataset.ends);
    const line = document.createElementNS(drawing.namespaceURI, "path");
    line.setAttribute("class", "cursor");
    const curves = [...drawing.querySelectorAll("path[data-scale]")];
    const note = drawing.closest("section")?.querySelector(".instant-at");
    const group = drawing.closest("[data-clock]") ?? document.body;
    return { drawing, left, from, right, to, top, bottom, line, curves, note, group };
  });
  // What a curve has at an instant; of a step of time, its smallest and its largest value.
  const told = (curve, x) => {
    curve.points ??= points(curve);
    const isHeld = !curve.getAttribute("d").includes("L");
    const near = isHeld
      ? curve.points.findLast(([at]) => at <= x)
      : curve.points.reduce((best, point) => (Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best), [1e9, 0]);
    if (!near || (!isHeld && Math.abs(near[0] - x) > 8)) return null;
    const [y0, least, y1, most] = numbers(curve.dataset.scale);
    const value = (y) => least + ((y - y0) / (y1 - y0)) * (most - least);
    const all = isHeld ? [near] : curve.points.filter(([at]) => at === near[0]);
    const values = all.map(([, y]) => value(y));
    const ends = [...new Set([Math.min(...values), Math.max(...values)].map(shown))];
    return `${curve.querySelector("title")?.textContent ?? ""} ${ends.join(" to ")} ${curve.dataset.unit}`;
  };
  const showInstant = (group, time) => {
    for (const chart of charts.filter((one) => one.group === group)) {
      const isInside = time >= chart.from && time <= chart.to;
      if (chart.note) chart.note.hidden = !isInside;
      if (!isInside) {
        chart.line.remove();
        continue;
      }
      const x = chart.left + ((time - chart.from) / (chart.to - chart.from)) * (chart.right - chart.left);
      chart.line.setAttribute("d", `M${x.toFixed(1)} ${chart.top}V${chart.bottom}`);
      chart.drawing.append(chart.line);
      if (!chart.note) continue;
      const values = chart.curves.map((curve) => told(curve, x)).filter((text) => text !== null);
      chart.note.textContent = `At ${time.toFixed(3)} s: ${values.join("; ")}.`;
    }
  };
  for (const chart of charts) {
    const instant = (x) => {
      const share = Math.min(1, Math.max(0, (x - chart.left) / (chart.right - chart.left)));
      showInstant(chart.group, chart.from + share * (chart.to - chart.from));
    };
    const point = (event) => {
      const box = chart.drawing.getBoundingClientRect();
      instant(((event.clientX - box.left) / box.width) * chart.drawing.viewBox.baseVal.width);
    };
    for (const event of ["pointermove", "pointerdown"]) chart.drawing.addEventListener(event, point);
    // The keyboard goes from mark to mark.
    chart.drawing.addEventListener("mark", ({ detail }) => instant(parseFloat(detail.getAttribute("d").slice(1))));
  }
  // On a phone the cells of a row stand below each other, with their columns' names.
  for (const table of document.querySelectorAll("table.stack")) {
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, place) => { cell.dataset.head = heads[place]; });
    table.classList.add("named");
  }
  // Flows of a host, a port or a number: others are hidden.
  const has = (flow, words) => words.every((word) => {
    const [id, ...ends] = flow.toLowerCase().split(" ");
    return id === word || ends.some((end) => end.includes(word));
  });
  // The number of a row, which stands in brackets if the flow is minor, and its ends.
  const ends = (row) => [...row.cells].slice(0, 3).map((cell) => cell.textContent.replace(/^\(|\)$/g, "")).join(" ");
  for (const box of document.querySelectorAll(".filter input")) {
    const said = box.closest(".filter").querySelector("output");
    const flows = [...document.getElementById(box.dataset.of).querySelectorAll("[data-flow], [data-flows] tbody tr")];
    box.closest(".filter").hidden = false;
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/).filter((word) => word);
      for (const flow of flows) flow.hidden = !has(flow.dataset.flow ?? ends(flow), words);
      const rows = flows.filter((flow) => flow.tagName === "TR");
      said.textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} flows` : "";
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
