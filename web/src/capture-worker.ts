// A capture, away from the page. The file is read slice by slice, as the module asks for it, and goes nowhere else.

import { CaptureEngine, NoCapture } from "./capture-engine.js";
import type { Ask, Told } from "./capture-protocol";
import address from "./capture.wasm?url";
import decompressorAddress from "./decompress.wasm?url";
import { decompressed, isCompressed } from "./decompressor.js";

/** Workers have it; the types of pages do not. */
declare class FileReaderSync {
  readAsArrayBuffer(part: Blob): ArrayBuffer;
}

/** Bytes that are read at once: each time costs the browser about as long as reading some hundred kilobytes. */
const SLICE = 1 << 20;
/** Milliseconds between two reports of what was read. */
const EVERY_MS = 50;

let engine: CaptureEngine | null = null;

function tell(told: Told, moved: Transferable[] = []) {
  self.postMessage(told, { transfer: moved });
}

/** A reader of the file from its beginning. */
function reader(file: File): (into: Uint8Array) => number {
  const files = new FileReaderSync();
  let slice = new Uint8Array();
  let [taken, read, reported] = [0, 0, 0];
  return (into) => {
    if (taken === slice.length) {
      slice = new Uint8Array(files.readAsArrayBuffer(file.slice(read, read + SLICE)));
      [taken, read] = [0, read + slice.length];
      const now = performance.now();
      if (now - reported > EVERY_MS) {
        reported = now;
        tell({ told: "read", bytes: read });
      }
    }
    const part = slice.subarray(taken, taken + into.length);
    into.set(part);
    taken += part.length;
    return part.length;
  };
}

async function module(address: string): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the analysis could not be loaded (${response.status})`);
  return response.arrayBuffer();
}

/** The file's first four bytes; none if the browser cannot read it, which the analysis says. */
function head(file: File): Uint8Array {
  try {
    return new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(0, 4)));
  } catch {
    return new Uint8Array();
  }
}

async function analyze(file: File) {
  const plain = reader(file);
  const read = isCompressed(head(file)) ? await decompressed(await module(decompressorAddress), plain) : plain;
  engine = await CaptureEngine.start(await module(address), read);
  tell({ told: "view", view: engine.analyze(file.name) });
}

function carryOut(ask: Ask): Promise<void> | void {
  if (ask.ask === "file") return analyze(ask.file);
  if (!engine) throw new Error("there is no capture yet");
  if (ask.ask === "told") {
    tell({ told: "loss", flow: ask.flow, loss: ask.loss, words: engine.told(ask.flow, ask.loss) });
    return;
  }
  const json = engine.json();
  tell({ told: "json", json }, [json.buffer]);
}

function fail(error: unknown) {
  const isInput = error instanceof NoCapture;
  const text = error instanceof Error ? error.message : String(error);
  tell({ told: "error", error: isInput ? text : `The analysis failed in this browser (${text}): run losscause analyze instead.`, isInput });
}

self.addEventListener("message", ({ data }: MessageEvent<Ask>) => {
  try {
    carryOut(data)?.catch(fail);
  } catch (error) {
    fail(error);
  }
});
