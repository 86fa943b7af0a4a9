// @ts-check
// Short stories: each sets both systems up and says what to look at. `tests/stories.test.mjs` runs them and checks what they say.

/**
 * @typedef {object} Story
 * @property {string} title
 * @property {string} text
 * @property {string} scenario its name among the choices
 * @property {[StorySystem, StorySystem]} systems
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
    text: "The air loses one packet in a hundred. System A is plain TCP: after every mark in the row “air” its congestion window, drawn below, falls. System B is told the true cause by an oracle, reduces its window for drops of the queue only, and delivers more than one and a half times as much. Then move “Loss on the air” to 0 %, and compare.",
    scenario: "web/scenarios/tcp.toml",
    systems: [
      { algorithm: "", settings: "" },
      { algorithm: "omniscient", settings: "" },
    ],
  },
  {
    title: "How Spike sees it",
    text: "A queue announces its losses: the delay rises first. Spike calls a loss congestion while the delay is in a spike. Step through the losses of system B with ▶ and compare each reason with the curve “One-way delay”. Spike errs where the queue happens to be long when the air loses a packet. Then add TCP flows, and watch M_w.",
    scenario: "web/scenarios/first.toml",
    systems: [
      { algorithm: "always congestion", settings: "" },
      { algorithm: "Spike", settings: "" },
    ],
  },
  {
    title: "When ZigZag errs",
    text: "System A runs ZigZag, which calls the loss of a single packet wireless only if the delay is well below its mean. While no queue builds up, the delay hardly differs from its mean, so ZigZag takes the air's losses for congestion and slows down. Then it sends too little to fill the queue, and so it goes on. System B runs Spike. Then add a TCP flow, so that there is a queue, and watch M_w of system A.",
    scenario: "web/scenarios/first.toml",
    systems: [
      { algorithm: "ZigZag", settings: "" },
      { algorithm: "Spike", settings: "" },
    ],
  },
  {
    title: "Why CoDel breaks rules of delay",
    text: "Both systems run Spike. The queue of system B is managed by CoDel, which drops packets early to keep the delay short. So the delay does not rise before a drop, and Spike takes most of the drops for the air's. The sender does not slow down, and CoDel drops more. Then give B another queue: its “Other settings” also take kind = \"pie\".",
    scenario: "web/scenarios/first.toml",
    systems: [
      { algorithm: "Spike", settings: "" },
      { algorithm: "Spike", settings: CODEL },
    ],
  },
  {
    title: "What a policer does",
    text: "A policer drops what exceeds its rate and lets nothing wait. System B meets one of 600 kb/s: its losses come without any delay before them, so a rule of delay sees the air. What it then sends is lost at the policer, again and again. Then move “Loss on the air” to 0 %: all that is still lost there, the policer dropped.",
    scenario: "web/scenarios/first.toml",
    systems: [
      { algorithm: "Spike", settings: "" },
      { algorithm: "Spike", settings: POLICER },
    ],
  },
];
