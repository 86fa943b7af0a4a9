// @ts-check
// Short stories: each sets both systems up and says what to look at. `tests/stories.test.mjs` runs them and checks what they say.

/**
 * @typedef {object} Story
 * @property {string} title
 * @property {string} text
 * @property {string} scenario its name among the choices
 * @property {[StorySystem, StorySystem]} systems
 * @property {Step[]} steps
 */

/**
 * A step stops the run at its moment, points at a part of the page and asks. The run goes on for `wait` seconds; then it stops
 * again and tells.
 * @typedef {object} Step
 * @property {{ at_s: number, loss?: { side: 0 | 1, by: "queue" | "air" } }} moment an instant, or the first loss by a cause after it
 * @property {import("./view").Part} look
 * @property {string} ask
 * @property {number} wait seconds
 * @property {string} tell
 */

/**
 * @typedef {object} StorySystem
 * @property {string} algorithm
 * @property {string} settings
 */

const CODEL = 'link.radio.queue={ kind = "codel" }';
const POLICER = 'link.radio.queue={ kind = "policer", rate_bps = 6e5, burst_bytes = 10000 }';

/** @type {Story[]} */
export const STORIES = [
  {
    title: "One corrupted packet halves a TCP",
    text: "The air loses one packet in a hundred, and no other flow is there. System A is plain TCP. System B is told the true cause by an oracle, and reduces its window for drops of the queue only.",
    scenario: "web/scenarios/tcp.toml",
    systems: [
      { algorithm: "", settings: "" },
      { algorithm: "omniscient", settings: "" },
    ],
    steps: [
      {
        moment: { at_s: 8, loss: { side: 0, by: "air" } },
        look: "steer",
        ask: "The air has just corrupted a packet of A; no queue dropped it. What will A's congestion window do?",
        wait: 1,
        tell: "A's window fell. The sender noticed that a packet was missing, and plain TCP takes every loss for a full queue. B is told the cause: it sends such a packet again and keeps its window.",
      },
      {
        moment: { at_s: 15 },
        look: "race",
        ask: "Every loss costs A a part of its window. How much more than A will B deliver?",
        wait: 35,
        tell: "More than one and a half times as much; the sentence has the number. A's window is cut before it fills the link. Now move “Loss on the air” to 0 %: without such losses both deliver the same.",
      },
    ],
  },
  {
    title: "How Spike sees it",
    text: "A queue announces its losses: the delay rises first. System B runs Spike, which calls a loss congestion while the delay is in a spike. A download comes after 30 s and goes after 60.",
    scenario: "web/scenarios/first.toml",
    systems: [
      { algorithm: "always congestion", settings: "" },
      { algorithm: "Spike", settings: "" },
    ],
    steps: [
      {
        moment: { at_s: 8, loss: { side: 1, by: "air" } },
        look: "verdicts",
        ask: "The air has corrupted a packet of B. Its delay has hardly risen. What will Spike say?",
        wait: 1,
        tell: "Step through the losses of B with ▶: each has its verdict and what Spike compared.",
      },
      {
        moment: { at_s: 0, loss: { side: 1, by: "queue" } },
        look: "delay",
        ask: "The download has filled B's queue, and a packet was dropped. What did the one-way delay do before?",
        wait: 4,
        tell: "It rose, so Spike says congestion. But the air goes on losing packets while the queue is long, and Spike calls many of them congestion, too: M_w grows. Add TCP flows, and watch it.",
      },
    ],
  },
  {
    title: "When ZigZag errs",
    text: "System A runs ZigZag, which calls the loss of a single packet wireless only if the delay is well below its mean. System B runs Spike.",
    scenario: "web/scenarios/first.toml",
    systems: [
      { algorithm: "ZigZag", settings: "" },
      { algorithm: "Spike", settings: "" },
    ],
    steps: [
      {
        moment: { at_s: 10 },
        look: "delay",
        ask: "While no queue builds up, A's delay hardly differs from its mean. What will ZigZag say of the air's losses?",
        wait: 10,
        tell: "Congestion, nearly always: see M_w of A. So A slows down, sends too little to fill the queue, and so it goes on. Spike has no such trap. Add a TCP flow, so that there is a queue, and watch M_w of A.",
      },
    ],
  },
  {
    title: "Why CoDel breaks rules of delay",
    text: "Both systems run Spike. The queue of system B is managed by CoDel, which drops packets early to keep the delay short.",
    scenario: "web/scenarios/first.toml",
    systems: [
      { algorithm: "Spike", settings: "" },
      { algorithm: "Spike", settings: CODEL },
    ],
    steps: [
      {
        moment: { at_s: 0, loss: { side: 1, by: "queue" } },
        look: "queue",
        ask: "CoDel has dropped a packet of B. How long was the queue, and what will Spike make of that?",
        wait: 20,
        tell: "The delay does not rise before CoDel drops, so Spike takes most of the drops for the air's: M_c of B. The sender does not slow down, and CoDel drops more. B's “Other settings” also take kind = \"pie\".",
      },
    ],
  },
  {
    title: "What a policer does",
    text: "Both systems run Spike. A policer of 600 kb/s stands in the way of system B: it drops what exceeds its rate and lets nothing wait.",
    scenario: "web/scenarios/first.toml",
    systems: [
      { algorithm: "Spike", settings: "" },
      { algorithm: "Spike", settings: POLICER },
    ],
    steps: [
      {
        moment: { at_s: 0, loss: { side: 1, by: "queue" } },
        look: "delay",
        ask: "The policer has dropped a packet of B. What did the delay do before?",
        wait: 20,
        tell: "Nothing: a policer has no queue, so a rule of delay sees the air. What B then sends is lost at the policer, again and again. Now move “Loss on the air” to 0 %: all that is still lost there, the policer dropped.",
      },
    ],
  },
];
