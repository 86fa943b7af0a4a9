// What the drawings of a captured flow share: their margins and the values at their axes.

export const LEFT = 46;
export const RIGHT = 16;

/** Round values from `from` to `to`, about so many. */
export function ticks(from: number, to: number, about: number): number[] {
  const rough = (to - from) / about;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5].find((factor) => factor * unit >= rough) ?? 10);
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.floor(to / step + 1e-9) - first + 1 }, (_, at) => (first + at) * step);
}

export function label(value: number): string {
  return String(Number(value.toPrecision(6)));
}
