// A story in steps. Each waits for its moment, stops the run, points at what moves and asks. The run then goes on for a while,
// so that the answer is seen before it is told.

import { button, element } from "./dom";

type Story = (typeof import("./stories.js").STORIES)[number];
type Step = Story["steps"][number];

export interface Stage {
  play(): void;
  pause(): void;
}

/** Packets that the queues dropped and that the air corrupted, of both systems. */
export type Lost = [readonly [number, number], readonly [number, number]];

export class Teller {
  private steps: Step[] = [];
  private place = 0;
  /** When what was asked is told, seconds; none before it is asked. */
  private until: number | null = null;
  private isWaiting = false;
  /** Losses of the kind that a step waits for, when it began to wait. */
  private lostBefore: number | null = null;

  constructor(
    private readonly said: HTMLElement,
    private readonly stage: Stage,
  ) {}

  begin(story: Story) {
    this.end();
    this.steps = story.steps;
    this.said.replaceChildren(element("p", {}, story.text));
  }

  end() {
    this.steps = [];
    this.place = 0;
    this.until = null;
    this.isWaiting = false;
    this.lostBefore = null;
    this.said.replaceChildren();
    point(null);
  }

  /** Looks whether the moment of the next step has come. A run that is taken back begins no story anew. */
  watch(now: number, lost: Lost) {
    const step = this.steps[this.place];
    if (!step || this.isWaiting) return;
    if (this.until === null) {
      if (this.hasCome(step, now, lost)) this.stop(step, step.ask, "See what happens", () => (this.until = now + step.wait));
    } else if (now >= this.until) {
      this.until = null;
      this.lostBefore = null;
      this.place += 1;
      const isLast = this.place === this.steps.length;
      this.stop(step, step.tell, isLast ? "Go on alone" : "Go on", () => {
        if (isLast) point(null);
      });
    }
  }

  private hasCome({ moment: { at_s, loss } }: Step, now: number, lost: Lost): boolean {
    if (now < at_s) return false;
    if (!loss) return true;
    const count = lost[loss.side][loss.by === "queue" ? 0 : 1];
    this.lostBefore ??= count;
    return count > this.lostBefore;
  }

  private stop({ look }: Step, text: string, label: string, then: () => void) {
    this.stage.pause();
    this.isWaiting = true;
    point(look);
    const on = button(label, () => {
      this.isWaiting = false;
      on.remove();
      then();
      this.stage.play();
    }, { className: "primary" });
    this.said.replaceChildren(element("p", {}, text), on);
    on.focus({ preventScroll: true });
  }
}

/** Marks the parts of the page that a step is about. */
function point(look: string | null) {
  for (const part of document.querySelectorAll<HTMLElement>("[data-part]")) part.classList.toggle("pointed", part.dataset.part === look);
}
