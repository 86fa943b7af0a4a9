// A quantity of a flow over time, below its losses and over the same seconds.

import { LEFT, RIGHT, label, ticks } from "./capture-axis";
import { Canvas } from "./canvas";
import { colour } from "./theme";

const HEIGHT = 96;
/** The series' name stands above its curve. */
const TOP = 20;
const BOTTOM = 8;

/** Values over time, each with its smallest and its largest value, or one that holds until the next. */
export interface Series {
  name: string;
  unit: string;
  /** When, the smallest and the largest value, in order of time. */
  steps: [number, number, number][];
  /** Whether a value holds until the next one. */
  isHeld: boolean;
  /** A value that is drawn across. */
  limit: number | null;
}

export class Strip {
  private readonly canvas: Canvas;
  private readonly most: number;
  private instant: number | null = null;

  /** `x` is where a time stands in a canvas of this width. */
  constructor(
    place: HTMLElement,
    private readonly series: Series,
    private readonly x: (at: number, width: number) => number,
    instantAt: (x: number, width: number) => void,
  ) {
    let most = series.limit ?? 0;
    for (const [, , top] of series.steps) most = Math.max(most, top);
    this.most = most > 0 ? most : 1;
    this.canvas = new Canvas(place, HEIGHT, () => this.draw());
    const point = (event: PointerEvent) =>
      instantAt(event.clientX - this.canvas.element.getBoundingClientRect().left, this.canvas.width);
    this.canvas.element.addEventListener("pointermove", point);
    this.canvas.element.addEventListener("pointerdown", point);
  }

  remove() {
    this.canvas.remove();
  }

  showInstant(at: number | null) {
    this.instant = at;
    this.draw();
  }

  draw() {
    const { context, width } = this.canvas;
    context.clearRect(0, 0, width, HEIGHT);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.strokeStyle = colour("line");
    context.fillStyle = colour("soft");
    context.lineWidth = 1;
    for (const value of ticks(0, this.most, 3)) {
      this.across(value);
      context.fillText(label(value), LEFT - 8, this.y(value));
    }
    context.textAlign = "left";
    context.fillText(`${this.series.name}, ${this.series.unit}`, LEFT, 8);
    this.curve();
    context.strokeStyle = colour("ink");
    if (this.series.limit !== null) {
      context.setLineDash([6, 3]);
      this.across(this.series.limit);
      context.setLineDash([]);
    }
    drawInstant(context, this.instant === null ? null : this.x(this.instant, width), HEIGHT);
  }

  private y(value: number): number {
    return HEIGHT - BOTTOM - (value / this.most) * (HEIGHT - TOP - BOTTOM);
  }

  private across(value: number) {
    const { context, width } = this.canvas;
    context.beginPath();
    context.moveTo(LEFT, Math.round(this.y(value)) + 0.5);
    context.lineTo(width - RIGHT, Math.round(this.y(value)) + 0.5);
    context.stroke();
  }

  private curve() {
    const { context, width } = this.canvas;
    const { steps, isHeld } = this.series;
    context.strokeStyle = colour("accent");
    context.lineWidth = 1.2;
    context.beginPath();
    steps.forEach(([at, least, top], place) => {
      const x = this.x(at, width);
      if (isHeld && place > 0) context.lineTo(x, this.y(steps[place - 1][2]));
      context.lineTo(x, this.y(least));
      context.lineTo(x, this.y(top));
    });
    if (isHeld && steps.length > 0) context.lineTo(width - RIGHT, this.y(steps[steps.length - 1][2]));
    context.stroke();
  }
}

/** A line at an instant, from top to bottom. */
export function drawInstant(context: CanvasRenderingContext2D, x: number | null, height: number) {
  if (x === null) return;
  context.strokeStyle = colour("ink");
  context.lineWidth = 1;
  context.setLineDash([2, 2]);
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, 0);
  context.lineTo(Math.round(x) + 0.5, height);
  context.stroke();
  context.setLineDash([]);
}

/** What a series has at an instant: "rate of data 2.9 Mb/s". None far from any value. */
export function told({ name, unit, steps, isHeld }: Series, at: number, near: number): string | null {
  let found: [number, number, number] | undefined;
  for (const step of steps) {
    if (isHeld ? step[0] <= at : !found || Math.abs(step[0] - at) < Math.abs(found[0] - at)) found = step;
  }
  if (!found || (!isHeld && Math.abs(found[0] - at) > near)) return null;
  const ends = [...new Set([found[1], found[2]].map((value) => String(Number(value.toPrecision(3)))))];
  return `${name} ${ends.join(" to ")} ${unit}`;
}
