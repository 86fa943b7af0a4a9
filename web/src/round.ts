// Where axes end.

/** The next round number above what is drawn. */
export function rounded(top: number): number {
  if (!(top > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(top));
  const [round] = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].filter((factor) => factor * unit >= top * 1.02);
  return (round ?? 12) * unit;
}

/** From when to when, in seconds. */
export type Span = [from: number, to: number];

/** A run that goes no faster is seen from near, so many seconds of it. */
export const SLOW = 0.1;
const NEAR_S = 1.5;

/** What the axis of time shows now: it grows with the run, in steps that do not hurry. */
export function spanOf(now: number, duration: number, speed: number): Span {
  if (speed <= SLOW) return [Math.max(now + 0.1 - NEAR_S, 0), Math.max(now + 0.1, NEAR_S)];
  return [0, Math.min(duration, Math.max(rounded(now), duration / 12))];
}
