// A story in steps. Each comes to its moment, stops the run, points at what moves and asks. The run then goes on for a while,
// so that the answer is seen before it is told. Where nothing is asked, it goes fast.

import { button, element } from "./dom";
import { instantOf, lossOf, type Foreseen } from "./foresight.js";
import { SLOW } from "./round";
import { isStill } from "./theme";

type Story = (typeof import("./stories.js").STORIES)[number];
type Step = Story["steps"][number];

export interface Stage {
  play(): void;
  pause(): void;
  /** How fast the run goes; none: as the user chose. */
  pace(speed: number | null): void;
  /** The packet that a step is about, by its sequence number. */
  mark(seq: number | null): void;
  /** Starts both again with these parameters; what they will be. */
  again(parameters: Record<string, number>): Promise<[Foreseen, Foreseen] | undefined>;
}

/** On the way to a moment. */
const ON_THE_WAY = 5;
export class Teller {
  /** What the story is about. */
  private readonly about = element("p", { className: "about soft small" });
  private steps: Step[] = [];
  private place = 0;
  private foreseen: [Foreseen, Foreseen] | null = null;
  /** When the run stops, seconds. */
  private next = Infinity;
  private isAsked = false;
  private isWaiting = false;

  constructor(
    private readonly said: HTMLElement,
    private readonly stage: Stage,
  ) {}

  begin(story: Story, foreseen: [Foreseen, Foreseen]) {
    this.end();
    this.steps = story.steps;
    this.foreseen = foreseen;
    this.about.textContent = story.text;
    this.said.replaceChildren(this.about);
    this.approach(0);
  }

  end() {
    if (this.foreseen) this.leave();
    this.said.replaceChildren();
  }

  /** The run is no longer what was foreseen: what was said stays, and nothing stops it any more. */
  leave() {
    this.steps = [];
    this.place = 0;
    this.foreseen = null;
    this.next = Infinity;
    this.isAsked = false;
    this.isWaiting = false;
    this.said.querySelector("button")?.remove();
    point([], 0);
    this.stage.mark(null);
    this.stage.pace(null);
  }

  /** The run goes no further at once. */
  limit(now: number): number {
    return this.next > now ? this.next : Infinity;
  }

  /** Looks whether the moment of the next step has come. A run that is taken back begins no story anew. */
  watch(now: number) {
    const step = this.steps[this.place];
    if (!step || this.isWaiting || now < this.next) return;
    if (!this.isAsked) {
      this.stop(step, step.ask, "See what happens", () => {
        this.isAsked = true;
        this.next = now + step.wait;
        this.stage.pace(step.speed);
      });
      return;
    }
    this.isAsked = false;
    this.place += 1;
    const then = this.steps[this.place];
    this.stop(step, step.tell, !then ? "Go on alone" : then.anew ? "Start again" : "Go on", () => {
      if (!then) this.leave();
      else if (then.anew) void this.startAgain(then.anew);
      else {
        this.approach(now);
        // What is asked of this very instant is asked before a frame passes.
        this.watch(now);
      }
    });
  }

  private async startAgain(parameters: Record<string, number>) {
    this.stage.pause();
    this.next = Infinity;
    const foreseen = await this.stage.again(parameters);
    if (!foreseen || !this.foreseen) return;
    this.foreseen = foreseen;
    this.stage.play();
    this.approach(0);
    this.watch(0);
  }

  private approach(now: number) {
    const step = this.steps[this.place];
    if (!step || !this.foreseen) return;
    this.next = instantOf(step.moment, this.foreseen, now) ?? Infinity;
    if (step.moment.loss?.by === "air, alone") this.stage.mark(lossOf(step.moment, this.foreseen, now)?.seq ?? null);
    else if (step.speed > SLOW) this.stage.mark(null);
    this.stage.pace(ON_THE_WAY);
  }

  private stop({ look, moment }: Step, text: string, label: string, then: () => void) {
    this.stage.pause();
    this.isWaiting = true;
    const on = button(label, () => {
      this.isWaiting = false;
      on.remove();
      this.stage.play();
      then();
    }, { className: "primary" });
    // The first question comes soon: what the story is about is still to be read.
    const about = this.place === 0 && !this.isAsked ? [this.about] : [];
    this.said.replaceChildren(...about, element("p", {}, text), on);
    point(look, moment.loss?.side ?? 0);
    on.focus({ preventScroll: true });
  }
}

/** Marks the parts of the page that a step is about, and brings those of a system into view. */
function point(look: string[], side: 0 | 1) {
  const pointed: HTMLElement[] = [];
  for (const part of document.querySelectorAll<HTMLElement>("[data-part]")) {
    const isPointed = look.includes(part.dataset.part ?? "");
    part.classList.toggle("pointed", isPointed);
    if (isPointed && part.offsetParent && !part.closest(`#view-${1 - side}`)) pointed.push(part);
  }
  if (pointed.length === 0) return;
  const bar = document.querySelector<HTMLElement>(".transport");
  const above = bar?.getBoundingClientRect().bottom ?? 0;
  const boxes = pointed.map((part) => part.getBoundingClientRect());
  const [top, bottom] = [Math.min(...boxes.map((box) => box.top)), Math.max(...boxes.map((box) => box.bottom))];
  if (top >= above && bottom <= innerHeight) return;
  // In the middle of what the bar leaves free, or from its beginning if it is higher.
  const taken = bar?.offsetHeight ?? 0;
  const free = innerHeight - taken - (bottom - top);
  scrollBy({ top: top - taken - Math.max(free / 2, 12), behavior: isStill() ? "auto" : "smooth" });
}
