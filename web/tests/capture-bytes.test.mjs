// The module in the page and the command line give the same bytes for the same capture, and the same sentences.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { CaptureEngine, NoCapture } from "../src/capture-engine.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const program = process.env.LOSSCAUSE ?? join(root, "target/release/losscause");
const module = readFileSync(join(root, "web/src/capture.wasm"));
const captures = join(root, "crates/losscause-capture/tests/captures");
const folder = mkdtempSync(join(tmpdir(), "losscause-"));
after(() => rmSync(folder, { recursive: true }));

const receiver = gunzipSync(readFileSync(join(captures, "receiver.pcap.gz")));

/** A file of these bytes; its path. */
function made(name, bytes) {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

/** What the command line says of a file in its folder, whose name alone it is told. */
function onCommandLine(path, ...options) {
  const [cwd, name] = [dirname(path), path.slice(dirname(path).length + 1)];
  const { stdout, stderr, status } = spawnSync(program, ["-q", "analyze", name, ...options], { cwd, maxBuffer: 1 << 28 });
  return { stdout, stderr: stderr.toString(), status, name };
}

/** The module's engine, which read the file in pieces of at most so many bytes, and what it shows of it. */
async function inModule(path, most = 1 << 20) {
  const file = openSync(path, "r");
  try {
    const engine = await CaptureEngine.start(module, (into) => readSync(file, into, 0, Math.min(into.length, most), null));
    return { engine, view: engine.analyze(path.slice(dirname(path).length + 1)) };
  } finally {
    closeSync(file);
  }
}

for (const [name, path] of [
  ["a capture at the receiver, compressed", join(captures, "receiver.pcap.gz")],
  ["a capture at the sender, compressed", join(captures, "sender.pcap.gz")],
  ["a plain capture whose name needs quotes", made('a "capture" <b>ö.pcap', receiver)],
]) {
  test(`${name} has the bytes of the command line`, async () => {
    const { engine, view } = await inModule(path);
    const { stdout, status } = onCommandLine(path, "--format", "json");
    assert.equal(status, 0);
    assert.ok(stdout.length > 10_000);
    assert.ok(stdout.equals(engine.json()));
    const table = onCommandLine(path, "--format", "table").stdout.toString();
    assert.equal(table.slice(0, table.indexOf("\n")), `${path.slice(dirname(path).length + 1)}: ${view.answer}`);
  });
}

test("pieces of any size give the same bytes", async () => {
  const path = made("pieces.pcap", receiver);
  const [whole, pieces] = [await inModule(path), await inModule(path, 61)];
  assert.deepEqual(pieces.engine.json(), whole.engine.json());
});

test("a cut capture is analysed as far as it goes, with the program's sentence", async () => {
  const path = made("cut.pcap", receiver.subarray(0, 100_001));
  const { engine, view } = await inModule(path);
  const { stdout, stderr, status } = onCommandLine(path, "--format", "json");
  assert.equal(status, 1);
  assert.ok(stdout.equals(engine.json()));
  assert.match(view.cut, /^cut\.pcap: ends inside a packet at byte \d+; the \d+ packets before were analysed\.$/);
  assert.equal(stderr, `losscause: ${view.cut.slice(0, -1)}\n`);
});

for (const [name, bytes] of [
  ["text.pcap", "This is no capture."],
  ["empty.pcap", ""],
  ["header.pcap", receiver.subarray(0, 12)],
  ["without-packets.pcap", receiver.subarray(0, 24)],
  ["link-type.pcap", Buffer.concat([receiver.subarray(0, 20), Buffer.from([105, 0, 0, 0])])],
]) {
  test(`${name} is refused with the program's sentence`, async () => {
    const path = made(name, bytes);
    const { stderr, status } = onCommandLine(path);
    assert.equal(status, 2);
    await assert.rejects(inModule(path), (error) => {
      assert.ok(error instanceof NoCapture);
      assert.equal(`losscause: ${error.message}\n`, stderr);
      return true;
    });
  });
}

test("a file that cannot be read any further is a cut one", async () => {
  let begun = false;
  const engine = await CaptureEngine.start(module, (into) => {
    if (begun) throw new Error("it is gone");
    begun = true;
    into.set(receiver.subarray(0, 4));
    return 4;
  });
  assert.throws(() => engine.analyze("gone.pcap"), /^Error: gone\.pcap: cannot be read \(the browser cannot read the file/);
});

test("every loss that is marked is told in words", async () => {
  const { engine, view } = await inModule(join(captures, "receiver.pcap.gz"));
  const [flow] = view.drawn;
  assert.ok(flow.losses.time_s.length > 10);
  flow.losses.time_s.forEach((at, loss) => {
    const [what, why] = engine.told(0, loss);
    assert.ok(what.startsWith(`${at.toFixed(3)} s, sequence number `), what);
    assert.ok(why.length > 10);
  });
  assert.equal(engine.told(0, flow.losses.time_s.length), null);
  assert.equal(engine.told(99, 0), null);
});
