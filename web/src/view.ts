// What is shown of one system: packets at the watched link, its curves, its losses and verdicts.

import { Bottleneck } from "./bottleneck";
import { unitsOf, type Quantity, type Table, type Unit } from "./charts";
import { byId, element } from "./dom";
import { Losses } from "./losses";
import { Matrix } from "./matrix";
import type { Info, LossRow } from "./protocol";
import type { Span } from "./round";
import { isTerm, term } from "./terms";

/** The numbers of a quantity: which of a flow's columns it is, or the queue's. */
const OF_FLOW = { steer: 0, delay: 1, goodput: 2 } as const;

/** A part of the page that a story points at. */
export type Part = "packets" | "steer" | "goodput" | "delay" | "queue" | "losses" | "verdicts" | "race" | "links";

/** The curves of a system, with their parts: what the sender does and what comes of it stand first. */
export type Drawn = Quantity & { part: keyof typeof OF_FLOW | "queue" };

export function quantitiesOf(info: Info): Drawn[] {
  const of = (offset: number, unit: (flow: number) => Unit) =>
    info.drawn.map((flow, at) => ({ column: 2 + 3 * at + offset, flow: at, unit: unit(flow), label: info.flows[flow].name }));
  // A TCP sender has a window, any other one a rate.
  const steers = of(OF_FLOW.steer, (flow) => (info.flows[flow].protocol === "tcp" ? "packets" : "kb/s"));
  const units = new Set(steers.map(({ unit }) => unit));
  const steer = units.size > 1 ? "Congestion window; allowed rate" : units.has("kb/s") ? "Allowed rate" : "Congestion window";
  return [
    { part: "steer", title: steer, columns: steers, stepped: true },
    { part: "goodput", title: "Goodput", columns: of(OF_FLOW.goodput, () => "kb/s"), stepped: false },
    { part: "delay", title: "One-way delay", columns: of(OF_FLOW.delay, () => "ms"), stepped: false },
    { part: "queue", title: `Queue of ${info.bottleneck}`, columns: [{ column: 1, flow: null, unit: "packets", label: "queue" }], stepped: true },
  ];
}

export interface Shared {
  span: () => Span;
  /** Room for a second axis, on the right. */
  right: number;
  /** Asks for a loss by its place. */
  ask: (place: number) => Promise<LossRow>;
}

export class View {
  readonly bottleneck: Bottleneck;
  readonly losses: Losses;
  readonly matrix: Matrix;
  /** Where each quantity is drawn. */
  readonly places: HTMLElement[] = [];
  private readonly values: HTMLElement[] = [];
  private readonly others = element("span", { className: "flow-key" });
  private readonly root: HTMLElement;

  constructor(
    side: 0 | 1,
    letter: string,
    readonly info: Info,
    readonly table: Table,
    private readonly quantities: Drawn[],
    { span, right, ask }: Shared,
  ) {
    this.root = byId(`view-${side}`, HTMLDivElement);
    this.root.replaceChildren();
    const flows = info.drawn.map((flow, at) => {
      const swatch = element("span", { className: "swatch" });
      swatch.dataset.flow = String(at);
      return element("span", { className: "flow-key" }, swatch, info.flows[flow].name);
    });
    this.showOthers();
    this.bottleneck = new Bottleneck(this.part("packets", `Packets at ${info.bottleneck}`, "", ...flows, this.others), info.drawn);
    const [steer, goodput, ...rest] = quantities;
    this.curve(steer);
    this.curve(goodput);
    const legend = "● verdict right ▲ wrong ○ none";
    const whatFell = (from: number, to: number) => this.fall(steer, from, to);
    this.losses = new Losses(this.part("losses", "Losses by true cause", legend), span, right, letter, ask, whatFell);
    this.matrix = new Matrix(this.part("verdicts", "Verdicts", ""), info.algorithms);
    for (const quantity of rest) this.curve(quantity);
  }

  remove() {
    this.bottleneck.remove();
    this.losses.remove();
  }

  /** The number of each quantity now. */
  showValues() {
    this.matrix.showLosses(...this.losses.counts);
    const last = this.table.length - 1;
    this.quantities.forEach(({ columns }, at) => {
      const now = columns.map(({ column, unit }) => (last < 0 ? "" : brief(this.table.columns[column][last], unit)));
      this.values[at].textContent = now.join(" · ");
    });
  }

  /** How many flows have no colour of their own. */
  showOthers() {
    const others = this.info.flows.length - this.info.drawn.length;
    this.others.hidden = others === 0;
    const swatch = element("span", { className: "swatch" });
    swatch.dataset.flow = "other";
    this.others.replaceChildren(swatch, others === 1 ? "1 other flow" : `${others} other flows`);
  }

  /** What the window or the rate of the only flow was at an instant, and its least until another one. */
  private fall({ columns }: Drawn, from: number, to: number): string {
    const [times] = this.table.columns;
    const [curve] = columns;
    const first = this.table.rowAt(from) - 1;
    if (columns.length !== 1 || first < 0 || times[times.length - 1] < to) return "";
    const values = this.table.columns[curve.column];
    const before = values[first];
    let least = before;
    for (let row = first + 1; row < this.table.rowAt(to); row += 1) least = Math.min(least, values[row]);
    if (!(before > 0)) return "";
    const what = curve.unit === "packets" ? "the window" : "the rate";
    const unit = curve.unit === "packets" ? "" : ` ${curve.unit}`;
    const [high, low] = [before.toFixed(0), least.toFixed(0)];
    const fell = Number(low) < Number(high) ? `fell from ${high} to ${low}${unit}` : `stayed at ${high}${unit} or above`;
    return ` In the ${(to - from).toFixed(1)} s after, ${what} ${fell}.`;
  }

  private curve(quantity: Drawn) {
    const value = element("span", { className: "value" });
    this.values.push(value);
    const units = unitsOf(quantity);
    const told = units.length > 1 ? `${units[0]}, left; ${units[1]}, right` : (units[0] ?? "");
    this.places.push(this.part(quantity.part, quantity.title, told, value));
  }

  private part(name: Part, title: string, unit: string, ...more: HTMLElement[]): HTMLElement {
    const place = element("div", {});
    const word = name === "queue" ? term("Queue", title) : isTerm(title) ? term(title) : title;
    const head = element("h3", {}, word, element("span", { className: "unit" }, unit), ...more);
    const part = element("div", { className: "part" }, head, place);
    part.dataset.part = name;
    this.root.append(part);
    return place;
  }
}

function brief(value: number, unit: Unit): string {
  if (Number.isNaN(value)) return "–";
  return unit === "packets" && Number.isInteger(value) ? String(value) : value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
