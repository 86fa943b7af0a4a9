// @ts-check
// The module of web/wasm/lab: texts go in and out as JSON, what changes with every frame as numbers.

/**
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(length: number) => number} input
 * @property {() => number} call
 * @property {() => number} output
 * @property {(lab: number, to: number) => number} advance
 * @property {(lab: number, what: number) => number} read
 * @property {() => number} numbers
 */

/** What `read` can be asked for, in the order of the module. */
export const ROWS = 0;
export const LOSSES = 1;
export const PACKETS = 2;
export const LOST = 3;
export const VERDICTS = 4;

/** A request failed; the message is the program's own sentence. */
export class Refused extends Error {
  /**
   * @param {string} sentence
   * @param {number} [lab] the one of several runs that it is about
   */
  constructor(sentence, lab) {
    super(sentence);
    this.lab = lab;
  }
}

export class Engine {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    this.module = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
  }

  /**
   * @param {unknown} request
   * @returns {any}
   */
  ask(request) {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const at = this.module.input(bytes.length);
    new Uint8Array(this.module.memory.buffer, at, bytes.length).set(bytes);
    const length = this.module.call();
    const answer = new Uint8Array(this.module.memory.buffer, this.module.output(), length);
    const said = JSON.parse(new TextDecoder().decode(answer));
    if (said && typeof said.error === "string") throw new Refused(said.error, said.lab);
    return said;
  }

  /**
   * Advances a run; returns its instant in seconds.
   * @param {number} lab
   * @param {number} to
   */
  advance(lab, to) {
    return this.module.advance(lab, to);
  }

  /**
   * A copy of what the module has to read.
   * @param {number} lab
   * @param {number} what
   */
  read(lab, what) {
    const length = this.module.read(lab, what);
    return new Float64Array(this.module.memory.buffer, this.module.numbers(), length).slice();
  }
}
