// What each algorithm said of losses, by their true cause.

import { element } from "./dom";

const COLUMNS = ["congestion", "wireless", "undecided", "not judged"];

export class Matrix {
  private readonly cells: HTMLTableCellElement[] = [];
  private readonly errors: HTMLElement[] = [];
  private readonly without: HTMLElement | null = null;
  private shown = "";

  constructor(place: HTMLElement, algorithms: string[]) {
    if (algorithms.length === 0) {
      this.without = element("p", { className: "soft" });
      place.replaceChildren(this.without);
      this.showLosses(0, 0);
      return;
    }
    place.replaceChildren(...algorithms.map((algorithm) => this.table(algorithm)));
  }

  private table(algorithm: string): HTMLElement {
    const head = element(
      "tr",
      {},
      element("td", {}, "true cause"),
      ...COLUMNS.map((name) => element("th", { scope: "col" }, name)),
    );
    const row = (cause: string) => {
      const cells = COLUMNS.map(() => element("td", { className: "cell" }, "0"));
      this.cells.push(...cells);
      return element("tr", {}, element("th", { scope: "row" }, cause), ...cells);
    };
    const error = element("p", { className: "soft small" });
    this.errors.push(error);
    const caption = element("caption", {}, `${algorithm} said`);
    return element(
      "div",
      { className: "matrix" },
      element("table", {}, caption, element("thead", {}, head), element("tbody", {}, row("congestion"), row("wireless"))),
      error,
    );
  }

  /** Without an algorithm there is one answer to every loss. */
  showLosses(queue: number, air: number) {
    if (this.without) {
      this.without.textContent = `No algorithm judges here: every loss counts as congestion. The queue dropped ${queue}; the air corrupted ${air}, and the sender slows down for them too.`;
    }
  }

  show(verdicts: Float64Array) {
    const text = verdicts.join();
    if (text === this.shown) return;
    this.shown = text;
    verdicts.forEach((count, at) => {
      const cell = this.cells[at];
      if (!cell) return;
      const row = at - (at % 4);
      const all = verdicts.slice(row, row + 4).reduce((sum, value) => sum + value, 0);
      cell.textContent = String(count);
      const isRight = at % 8 === 0 || at % 8 === 5;
      const isWrong = at % 8 === 1 || at % 8 === 4;
      cell.dataset.kind = isRight ? "right" : isWrong ? "wrong" : "open";
      cell.dataset.share = all === 0 ? "0" : String(Math.ceil((4 * count) / all));
    });
    this.errors.forEach((line, table) => {
      const [cc, cw, cu, , wc, ww, wu] = verdicts.subarray(8 * table, 8 * table + 8);
      const share = (part: number, whole: number) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "–");
      line.textContent = `M_c ${share(cw, cc + cw + cu)}: congestion called wireless · M_w ${share(wc, wc + ww + wu)}: wireless called congestion, of the judged losses`;
    });
  }
}
