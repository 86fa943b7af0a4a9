// @ts-check
// The module of web/wasm/decompress: a compressed file's bytes, piece by piece. A page loads it when there is such a file.

import { Damaged } from "./capture-engine.js";

/**
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(length: number) => number} next
 * @property {() => number} output
 * @property {() => number} problem
 */

/**
 * Whether a file that begins with these four bytes is compressed with gzip, xz or zstd.
 * @param {Uint8Array} head
 */
export function isCompressed(head) {
  const [a, b, c, d] = head;
  return (
    (a === 0x1f && b === 0x8b) ||
    (a === 0xfd && b === 0x37 && c === 0x7a && d === 0x58) ||
    (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) ||
    // A frame of zstd that is to be skipped.
    (a !== undefined && a >> 4 === 5 && b === 0x2a && c === 0x4d && d === 0x18)
  );
}

/**
 * A reader of what the file is when it is decompressed.
 * @param {BufferSource} bytes the module
 * @param {(into: Uint8Array) => number} read writes the file's next bytes; returns how many, 0 at its end
 * @returns {Promise<(into: Uint8Array) => number>}
 */
export async function decompressed(bytes, read) {
  /** @type {Exports | null} */
  let module = null;
  /** @type {unknown} */
  let failure = null;
  const page = {
    /** @param {number} at @param {number} length */
    read(at, length) {
      if (!module) return -1;
      try {
        return read(new Uint8Array(module.memory.buffer, at, length));
      } catch (error) {
        failure = error;
        return -1;
      }
    },
  };
  const { instance } = await WebAssembly.instantiate(bytes, { page });
  const exports = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
  module = exports;
  return (into) => {
    const length = exports.next(into.length);
    if (length >= 0) {
      into.set(new Uint8Array(exports.memory.buffer, exports.output(), length));
      return length;
    }
    // What the browser cannot read is not the fault of the file's content.
    if (failure) throw failure;
    const told = exports.problem();
    throw new Damaged(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.output(), told)));
  };
}
