// Curves over time. Both systems of a quantity share the scale of a unit, so that what looks alike is alike.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { rounded, type Span } from "./round";
import { colour, flowColour } from "./theme";

export interface Quantity {
  title: string;
  /** The columns of a row that are drawn, and the flow that each belongs to, or none for the queue. */
  columns: Curve[];
  stepped: boolean;
}

interface Curve {
  column: number;
  flow: number | null;
  unit: Unit;
  label: string;
}

export type Unit = "packets" | "kb/s" | "ms";

/** The units of a quantity: the first has its axis on the left, another one on the right. */
export function unitsOf({ columns }: Quantity): Unit[] {
  return [...new Set(columns.map(({ unit }) => unit))];
}

/** Rows of numbers, column by column. */
export class Table {
  columns: number[][];
  constructor(width: number) {
    this.columns = Array.from({ length: width }, () => []);
  }
  append(rows: Float64Array) {
    const width = this.columns.length;
    for (let at = 0; at + width <= rows.length; at += width) {
      for (let column = 0; column < width; column += 1) this.columns[column].push(rows[at + column]);
    }
  }
  clear() {
    for (const column of this.columns) column.length = 0;
  }
  /** The first row at an instant or after it. */
  rowAt(seconds: number): number {
    const row = seconds <= 0 ? 0 : this.columns[0].findIndex((at) => at >= seconds);
    return row < 0 ? this.length : row;
  }
  get length(): number {
    return this.columns[0].length;
  }
}

/** The two charts of a quantity. */
export class Pair {
  private readonly charts: [uPlot, uPlot];
  private readonly observer: ResizeObserver;
  /** What each unit's axis ends with. */
  private readonly tops = new Map<Unit, number>();

  constructor(
    private readonly quantities: [Quantity, Quantity],
    private readonly tables: [Table, Table],
    places: [HTMLElement, HTMLElement],
    private readonly span: () => Span,
    right: number,
    seekTo: (seconds: number) => void,
  ) {
    const height = 132;
    const chart = (side: 0 | 1) => {
      const units = unitsOf(quantities[side]);
      const range = (unit: Unit): uPlot.Scale => ({ range: () => [0, this.tops.get(unit) ?? 1] });
      const options: uPlot.Options = {
        width: Math.max(places[side].clientWidth, 120),
        height,
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        padding: [6, units.length > 1 ? 0 : right, 0, 0],
        scales: { x: { time: false, range: span }, ...Object.fromEntries(units.map((unit) => [unit, range(unit)])) },
        axes: [
          axis(24, 60),
          ...units.map((unit, at) =>
            // One grid is enough.
            at === 0 ? { ...axis(46, 26), scale: unit } : { ...axis(right, 26), scale: unit, side: 1 as const, grid: { show: false } },
          ),
        ],
        series: [{}, ...quantities[side].columns.map(({ flow, unit }) => series(flow, unit, quantities[side].stepped))],
        hooks: {
          init: [
            (made) => {
              made.over.addEventListener("dblclick", () => seekTo(made.posToVal(made.cursor.left ?? 0, "x")));
            },
          ],
          draw: [(made) => labels(made, quantities[side].columns)],
        },
      };
      return new uPlot(options, [[], ...quantities[side].columns.map(() => [])], places[side]);
    };
    this.charts = [chart(0), chart(1)];
    this.observer = new ResizeObserver(() => {
      for (const side of [0, 1] as const) {
        const width = Math.max(places[side].clientWidth, 120);
        if (width !== this.charts[side].width) this.charts[side].setSize({ width, height });
      }
    });
    for (const place of places) this.observer.observe(place);
  }

  draw() {
    const tops = new Map<Unit, number>();
    const [from] = this.span();
    for (const side of [0, 1] as const) {
      const table = this.tables[side];
      for (const { column, unit } of this.quantities[side].columns) {
        let top = tops.get(unit) ?? 0;
        for (let row = table.rowAt(from); row < table.length; row += 1) top = Math.max(top, table.columns[column][row] || 0);
        tops.set(unit, top);
      }
    }
    for (const [unit, top] of tops) this.tops.set(unit, rounded(top));
    for (const side of [0, 1] as const) {
      const { columns } = this.tables[side];
      const gaps = (column: number[]) => column.map((value) => (Number.isNaN(value) ? null : value));
      const data = [columns[0], ...this.quantities[side].columns.map(({ column }) => gaps(columns[column]))];
      this.charts[side].setData(data as uPlot.AlignedData);
    }
  }

  remove() {
    this.observer.disconnect();
    for (const chart of this.charts) chart.destroy();
  }
}

/** Names several curves where they end, so far apart that each can be read. */
function labels(chart: uPlot, curves: Curve[]) {
  if (curves.length < 2) return;
  const [times] = chart.data;
  const tips = curves.flatMap(({ flow, unit, label }, at) => {
    const values = chart.data[at + 1];
    let last = values.length - 1;
    while (last >= 0 && values[last] === null) last -= 1;
    if (last < 0) return [];
    return [{ x: chart.valToPos(times[last], "x", true), y: chart.valToPos(values[last] ?? 0, unit, true), flow, label }];
  });
  const { ctx, bbox } = chart;
  const scale = devicePixelRatio || 1;
  const apart = 12 * scale;
  tips.sort((a, b) => a.y - b.y);
  // Down from the top, then up from the bottom.
  let free = bbox.top;
  for (const tip of tips) {
    tip.y = Math.max(tip.y, free);
    free = tip.y + apart;
  }
  let floor = bbox.top + bbox.height - 5 * scale;
  for (const tip of [...tips].reverse()) {
    tip.y = Math.min(tip.y, floor);
    floor = tip.y - apart;
  }
  ctx.save();
  ctx.font = `${11 * scale}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.lineWidth = 3 * scale;
  ctx.lineJoin = "round";
  ctx.strokeStyle = colour("paper");
  for (const { x, y, flow, label } of tips) {
    const width = ctx.measureText(label).width;
    const place = Math.min(x + 5 * scale, bbox.left + bbox.width - width);
    ctx.fillStyle = flow === null ? colour("accent") : flowColour(flow);
    ctx.strokeText(label, place, y);
    ctx.fillText(label, place, y);
  }
  ctx.restore();
}

export function axis(size: number, space: number): uPlot.Axis {
  return {
    size,
    gap: 3,
    font: "11px system-ui, sans-serif",
    stroke: () => colour("soft"),
    grid: { stroke: () => colour("line"), width: 1 },
    ticks: { show: false },
    space,
  };
}

function series(flow: number | null, unit: Unit, stepped: boolean): uPlot.Series {
  return {
    scale: unit,
    stroke: () => (flow === null ? colour("accent") : flowColour(flow)),
    width: 1.5,
    points: { show: false },
    spanGaps: false,
    ...(stepped && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
  };
}
