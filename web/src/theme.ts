// The colours of the page, for what is drawn on a canvas.

type Name = "ink" | "soft" | "line" | "paper" | "raised" | "accent" | "good" | "bad" | "congestion" | "wireless";

let known: Partial<Record<string, string>> = {};

export function colour(name: Name | `flow-${number}`): string {
  return (known[name] ??= getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
}

/** The colour of a drawn flow, by its place among them; others are grey. */
export function flowColour(place: number): string {
  return place >= 0 && place < 4 ? colour(`flow-${place}`) : colour("soft");
}

export type Theme = "auto" | "light" | "dark";

export function setTheme(theme: Theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  forget();
}

export function onChange(changed: () => void) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    forget();
    changed();
  });
}

function forget() {
  known = {};
}

const motion = matchMedia("(prefers-reduced-motion: reduce)");

export function isStill(): boolean {
  return motion.matches;
}
