// The sliders of a link that runs.

import { element } from "./dom";
import type { Adjustable } from "./protocol";

interface Slider {
  row: HTMLElement;
  input: HTMLInputElement;
  said: HTMLOutputElement;
  /** The value at a place of the slider, and the place of a value. */
  value: (place: number) => number;
  placeOf: (value: number) => number;
  of: (link: Adjustable) => number | null;
  text: (value: number) => string;
  setting: (link: Adjustable, value: number) => string;
}

export class LinkSliders {
  private readonly choose = element("select", {});
  private readonly sliders: Slider[];
  private links: Adjustable[] = [];
  private first: Adjustable[] = [];

  constructor(place: HTMLElement, changed: (setting: string) => void) {
    this.sliders = [
      slider("Loss on the air", {
        value: (at) => at ** 2 * 0.4,
        placeOf: (loss) => Math.sqrt(loss / 0.4),
        of: (link) => link.loss,
        text: (loss) => `${(100 * loss).toFixed(1)} %`,
        setting: ({ loss_setting: [before, after] }, loss) => `${before}${loss.toFixed(4)}${after}`,
      }),
      slider("Rate", {
        value: (at) => Math.round(this.of((link) => link.rate_bps, 1e6) * 8 ** (2 * at - 1)),
        placeOf: (rate) => (1 + Math.log(rate / this.of((link) => link.rate_bps, 1e6)) / Math.log(8)) / 2,
        of: (link) => link.rate_bps,
        text: (rate) => (rate >= 1e6 ? `${(rate / 1e6).toFixed(2)} Mb/s` : `${(rate / 1e3).toFixed(0)} kb/s`),
        setting: ({ name }, rate) => `link.${name}.rate_bps=${rate}`,
      }),
      slider("Delay", {
        value: (at) => Math.round(at ** 2 * this.longest() * 10) / 10,
        placeOf: (delay) => Math.sqrt(delay / this.longest()),
        of: (link) => link.delay_ms,
        text: (delay) => `${delay.toFixed(1)} ms`,
        setting: ({ name }, delay) => `link.${name}.delay_ms=${delay}`,
      }),
      slider("Room in the queue", {
        value: (at) => Math.round(at ** 2 * this.most()),
        placeOf: (packets) => Math.sqrt(packets / this.most()),
        of: (link) => link.queue_packets,
        text: (packets) => `${packets} packets`,
        setting: ({ name }, packets) => `link.${name}.queue_packets=${packets}`,
      }),
    ];
    this.choose.id = "link";
    const which = element("div", { className: "slider" }, element("label", { htmlFor: "link" }, "Link"), this.choose);
    place.append(which, ...this.sliders.map(({ row }) => row));
    this.choose.addEventListener("change", () => this.place());
    for (const slider of this.sliders) {
      // While it is dragged only the number changes; the link changes when it is let go, or by a key.
      slider.input.addEventListener("input", () => {
        const text = slider.text(slider.value(slider.input.valueAsNumber));
        slider.said.textContent = text;
        slider.input.setAttribute("aria-valuetext", text);
      });
      slider.input.addEventListener("change", () => {
        const link = this.link();
        if (link) changed(slider.setting(link, slider.value(slider.input.valueAsNumber)));
      });
    }
  }

  /** The links of a new run; the one whose packets are shown is chosen. */
  show(links: Adjustable[], bottleneck: string) {
    this.first = links;
    this.links = links;
    this.choose.replaceChildren(...links.map(({ name }) => element("option", { value: name }, name)));
    const shown = links.find(({ name }) => bottleneck === name || bottleneck.startsWith(`${name}.`));
    if (shown) this.choose.value = shown.name;
    this.place();
  }

  update(links: Adjustable[]) {
    this.links = links;
    this.place();
  }

  private link(): Adjustable | undefined {
    return this.links.find(({ name }) => name === this.choose.value);
  }

  /** A value of the link as it was at the start, on which the range of its slider rests. */
  private of(read: (link: Adjustable) => number | null, otherwise: number): number {
    const link = this.first.find(({ name }) => name === this.choose.value);
    return (link && read(link)) || otherwise;
  }

  private longest(): number {
    return Math.max(100, 4 * this.of((link) => link.delay_ms, 25));
  }

  private most(): number {
    return Math.max(50, 4 * this.of((link) => link.queue_packets, 10));
  }

  private place() {
    const link = this.link();
    if (!link) return;
    for (const { input, said, of, text, placeOf } of this.sliders) {
      const value = of(link);
      input.disabled = value === null;
      said.textContent = value === null ? "set by the scenario" : text(value);
      input.setAttribute("aria-valuetext", said.textContent);
      if (value !== null) input.value = String(Math.min(Math.max(placeOf(value), 0), 1));
    }
  }
}

function slider(title: string, rest: Omit<Slider, "row" | "input" | "said">): Slider {
  // A label around both would name the output, which can be labelled too.
  const id = `slider-${title.toLowerCase().replaceAll(" ", "-")}`;
  const input = element("input", { type: "range", min: "0", max: "1", step: "0.005", id });
  const said = element("output", {});
  const row = element("div", { className: "slider" }, element("label", { htmlFor: id }, title), said, input);
  return { row, input, said, ...rest };
}
