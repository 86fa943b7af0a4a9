// The module in the page and the command line give the same bytes for the same capture, and the same sentences.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

import { CaptureEngine, NoCapture } from "../src/capture-engine.js";
import { decompressed, isCompressed } from "../src/decompressor.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const program = process.env.LOSSCAUSE ?? join(root, "target/release/losscause");
const module = readFileSync(join(root, "web/src/capture.wasm"));
const decompressor = readFileSync(join(root, "web/src/decompress.wasm"));
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
    const head = Buffer.alloc(4);
    const begun = head.subarray(0, readSync(file, head, 0, 4, 0));
    let at = 0;
    const plain = (into) => {
      const length = readSync(file, into, 0, Math.min(into.length, most), at);
      at += length;
      return length;
    };
    const read = isCompressed(begun) ? await decompressed(decompressor, plain) : plain;
    const engine = await CaptureEngine.start(module, read);
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

/** A frame of zstd that holds the bytes as they are (RFC 8878, 3.1.1): a window of 16 MiB, and raw blocks. */
function frame(bytes) {
  const parts = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70])];
  for (let at = 0; at < bytes.length; at += 100_000) {
    const block = bytes.subarray(at, at + 100_000);
    const isLast = at + 100_000 >= bytes.length;
    const head = Buffer.alloc(3);
    head.writeUIntLE(block.length * 8 + (isLast ? 1 : 0), 0, 3);
    parts.push(head, block);
  }
  return Buffer.concat(parts);
}

const xz = (bytes) => spawnSync("xz", ["-c"], { input: bytes, maxBuffer: 1 << 28 }).stdout;
const skipped = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7]);
const halves = (bytes) => [bytes.subarray(0, 50_000), bytes.subarray(50_000)];
for (const [name, compress] of [
  ["two.gz", (bytes) => Buffer.concat(halves(bytes).map((half) => gzipSync(half)))],
  ["two.zst", (bytes) => Buffer.concat([skipped, ...halves(bytes).map(frame)])],
  ["one.xz", xz],
]) {
  const skip = name.endsWith(".xz") && !xz(Buffer.of(1)) ? "the program xz is missing" : false;
  test(`${name} has the bytes of the command line, in pieces of any size, and cut with its sentence`, { skip }, async () => {
    const compressed = compress(receiver);
    const path = made(name, compressed);
    const { stdout, status } = onCommandLine(path, "--format", "json");
    assert.equal(status, 0);
    for (const most of [1 << 20, 61]) {
      const { engine } = await inModule(path, most);
      assert.ok(stdout.equals(engine.json()));
    }
    const cut = made(`cut-${name}`, compressed.subarray(0, Math.floor(0.9 * compressed.length)));
    const onLine = onCommandLine(cut, "--format", "json");
    if (name === "one.xz") {
      // Nothing of a cut chunk is decompressed, and the file has one.
      assert.equal(onLine.status, 2);
      await assert.rejects(inModule(cut), (error) => onLine.stderr === `losscause: ${error.message}\n`);
      return;
    }
    assert.equal(onLine.status, 1);
    const { engine, view } = await inModule(cut);
    assert.ok(onLine.stdout.equals(engine.json()));
    assert.equal(onLine.stderr, `losscause: ${view.cut.slice(0, -1)}\n`);
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
  ["text.gz", gzipSync("This is no capture.")],
  ["damaged.gz", Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff, 0xff])],
  ["damaged.xz", Buffer.from([0xfd, 0x37, 0x7a, 0x58, 1, 2, 3, 4, 5, 6, 7, 8])],
  ["damaged.zst", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff, 0xff])],
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
