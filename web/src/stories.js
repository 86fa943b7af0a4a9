// @ts-check
// Short stories: each sets both systems up and says what to look at. `tests/stories.test.mjs` runs them and checks what they say.

/**
 * @typedef {object} Story
 * @property {string} title
 * @property {string} text
 * @property {string} scenario its name among the choices
 * @property {number} [seed] 1 if it has none
 * @property {[StorySystem, StorySystem]} systems
 * @property {Step[]} steps
 */

/**
 * A step stops the run at its moment, points at parts of the page and asks. The run goes on for `wait` seconds; then it stops
 * again and tells.
 * @typedef {object} Step
 * @property {import("./foresight.js").Moment} moment
 * @property {Record<string, number>} [anew] both start again first, with these parameters
 * @property {import("./view").Part[]} look
 * @property {string} ask
 * @property {number} wait seconds
 * @property {number} speed while it waits
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
    text: "System A is plain TCP. System B is told the true cause of a loss by an oracle, and reduces its window for drops of the queue only. Until the air loses a first packet, both do the same.",
    scenario: "web/scenarios/tcp.toml",
    // The first whose first loss on the air stands alone; a test looks for it.
    seed: 7,
    systems: [
      { algorithm: "", settings: "" },
      { algorithm: "omniscient", settings: "" },
    ],
    steps: [
      {
        moment: { at_s: 0, loss: { side: 0, by: "air, alone" }, before_s: 0.06 },
        look: ["packets"],
        ask: "The air is about to corrupt the circled packet, in both systems. The queue is all but empty. How will the sender find out?",
        wait: 0.172,
        speed: 0.05,
        tell: "By a gap. The receiver discards a damaged packet, and nobody reports it. Each packet behind it makes the receiver ask for the missing one again: a ring on the way back. The third ring will tell the sender.",
      },
      {
        moment: { at_s: 0 },
        look: ["steer"],
        ask: "The third ring is about to arrive. What will A's congestion window do, and what B's?",
        wait: 0.35,
        speed: 0.1,
        tell: "A's window is cut to half: all it sees is a gap, which a full queue would leave as well. B is told that it was the air: it sends the packet again, too, and keeps its window.",
      },
      {
        moment: { at_s: 0 },
        look: ["race"],
        ask: "Every such loss costs A half its window. How much more than A will B have delivered at the end?",
        wait: 30,
        speed: 10,
        tell: "One and a half times as much or more; the sentence has the number. A's window is cut before it fills the link.",
      },
      {
        moment: { at_s: 0 },
        anew: { loss: 0 },
        look: ["race"],
        ask: "Both have started again, and the air loses nothing now. How much more will B deliver?",
        wait: 30,
        speed: 10,
        tell: "As much as A: all that is lost now, the queue dropped, and for that both reduce their windows.",
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
        look: ["losses", "verdicts", "delay"],
        ask: "The air has corrupted a packet of B. Its delay is near its least. What will Spike say?",
        wait: 1,
        speed: 0.5,
        tell: "Step through the losses of B with ▶: each has its verdict and what Spike compared.",
      },
      {
        moment: { at_s: 0, loss: { side: 1, by: "queue" } },
        look: ["delay"],
        ask: "The download has filled B's queue, and a packet was dropped. What did the one-way delay do before?",
        wait: 4,
        speed: 2,
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
        look: ["losses", "verdicts", "delay"],
        ask: "While no queue builds up, A's delay hardly differs from its mean. What will ZigZag say of the air's losses?",
        wait: 10,
        speed: 5,
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
        look: ["queue"],
        ask: "CoDel has dropped a packet of B. How long was the queue, and what will Spike make of that?",
        wait: 20,
        speed: 5,
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
        look: ["delay"],
        ask: "The policer has dropped a packet of B. What did the delay do before?",
        wait: 20,
        speed: 5,
        tell: "Nothing: a policer has no queue, so a rule of delay sees the air. What B then sends is lost at the policer, again and again. Now move “Loss on the air” to 0 %: all that is still lost there, the policer dropped.",
      },
    ],
  },
];
