// Every loss as a mark over time: the row tells the true cause, the shape tells whether the verdict is right. Right verdicts
// hang below the line of their row, wrong ones stand above it, so that many of both can be told apart.

import { Canvas } from "./canvas";
import { button, element } from "./dom";
import type { LossRow } from "./protocol";
import type { Span } from "./round";
import { colour } from "./theme";

const HEIGHT = 72;
const LEFT = 46;
const ROW = { congestion: 18, wireless: 52 };
/** So long after a loss is told what the window did, seconds: a few round trips. */
const AFTER_S = 0.6;
/** From the line of a row to its marks. */
const AWAY = 6;

interface Mark {
  flow: number;
  at: number;
  cause: number;
  verdict: number;
}

export class Losses {
  private readonly canvas: Canvas;
  private readonly marks: Mark[] = [];
  /** Packets of all flows that the queues dropped, and that the air corrupted. */
  readonly counts: [number, number] = [0, 0];
  private chosen = -1;
  private readonly said = element("output", { className: "loss" });
  private readonly total = element("span", { className: "count" });
  private dirty = true;
  private drawnTo = "";

  constructor(
    place: HTMLElement,
    private readonly span: () => Span,
    private readonly right: number,
    side: string,
    private readonly ask: (place: number) => Promise<LossRow>,
    private readonly whatFell: (from: number, to: number) => string,
  ) {
    const strip = element("div", { className: "strip" });
    const back = button("◀", () => this.step(-1), { title: `Previous loss of system ${side}` });
    const forth = button("▶", () => this.step(1), { title: `Next loss of system ${side}` });
    place.replaceChildren(strip, element("div", { className: "loss-line" }, back, forth, this.total, this.said));
    this.canvas = new Canvas(strip, HEIGHT, () => this.draw());
    this.canvas.element.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.element.addEventListener("pointerdown", (event) => this.point(event));
    this.clear();
  }

  remove() {
    this.canvas.remove();
  }

  clear() {
    this.marks.length = 0;
    this.counts.fill(0);
    this.chosen = -1;
    this.said.textContent = "Point at a mark, or step through them, to read the verdict and its reason.";
    this.dirty = true;
  }

  take(losses: Float64Array) {
    for (let i = 0; i + 8 <= losses.length; i += 8) {
      const [place, flow, at, , cause, verdict] = losses.subarray(i, i + 6);
      const before = this.marks[place];
      if (before) this.count(before, -1);
      this.marks[place] = { flow, at, cause, verdict };
      this.count(this.marks[place], 1);
      if (place === this.chosen) void this.choose(place);
    }
    if (losses.length > 0) this.dirty = true;
  }

  private count({ cause }: Mark, by: number) {
    if (cause === 0 || cause === 1) this.counts[cause] += by;
  }

  /** Draws if a loss came, or the axis of time has grown. */
  drawNow() {
    if (this.dirty || this.drawnTo !== this.span().join()) this.draw();
  }

  private x(at: number): number {
    const [from, to] = this.span();
    return LEFT + ((at - from) / (to - from)) * (this.canvas.width - LEFT - this.right);
  }

  draw() {
    this.dirty = false;
    this.drawnTo = this.span().join();
    const { context, width } = this.canvas;
    context.clearRect(0, 0, width, HEIGHT);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const [name, y] of Object.entries(ROW)) {
      context.strokeStyle = colour("line");
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(LEFT, y + 0.5);
      context.lineTo(width - this.right, y + 0.5);
      context.stroke();
      context.fillStyle = colour("soft");
      context.fillText(name === "congestion" ? "queue" : "air", LEFT - 8, y);
    }
    // Marks that look alike and fall on the same pixel are drawn once: thousands cost no more than the strip has pixels.
    const drawn = new Set<number>();
    this.marks.forEach((mark, place) => {
      if (place === this.chosen) return;
      const look = Math.round(this.x(mark.at)) * 16 + (mark.cause + 1) * 4 + mark.verdict + 1;
      if (drawn.has(look)) return;
      drawn.add(look);
      this.mark(mark, false);
    });
    const chosen = this.marks[this.chosen];
    if (chosen) this.mark(chosen, true);
    this.total.textContent = this.marks.length === 1 ? "1 loss" : `${this.marks.length} losses`;
  }

  private static isRight({ cause, verdict }: Mark): boolean {
    return cause >= 0 && verdict === cause;
  }

  private static isWrong({ cause, verdict }: Mark): boolean {
    return cause >= 0 && verdict === 1 - cause;
  }

  private y(mark: Mark): number {
    const line = mark.cause === 0 ? ROW.congestion : mark.cause === 1 ? ROW.wireless : (ROW.congestion + ROW.wireless) / 2;
    return line + (Losses.isRight(mark) ? AWAY : Losses.isWrong(mark) ? -AWAY : 0);
  }

  /** A disc: the verdict is the true cause. A triangle: it is not. A ring: undecided, not judged, or not lost at all. */
  private mark(mark: Mark, chosen: boolean) {
    const { context } = this.canvas;
    const { cause } = mark;
    const [x, y] = [this.x(mark.at), this.y(mark)];
    if (x < LEFT) return;
    const ink = cause === 0 ? colour("congestion") : cause === 1 ? colour("wireless") : colour("soft");
    context.strokeStyle = ink;
    context.fillStyle = ink;
    if (Losses.isRight(mark)) {
      context.beginPath();
      context.arc(x, y, 3.2, 0, 2 * Math.PI);
      context.fill();
    } else if (Losses.isWrong(mark)) {
      context.fillStyle = colour("bad");
      context.beginPath();
      context.moveTo(x, y - 4.5);
      context.lineTo(x + 4.5, y + 3.5);
      context.lineTo(x - 4.5, y + 3.5);
      context.fill();
    } else {
      context.lineWidth = 1.25;
      context.beginPath();
      context.arc(x, y, 3.2, 0, 2 * Math.PI);
      context.stroke();
    }
    if (chosen) {
      context.strokeStyle = colour("ink");
      context.lineWidth = 1.5;
      context.strokeRect(x - 7, y - 7, 14, 14);
    }
  }

  private point(event: PointerEvent) {
    const box = this.canvas.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, nearest] = [-1, 10];
    this.marks.forEach((mark, place) => {
      const distance = Math.abs(this.x(mark.at) - x) + Math.abs(this.y(mark) - y) / 4;
      if (distance < nearest) [best, nearest] = [place, distance];
    });
    if (best >= 0 && best !== this.chosen) void this.choose(best);
  }

  private step(by: number) {
    if (this.marks.length === 0) {
      this.said.textContent = "Nothing has been lost yet.";
      return;
    }
    const from = this.chosen < 0 && by < 0 ? 0 : this.chosen;
    void this.choose((from + by + this.marks.length) % this.marks.length);
  }

  private async choose(place: number) {
    this.chosen = place;
    this.draw();
    const row = await this.ask(place).catch(() => null);
    if (!row || place !== this.chosen) return;
    const fell = row.lost_s === null ? "" : this.whatFell(row.lost_s, row.lost_s + AFTER_S);
    this.said.textContent = sentence(row) + fell;
  }
}

/** A loss in words. */
export function sentence(row: LossRow): string {
  const lost =
    row.lost_s === null
      ? `Packet ${row.seq} of ${row.flow} was not lost`
      : `Packet ${row.seq} of ${row.flow}, ${row.lost_s.toFixed(3)} s, was ${row.cause === "wireless" ? "corrupted on" : "dropped at"} ${row.link}`;
  if (row.verdict === null) return `${lost}. ${row.algorithm ? `${row.algorithm} has not judged it.` : "No algorithm judges it."}`;
  const right = row.is_right === null ? "" : row.is_right ? " (right)" : " (wrong)";
  return `${lost}. ${row.algorithm ?? "The sender"}: ${row.verdict}${right}${row.reason ? `; ${row.reason}` : ""}.`;
}
