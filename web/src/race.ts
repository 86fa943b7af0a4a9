// Both systems in one picture: their goodput over time, and how much more one of them delivers.

import uPlot from "uplot";
import { axis, type Table } from "./charts";
import { element } from "./dom";
import type { Info } from "./protocol";
import { rounded } from "./round";
import { colour } from "./theme";

const HEIGHT = 132;
const LETTERS = ["A", "B"] as const;

/** Ratios closer to one than this are called equal. */
const EQUAL = 0.02;

/** The goodput of the measured flows of a system, together. */
interface Runner {
  table: Table;
  /** Columns of its table, kb/s. */
  columns: number[];
}

export class Race {
  private readonly said = element("p", { className: "says" });
  private readonly chart: uPlot;
  private readonly observer: ResizeObserver;
  private readonly runners: [Runner, Runner];
  private top = 1;

  constructor(
    private readonly place: HTMLElement,
    infos: [Info, Info],
    tables: [Table, Table],
    horizon: () => number,
  ) {
    const runner = (side: 0 | 1): Runner => ({ table: tables[side], columns: columnsOf(infos[side]) });
    this.runners = [runner(0), runner(1)];
    const picture = element("div", { className: "race-chart" });
    place.replaceChildren(this.said, element("div", { className: "race-key" }, ...LETTERS.map(keyOf)), picture);
    this.chart = new uPlot(
      {
        width: Math.max(picture.clientWidth, 120),
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        padding: [6, 16, 0, 0],
        scales: { x: { time: false, range: () => [0, horizon()] }, y: { range: () => [0, this.top] } },
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

  draw() {
    const [a, b] = this.runners.map(goodputs);
    let top = 0;
    for (const value of [...a, ...b]) if (value !== null && value > top) top = value;
    this.top = rounded(top);
    const times = this.runners[0].table.columns[0];
    const data = [times, a, b.slice(0, times.length)];
    this.chart.setData(data as uPlot.AlignedData);
    this.said.textContent = sentence(mean(a), mean(b));
  }

  remove() {
    this.observer.disconnect();
    this.chart.destroy();
    this.place.replaceChildren();
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

function columnsOf(info: Info): number[] {
  const measured = info.drawn.map((flow, at) => ({ at, isMeasured: info.flows[flow].measured }));
  const counted = measured.some(({ isMeasured }) => isMeasured) ? measured.filter(({ isMeasured }) => isMeasured) : measured;
  return counted.map(({ at }) => 2 + 3 * at + 2);
}

/** Nothing where no flow has a goodput yet. */
function goodputs({ table, columns }: Runner): (number | null)[] {
  return Array.from({ length: table.length }, (_, row) => {
    const known = columns.map((column) => table.columns[column][row]).filter((value) => !Number.isNaN(value));
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
  });
}

function mean(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function keyOf(letter: string, side: number): HTMLElement {
  const swatch = element("span", { className: "swatch" });
  swatch.dataset.side = String(side);
  return element("span", { className: "flow-key" }, swatch, `goodput of ${letter}, kb/s`);
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
