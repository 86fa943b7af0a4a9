// Where axes end.

/** The next round number above what is drawn. */
export function rounded(top: number): number {
  if (!(top > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(top));
  const [round] = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].filter((factor) => factor * unit >= top * 1.02);
  return (round ?? 12) * unit;
}

/** Where the axis of time ends now: it grows with the run, in steps that do not hurry. */
export function horizonOf(now: number, duration: number): number {
  return Math.min(duration, Math.max(rounded(now), duration / 12));
}
