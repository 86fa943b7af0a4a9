// @ts-check
// When the steps of a story come: before it is told, both runs are gone through once, and their losses are looked up.

import { LOSSES, ROWS } from "./engine.js";

/** @typedef {{ at: number, seq: number, cause: number }} Lost seconds; 0 the queue, 1 the air */

/**
 * What a run will be.
 * @typedef {object} Foreseen
 * @property {Lost[]} losses
 * @property {[at: number, packets: number][]} waiting in the queue that is shown
 */

/**
 * An instant; or the first loss by a cause after it; or the first loss of the air after it that stands alone.
 * @typedef {{ at_s: number, loss?: { side: 0 | 1, by: "queue" | "air" | "air, alone" }, before_s?: number }} Moment
 */

/** Nothing else is lost for so long before and after a loss that stands alone, seconds. */
const ALONE_S = 1;
/** No queue stands if no more than this waits: what two acknowledgements let go. */
const FEW_WAIT = 3;

/**
 * Takes a run to its end and back to its start.
 * @param {import("./engine.js").Engine} engine
 * @param {number} lab
 * @param {number} columns
 * @returns {Foreseen}
 */
export function foresee(engine, lab, columns) {
  engine.advance(lab, Number.MAX_VALUE);
  const numbers = engine.read(lab, LOSSES);
  // A loss comes again with its verdict. Its cause is -1 if no link lost the packet.
  /** @type {Map<number, Lost>} */
  const known = new Map();
  for (let at = 0; at + 8 <= numbers.length; at += 8) {
    const cause = numbers[at + 4];
    if (cause >= 0) known.set(numbers[at], { at: numbers[at + 2], seq: numbers[at + 6], cause });
  }
  const losses = [...known.values()].sort((a, b) => a.at - b.at);
  const rows = engine.read(lab, ROWS);
  /** @type {Foreseen["waiting"]} */
  const waiting = [];
  for (let at = 0; at + columns <= rows.length; at += columns) waiting.push([rows[at], rows[at + 1]]);
  engine.ask({ seek: { lab, to_s: 0 } });
  return { losses, waiting };
}

/**
 * The loss of a moment, the first that comes after `now`; none if there is none.
 * @param {Moment} moment
 * @param {[Foreseen, Foreseen]} foreseen
 * @param {number} now
 * @returns {Lost | undefined}
 */
export function lossOf({ at_s, loss }, foreseen, now) {
  const from = Math.max(at_s, now);
  if (!loss) return undefined;
  const { side, by } = loss;
  const cause = by === "queue" ? 0 : 1;
  return foreseen[side].losses.find((lost) => lost.at > from && lost.cause === cause && (by !== "air, alone" || isAlone(lost, foreseen)));
}

/**
 * When a moment comes, if it does.
 * @param {Moment} moment
 * @param {[Foreseen, Foreseen]} foreseen
 * @param {number} now
 * @returns {number | undefined}
 */
export function instantOf(moment, foreseen, now) {
  const at = moment.loss ? lossOf(moment, foreseen, now)?.at : Math.max(moment.at_s, now);
  return at === undefined ? undefined : at - (moment.before_s ?? 0);
}

/**
 * Whether both systems lose this same packet, nothing else around it, and no queue stands in either.
 * @param {Lost} lost
 * @param {[Foreseen, Foreseen]} foreseen
 */
function isAlone(lost, foreseen) {
  return foreseen.every(({ losses, waiting }) => {
    const around = losses.filter(({ at }) => Math.abs(at - lost.at) < ALONE_S);
    const before = waiting.filter(([at]) => at <= lost.at && at > lost.at - ALONE_S);
    return around.length === 1 && around[0].at === lost.at && around[0].seq === lost.seq && before.every(([, packets]) => packets <= FEW_WAIT);
  });
}
