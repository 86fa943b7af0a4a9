// The sliders of a link that runs, and of the flows over it.

import { element } from "./dom";
import type { Adjustable, FlowInfo } from "./protocol";

/** Most flows that a slider adds. */
const MOST_FLOWS = 16;

interface Slider {
  row: HTMLElement;
  input: HTMLInputElement;
  said: HTMLOutputElement;
  /** Where it stands, and the value that it says. */
  at: number;
  shown: number;
  /** The value at a place of the slider, and the place of a value. */
  value: (place: number) => number;
  placeOf: (value: number) => number;
  of: (link: Adjustable) => number | null;
  text: (value: number) => string;
  settings: (link: Adjustable, value: number) => string[];
}

export class LinkSliders {
  private readonly choose = element("select", {});
  private readonly sliders: Slider[];
  private links: Adjustable[] = [];
  private first: Adjustable[] = [];
  private flows: FlowInfo[] = [];
  private now = 0;

  /** Changes that are not made yet. A slider that was moved on does not jump back to one of them. */
  private pending = 0;

  /** `change` makes the settings when their turn comes. */
  constructor(place: HTMLElement, change: (settings: () => string[]) => Promise<void>, watch: (link: string) => void) {
    this.sliders = [
      slider("Loss on the air", {
        value: (at) => at ** 2 * 0.4,
        placeOf: (loss) => Math.sqrt(loss / 0.4),
        of: (link) => link.loss,
        text: (loss) => `${(100 * loss).toFixed(loss > 0 && loss < 0.001 ? 2 : 1)} %`,
        settings: ({ loss_setting: [before, after] }, loss) => [`${before}${loss.toFixed(4)}${after}`],
      }),
      slider("Rate", {
        value: (at) => Math.round(this.of((link) => link.rate_bps, 1e6) * 8 ** (2 * at - 1)),
        placeOf: (rate) => (1 + Math.log(rate / this.of((link) => link.rate_bps, 1e6)) / Math.log(8)) / 2,
        of: (link) => link.rate_bps,
        text: (rate) => (rate >= 1e6 ? `${(rate / 1e6).toFixed(2)} Mb/s` : `${(rate / 1e3).toFixed(0)} kb/s`),
        settings: ({ name }, rate) => [`link.${name}.rate_bps=${rate}`],
      }),
      slider("Delay", {
        value: (at) => Math.round(at ** 2 * this.longest() * 10) / 10,
        placeOf: (delay) => Math.sqrt(delay / this.longest()),
        of: (link) => link.delay_ms,
        text: (delay) => `${delay.toFixed(1)} ms`,
        settings: ({ name }, delay) => [`link.${name}.delay_ms=${delay}`],
      }),
      slider("Queue limit", {
        value: (at) => Math.round(at ** 2 * this.most()),
        placeOf: (packets) => Math.sqrt(packets / this.most()),
        of: (link) => link.queue_packets,
        text: (packets) => (packets === 1 ? "1 packet" : `${packets} packets`),
        settings: ({ name }, packets) => [`link.${name}.queue_packets=${packets}`],
      }),
      slider("TCP flows added", {
        value: (at) => Math.round(at * MOST_FLOWS),
        placeOf: (flows) => flows / MOST_FLOWS,
        of: () => this.running().length,
        text: (flows) => (flows === 0 ? "none" : flows === 1 ? "1 flow" : `${flows} flows`),
        settings: (link, flows) => this.adjusted(link, flows),
      }, 1 / MOST_FLOWS),
    ];
    this.choose.id = "link";
    const which = element("div", { className: "slider" }, element("label", { htmlFor: "link" }, "Link"), this.choose);
    place.append(which, ...this.sliders.map(({ row }) => row));
    this.choose.addEventListener("change", () => {
      this.place();
      watch(this.choose.value);
    });
    for (const slider of this.sliders) {
      // While it is dragged only the number changes; the link changes when it is let go, or by a key.
      slider.input.addEventListener("input", () => {
        this.leave(slider);
        const text = slider.text(slider.shown);
        slider.said.textContent = text;
        slider.input.setAttribute("aria-valuetext", text);
      });
      slider.input.addEventListener("change", () => {
        const { name } = this.link() ?? {};
        const value = slider.shown;
        const settings = () => {
          const link = this.links.find((link) => link.name === name);
          return link ? slider.settings(link, value) : [];
        };
        this.pending += 1;
        void change(settings).then(() => {
          this.pending -= 1;
          this.place();
        });
      });
    }
  }

  /** The links of a new run; the one whose packets are shown is chosen. */
  show(links: Adjustable[], flows: FlowInfo[], bottleneck: string) {
    this.first = links;
    this.links = links;
    this.flows = flows;
    this.now = 0;
    this.choose.replaceChildren(...links.map(({ name }) => element("option", { value: name }, name)));
    const shown = links.find(({ name }) => bottleneck === name || bottleneck.startsWith(`${name}.`));
    if (shown) this.choose.value = shown.name;
    this.place();
  }

  update(links: Adjustable[], flows: FlowInfo[], now: number) {
    this.links = links;
    this.flows = flows;
    this.now = now;
    this.place();
  }

  /** Time has passed: added flows may have started or stopped. */
  pass(now: number) {
    const before = this.running().length;
    this.now = now;
    if (this.running().length !== before) this.place();
  }

  /** The added flows that run, or are about to. */
  private running(): FlowInfo[] {
    // They start and stop within a millisecond.
    const soon = this.now + 1.5e-3;
    return this.flows.filter(({ name, start_s, stop_s }) => /^added-\d+$/.test(name) && start_s <= soon && (stop_s ?? Infinity) > soon);
  }

  /** The settings after which so many added flows run: those that came last stop first. */
  private adjusted({ new_flow }: Adjustable, flows: number): string[] {
    const running = this.running();
    const last = Math.max(0, ...this.flows.map(({ name }) => Number(/^added-(\d+)$/.exec(name)?.[1] ?? 0)));
    const added = Array.from({ length: Math.max(flows - running.length, 0) }, (_, at) => `flow.added-${last + 1 + at}=${new_flow}`);
    const stopped = running.slice(flows).reverse();
    return [...added, ...stopped.map(({ name }) => `flow.${name}.stop_s=now`)];
  }

  /** Moves a slider on to the next value that can be set: near 0, several places stand for the same one. */
  private leave(slider: Slider) {
    const link = this.link();
    if (!link) return;
    const { input, value, settings } = slider;
    const told = settings(link, slider.shown).join();
    const by = input.valueAsNumber < slider.at ? -Number(input.step) : Number(input.step);
    let at = input.valueAsNumber;
    while (at + by >= 0 && at + by <= 1 && settings(link, value(at)).join() === told) at += by;
    input.value = String(at);
    slider.at = input.valueAsNumber;
    slider.shown = value(slider.at);
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
    if (!link || this.pending > 0) return;
    for (const slider of this.sliders) {
      const { input, said, of, text, placeOf } = slider;
      const value = of(link);
      input.disabled = value === null;
      said.textContent = value === null ? "set by the scenario" : text(value);
      input.setAttribute("aria-valuetext", said.textContent);
      if (value === null) continue;
      input.value = String(Math.min(Math.max(placeOf(value), 0), 1));
      slider.at = input.valueAsNumber;
      slider.shown = value;
    }
  }
}

function slider(title: string, rest: Omit<Slider, "row" | "input" | "said" | "at" | "shown">, step = 0.005): Slider {
  // A label around both would name the output, which can be labelled too.
  const id = `slider-${title.toLowerCase().replaceAll(" ", "-")}`;
  const input = element("input", { type: "range", min: "0", max: "1", step: String(step), id });
  const said = element("output", {});
  const row = element("div", { className: "slider" }, element("label", { htmlFor: id }, title), said, input);
  return { row, input, said, at: 0, shown: 0, ...rest };
}
