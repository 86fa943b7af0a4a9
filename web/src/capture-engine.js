// @ts-check
// The module of web/wasm/capture: it asks for the file piece by piece, and answers in JSON.

/**
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(length: number) => number} input
 * @property {() => number} analyze
 * @property {(flow: number, loss: number) => number} told
 * @property {() => number} json
 * @property {() => number} output
 */

/** The file is no capture; the message is the program's own sentence. */
export class NoCapture extends Error {}

/** The file cannot be decompressed any further; the message says why. */
export class Damaged extends Error {}

export class CaptureEngine {
  /**
   * @param {BufferSource} bytes the module
   * @param {(into: Uint8Array) => number} read writes the file's next bytes; returns how many, 0 at its end
   */
  static async start(bytes, read) {
    /** @type {Exports | null} */
    let exports = null;
    let problem = "";
    const page = {
      /** @param {number} at @param {number} length */
      read(at, length) {
        if (!exports) return -1;
        try {
          return read(new Uint8Array(exports.memory.buffer, at, length));
        } catch (error) {
          // The module makes a sentence of it.
          problem = error instanceof Damaged ? error.message : "";
          return -1;
        }
      },
      /** @param {number} at @param {number} length */
      problem(at, length) {
        if (!exports) return 0;
        return new TextEncoder().encodeInto(problem, new Uint8Array(exports.memory.buffer, at, length)).written;
      },
    };
    const { instance } = await WebAssembly.instantiate(bytes, { page });
    exports = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
    return new CaptureEngine(exports);
  }

  /** @param {Exports} module */
  constructor(module) {
    this.module = module;
  }

  /**
   * Reads the file to its end; returns what there is to show.
   * @param {string} name
   * @returns {any}
   */
  analyze(name) {
    const bytes = new TextEncoder().encode(name);
    const at = this.module.input(bytes.length);
    new Uint8Array(this.module.memory.buffer, at, bytes.length).set(bytes);
    const said = JSON.parse(this.text(this.module.analyze()));
    if (typeof said.error === "string") throw new NoCapture(said.error);
    return said;
  }

  /**
   * A loss in words: what happened, and why the algorithm said what it said.
   * @param {number} flow
   * @param {number} loss
   * @returns {[string, string] | null}
   */
  told(flow, loss) {
    return JSON.parse(this.text(this.module.told(flow, loss)));
  }

  /** What `losscause analyze --format json` writes: a copy. */
  json() {
    const length = this.module.json();
    return new Uint8Array(this.module.memory.buffer, this.module.output(), length).slice();
  }

  /** @param {number} length */
  text(length) {
    return new TextDecoder().decode(new Uint8Array(this.module.memory.buffer, this.module.output(), length));
  }
}
