// What the words of the page mean. A word shows its meaning when it is focused, touched or pointed at.

import { element } from "./dom";

const MEANINGS = {
  "Congestion window": "How many packets a TCP sender lets be on the way at once. It grows while nothing is lost and is cut after a loss.",
  "Allowed rate": "The rate that TFRC allows its sender: what TCP would reach at the same loss rate and round-trip time.",
  Goodput: "New data that arrives, per second; what is sent again does not count twice.",
  "One-way delay": "The time from the sender to the receiver. It rises while packets wait in the queue.",
  Queue: "Packets that wait at the link. If it is full, the next one is dropped: that is congestion.",
  "Losses by true cause": "Each mark is a lost packet: on the upper line the queue dropped it, on the lower one the air corrupted it.",
  Verdicts: "What the algorithm said of the losses, beside what the simulator knows.",
  M_c: "The share of the queue's drops that the algorithm called wireless. The sender then does not slow down where it should.",
  M_w: "The share of the air's losses that the algorithm called congestion. The sender then slows down for nothing.",
  Algorithm: "A loss differentiation algorithm: it tells from timing whether the queue or the air lost a packet.",
  Protocol: "What sends: TCP has a window, TFRC has a rate that changes smoothly.",
} as const;

type Term = keyof typeof MEANINGS;

let made = 0;

export function isTerm(word: string): word is Term {
  return word in MEANINGS;
}

/** A word with its meaning, or another text for it. */
export function term(word: Term, shown: string = word): HTMLElement {
  const id = `term-${(made += 1)}`;
  const shownAt = element("span", { className: "term", tabIndex: 0 }, shown);
  shownAt.setAttribute("role", "note");
  shownAt.setAttribute("aria-describedby", id);
  const meaning = element("span", { id, className: "meaning" }, MEANINGS[word]);
  meaning.setAttribute("role", "tooltip");
  return element("span", { className: "defined" }, shownAt, meaning);
}
