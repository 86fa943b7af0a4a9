// The losses of a flow over time, each at the queueing delay that it met, in front of the delay of all packets; below them the
// bytes in queues and the rate. All show the same instant.

import { LEFT, RIGHT, label, ticks } from "./capture-axis";
import { Canvas } from "./canvas";
import type { FlowView, Look } from "./capture-protocol";
import { Strip, drawInstant, told, type Series } from "./capture-strip";
import { button, element } from "./dom";
import { colour } from "./theme";

const HEIGHT = 190;
const TOP = 12;
/** Below the delays: a lane of the losses whose delay is not known, and the time. */
const LANE = 26;
const TIME = 22;
/** Pixels from a mark within which a pointer chooses it. */
const NEAR = 14;

/** What the algorithm calls a loss, by its number. */
export const VERDICTS = ["congestion", "wireless", "undecided"] as const;
type Verdict = (typeof VERDICTS)[number];

function ink(look: Look): string {
  if (look === "timer") return colour("ink");
  return colour(look === "undecided" ? "soft" : look);
}

/** Colour and shape tell the kind: a circle is wireless, a square congestion, a ring undecided, a stroke a timer's. */
export function mark(context: CanvasRenderingContext2D, look: Look, x: number, y: number) {
  context.fillStyle = context.strokeStyle = ink(look);
  context.lineWidth = 1.5;
  if (look === "congestion") {
    context.fillRect(x - 3, y - 3, 6, 6);
    return;
  }
  if (look === "timer") {
    context.fillRect(x - 1, y - 6, 2, 12);
    return;
  }
  context.beginPath();
  context.arc(x, y, 3.2, 0, 2 * Math.PI);
  if (look === "wireless") context.fill();
  else context.stroke();
}

/** What is drawn of a flow over time, the delays first. */
function seriesOf(flow: FlowView): Series[] {
  const kilo = ([at, least, top]: [number, number, number]): [number, number, number] => [at, least / 1e3, top / 1e3];
  const rates = flow.rate_kbps.map(([at, kbps]): [number, number, number] => [at, kbps, kbps]);
  const all: Series[] = [
    { name: "queueing delay", unit: "ms", steps: flow.queueing_ms, isHeld: false, limit: null },
    { name: "in queues, about", unit: "kB", steps: flow.queue_bytes.map(kilo), isHeld: false, limit: null },
    { name: "rate of data", unit: "kb/s", steps: rates, isHeld: true, limit: flow.path_kbps },
  ];
  return all.filter((series, place) => place === 0 || series.steps.length > 0);
}

export class LossChart {
  private readonly canvas: Canvas;
  private readonly said = element("output", { className: "loss" });
  private readonly times: number[];
  private readonly delays: (number | null)[];
  private readonly verdicts: Verdict[];
  private readonly looks: Look[];
  private readonly hasLane: boolean;
  private readonly most: number;
  private readonly duration: number;
  private chosen = -1;
  private instant: number | null = null;
  private readonly series: Series[];
  private readonly strips: Strip[];
  private readonly seen = element("output", { className: "soft small instant" });

  /** `ask` is called for every loss that is chosen; the answer is handed to `tell`. `instantOf` is called for every instant that is
   * pointed at, none if there is none; every drawing is to show it. */
  constructor(
    place: HTMLElement,
    private readonly flow: FlowView,
    private readonly ask: (loss: number) => void,
    private readonly instantOf: (at: number | null) => void,
  ) {
    const { time_s, queueing_ms, verdict } = flow.losses;
    this.times = time_s;
    this.delays = queueing_ms;
    this.verdicts = verdict.map((code) => VERDICTS[code]);
    this.looks = flow.losses.kind.map((place) => flow.kinds[place].look);
    this.hasLane = queueing_ms.includes(null);
    this.duration = Math.max(flow.to_s - flow.from_s, 1e-3);
    let most = 0;
    for (const [, , top] of flow.queueing_ms) most = Math.max(most, top);
    for (const delay of queueing_ms) most = Math.max(most, delay ?? 0);
    this.most = most;
    const strip = element("div", { className: "strip" });
    const back = button("◀", () => this.step(-1), { title: `Previous loss of flow ${flow.id}` });
    const forth = button("▶", () => this.step(1), { title: `Next loss of flow ${flow.id}` });
    const count = element("span", { className: "count" }, time_s.length === 1 ? "1 loss" : `${time_s.length} losses`);
    this.said.textContent = "Point at a mark, or step through them, to read what was compared.";
    const below = element("div", { className: "strips" });
    place.append(strip, below, this.seen);
    if (time_s.length > 0) place.append(element("div", { className: "loss-line" }, back, forth, count, this.said));
    this.canvas = new Canvas(strip, HEIGHT, () => this.draw());
    this.series = seriesOf(flow);
    // The delays are drawn above, with the losses.
    this.strips = this.series.slice(1).map((series) => {
      const own = element("div", {});
      below.append(own);
      return new Strip(own, series, (at, width) => this.x(at, width), (x, width) => this.instantAt(x, width));
    });
    this.canvas.element.addEventListener("pointerleave", () => this.instantOf(null));
    below.addEventListener("pointerleave", () => this.instantOf(null));
    this.canvas.element.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.element.addEventListener("pointerdown", (event) => this.point(event));
    this.draw();
  }

  remove() {
    this.canvas.remove();
    for (const strip of this.strips) strip.remove();
  }

  /** Shows an instant, if the flow has it, and what its curves have then. */
  showInstant(at: number | null) {
    const { from_s: from, to_s: to } = this.flow;
    this.instant = at !== null && at >= from && at <= to ? at : null;
    for (const strip of this.strips) strip.showInstant(this.instant);
    this.draw();
    if (this.instant === null) return void (this.seen.textContent = "");
    const near = this.duration / 100;
    const values = this.series.map((series) => told(series, this.instant ?? 0, near)).filter((text) => text !== null);
    this.seen.textContent = [`At ${this.instant.toFixed(3)} s`, ...values].join("; ");
  }

  private instantAt(x: number, width: number) {
    const share = Math.min(1, Math.max(0, (x - LEFT) / (width - LEFT - RIGHT)));
    this.instantOf(this.flow.from_s + share * this.duration);
  }

  /** Shows a loss in words, unless another one was chosen meanwhile. */
  tell(loss: number, words: [string, string] | null) {
    if (loss !== this.chosen || !words) return;
    this.said.replaceChildren(element("b", {}, this.verdicts[loss]), ` – ${words[0]}. ${words[1]}.`);
  }

  private get bottom(): number {
    return HEIGHT - TIME - (this.hasLane ? LANE : 0);
  }

  private x(at: number, width = this.canvas.width): number {
    return LEFT + ((at - this.flow.from_s) / this.duration) * (width - LEFT - RIGHT);
  }

  private y(delay: number | null): number {
    if (delay === null) return HEIGHT - TIME - LANE / 2 + 3;
    return this.bottom - (this.most > 0 ? delay / this.most : 0) * (this.bottom - TOP);
  }

  draw() {
    const { context, width } = this.canvas;
    context.clearRect(0, 0, width, HEIGHT);
    context.font = "11px system-ui, sans-serif";
    this.axes();
    this.band();
    drawInstant(context, this.instant === null ? null : this.x(this.instant), this.bottom);
    // Marks that look alike and fall on the same pixel are drawn once.
    const drawn = new Set<string>();
    this.times.forEach((at, loss) => {
      const [x, y] = [this.x(at), this.y(this.delays[loss])];
      const spot = `${Math.round(x)} ${Math.round(y)} ${this.looks[loss]}`;
      if (drawn.has(spot)) return;
      drawn.add(spot);
      mark(context, this.looks[loss], x, y);
    });
    if (this.chosen < 0) return;
    const [x, y] = [this.x(this.times[this.chosen]), this.y(this.delays[this.chosen])];
    mark(context, this.looks[this.chosen], x, y);
    context.strokeStyle = colour("ink");
    context.lineWidth = 1.5;
    context.strokeRect(x - 7, y - 7, 14, 14);
  }

  private line(y: number) {
    const { context, width } = this.canvas;
    context.beginPath();
    context.moveTo(LEFT, Math.round(y) + 0.5);
    context.lineTo(width - RIGHT, Math.round(y) + 0.5);
    context.stroke();
  }

  private axes() {
    const { context, width } = this.canvas;
    context.strokeStyle = colour("line");
    context.fillStyle = colour("soft");
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const delay of this.most > 0 ? ticks(0, this.most, 4) : [0]) {
      this.line(this.y(delay));
      context.fillText(label(delay), LEFT - 8, this.y(delay));
    }
    if (this.hasLane) {
      this.line(this.y(null));
      context.fillText("not", LEFT - 8, this.y(null) - 6);
      context.fillText("known", LEFT - 8, this.y(null) + 6);
    }
    context.textAlign = "center";
    const { from_s: from, to_s: to } = this.flow;
    for (const second of ticks(from, Math.max(to, from + 1e-3), Math.max(2, Math.floor(width / 80)))) {
      const text = `${label(second)} s`;
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(this.x(second), half), width - half), HEIGHT - TIME / 2 + 2);
    }
  }

  /** From the smallest to the largest delay of every step. */
  private band() {
    const steps = this.flow.queueing_ms;
    if (steps.length === 0) return;
    const { context } = this.canvas;
    context.beginPath();
    for (const [at, , top] of steps) context.lineTo(this.x(at), this.y(top) - 0.5);
    for (const [at, least] of steps.toReversed()) context.lineTo(this.x(at), this.y(least) + 0.5);
    context.closePath();
    context.fillStyle = context.strokeStyle = colour("soft");
    context.lineWidth = 1;
    context.globalAlpha = 0.4;
    context.fill();
    // Where the delay leaps from step to step, the band is thinner than a pixel.
    context.stroke();
    context.globalAlpha = 1;
  }

  private point(event: PointerEvent) {
    const box = this.canvas.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    this.instantAt(x, this.canvas.width);
    let [best, nearest] = [-1, NEAR];
    this.times.forEach((at, loss) => {
      const distance = Math.hypot(this.x(at) - x, this.y(this.delays[loss]) - y);
      if (distance < nearest) [best, nearest] = [loss, distance];
    });
    if (best >= 0 && best !== this.chosen) this.choose(best);
  }

  private step(by: number) {
    const count = this.times.length;
    if (count > 0) this.choose(this.chosen < 0 ? (by > 0 ? 0 : count - 1) : (this.chosen + by + count) % count);
  }

  private choose(loss: number) {
    this.chosen = loss;
    this.instantOf(this.times[loss]);
    this.draw();
    this.ask(loss);
  }
}
