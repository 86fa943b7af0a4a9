// The worker, as functions that return promises.

import type { Ask, Reply } from "./protocol";

/** What was asked cannot be done; the message is a sentence for the user. */
export class Refusal extends Error {}

export class Simulator {
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private readonly waiting = new Map<number, { done: (answer: never) => void; failed: (error: Error) => void }>();
  private last = 0;

  constructor() {
    this.worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => {
      const asked = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if ("error" in data) asked?.failed(data.fatal ? new Error(data.error) : new Refusal(data.error));
      else asked?.done(data.answer as never);
    });
    this.worker.addEventListener("error", (event) => {
      for (const { failed } of this.waiting.values()) failed(new Error(event.message || "the simulator stopped"));
      this.waiting.clear();
    });
  }

  ask<Answer>(ask: Ask): Promise<Answer> {
    this.last += 1;
    const id = this.last;
    return new Promise((done, failed) => {
      this.waiting.set(id, { done, failed });
      this.worker.postMessage({ id, ask });
    });
  }
}
