// Both systems in one picture: their windows or rates and their goodput over time, and how much more one of them delivers.

import uPlot from "uplot";
import { axis, type Table } from "./charts";
import { element } from "./dom";
import type { Info } from "./protocol";
import { rounded, type Span } from "./round";
import { colour } from "./theme";
import type { Drawn, Part } from "./view";

const HEIGHT = 132;
const LETTERS = ["A", "B"] as const;

/** Ratios closer to one than this are called equal. */
const EQUAL = 0.02;

/** The measured flows of a system, together. */
interface Runner {
  table: Table;
  /** Columns of its table. */
  columns: number[];
}

export class Race {
  private readonly said = element("p", { className: "says" });
  private readonly goodput: Overlay;
  private readonly steer: Overlay | null = null;

  constructor(place: HTMLElement, infos: [Info, Info], tables: [Table, Table], quantities: [Drawn[], Drawn[]], span: () => Span) {
    const runners = (part: Part) =>
      ([0, 1] as const).map((side) => {
        const { columns } = quantities[side].find((quantity) => quantity.part === part) ?? { columns: [] };
        const measured = columns.filter(({ flow }) => flow !== null && infos[side].flows[infos[side].drawn[flow]].measured);
        return { table: tables[side], columns: (measured.length > 0 ? measured : columns).map(({ column }) => column) };
      }) as [Runner, Runner];
    const titles = new Set(quantities.map(([{ title, columns }]) => `${title.toLowerCase()} of |, ${columns[0]?.unit}`));
    place.replaceChildren(this.said);
    this.goodput = new Overlay(place, runners("goodput"), "goodput of |, kb/s", span);
    // On a narrow page alone: else both stand side by side.
    const [title, other] = titles;
    if (!other) {
      const both = element("div", { className: "both" });
      both.dataset.part = "steer";
      place.append(both);
      this.steer = new Overlay(both, runners("steer"), title, span);
    }
  }

  draw() {
    const [a, b] = this.goodput.draw();
    this.steer?.draw();
    this.said.textContent = sentence(mean(a), mean(b));
  }

  remove() {
    this.goodput.remove();
    this.steer?.remove();
  }
}

/** A curve of each system in one chart. */
class Overlay {
  private readonly chart: uPlot;
  private readonly observer: ResizeObserver;
  private top = 1;

  constructor(
    place: HTMLElement,
    private readonly runners: [Runner, Runner],
    title: string,
    private readonly span: () => Span,
  ) {
    const picture = element("div", { className: "race-chart" });
    place.append(element("div", { className: "race-key" }, ...LETTERS.map((letter, side) => keyOf(title.replace("|", letter), side))), picture);
    this.chart = new uPlot(
      {
        width: Math.max(picture.clientWidth, 120),
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        padding: [6, 16, 0, 0],
        scales: { x: { time: false, range: span }, y: { range: () => [0, this.top] } },
        axes: [axis(24, 60), axis(46, 26)],
        series: [{}, curve(0), curve(1)],
      },
      [[], [], []],
      picture,
    );
    this.observer = new ResizeObserver(() => {
      const width = Math.max(picture.clientWidth, 120);
      if (width !== this.chart.width) this.chart.setSize({ width, height: HEIGHT });
    });
    this.observer.observe(picture);
  }

  /** What it shows of each. */
  draw(): (number | null)[][] {
    const values = this.runners.map(sums);
    let top = 0;
    const row = this.runners[0].table.rowAt(this.span()[0]);
    for (const value of values.flatMap((side) => side.slice(row))) top = Math.max(top, value ?? 0);
    this.top = rounded(top);
    const times = this.runners[0].table.columns[0];
    this.chart.setData([times, values[0], values[1].slice(0, times.length)] as uPlot.AlignedData);
    return values;
  }

  remove() {
    this.observer.disconnect();
    this.chart.destroy();
  }
}

/** What two mean goodputs, kb/s, say. */
export function sentence(a: number | null, b: number | null): string {
  if (!a && !b) return "Nothing has been delivered yet.";
  const rates = `${rate(b ?? 0)} and ${rate(a ?? 0)} so far`;
  if (!a || !b) return `Only ${a ? "A" : "B"} delivers anything: ${rate(a || b || 0)} so far.`;
  const ratio = b / a;
  if (Math.abs(ratio - 1) < EQUAL) return `B delivers as much as A: ${rates}.`;
  if (ratio < 1) return `A delivers ${times(1 / ratio)} what B delivers: ${rate(a)} and ${rate(b)} so far.`;
  return `B delivers ${times(ratio)} what A delivers: ${rates}.`;
}

function times(ratio: number): string {
  return `${ratio.toFixed(ratio < 1.095 ? 2 : 1)} times`;
}

function rate(kbps: number): string {
  return kbps >= 995 ? `${(kbps / 1000).toFixed(2)} Mb/s` : `${kbps.toFixed(0)} kb/s`;
}

/** Nothing where no flow has a value yet. */
function sums({ table, columns }: Runner): (number | null)[] {
  return Array.from({ length: table.length }, (_, row) => {
    const known = columns.map((column) => table.columns[column][row]).filter((value) => !Number.isNaN(value));
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
  });
}

function mean(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function keyOf(text: string, side: number): HTMLElement {
  const swatch = element("span", { className: "swatch" });
  swatch.dataset.side = String(side);
  return element("span", { className: "flow-key" }, swatch, text);
}

function curve(side: 0 | 1): uPlot.Series {
  return {
    stroke: () => colour(side === 0 ? "soft" : "accent"),
    width: side === 0 ? 1.5 : 2.25,
    ...(side === 0 ? { dash: [5, 3] } : {}),
    points: { show: false },
    spanGaps: false,
  };
}
