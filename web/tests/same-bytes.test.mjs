// The module in the page and the command line give the same bytes for the same scenario, settings and seed.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Engine, Refused } from "../src/engine.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const program = process.env.LOSSCAUSE ?? join(root, "target/release/losscause");
const { instance } = await WebAssembly.instantiate(readFileSync(join(root, "web/src/lab.wasm")), {});
const engine = new Engine(instance);

const file = (path) => readFileSync(join(root, path), "utf8");
const patterns = Object.fromEntries(["high", "medium", "low"].map((name) => [`cen2003/${name}`, file(`papers/cen2003/patterns/${name}.txt`)]));
const traces = { "scenarios/longer-route.txt": file("scenarios/longer-route.txt") };

/** Name on the command line, its file, seed, settings. */
const CASES = [
  ["web/scenarios/first.toml", null, 1, []],
  ["web/scenarios/first.toml", null, 7, ["flow.stream.lda=Spike", "loss=0.1"]],
  ["scenarios/last-hop-video.toml", null, 1, ["flow.video.lda=ZigZag"]],
  ["scenarios/longer-route.toml", null, 2, []],
  ["scenarios/dsl.toml", null, 3, ["duration_s=8", "measure.from_s=2"]],
  ["scenarios/satellite.toml", null, 4, ["duration_s=20", "measure.from_s=2"]],
  ["scenarios/lte-uplink.toml", null, 5, ["duration_s=8", "measure.from_s=2"]],
  ["scenarios/wifi.toml", null, 6, ["duration_s=8", "measure.from_s=2"]],
  ["cen2003/WLH", "papers/cen2003/scenarios/WLH.toml", 1, ["flow.test.lda=ZBS"]],
  ["cen2003/WB", "papers/cen2003/scenarios/WB.toml", 2, ["N=2"]],
  ["barman2002/config1", "papers/barman2002/scenarios/config1.toml", 3, []],
  ["koo2007/single", "papers/koo2007/scenarios/single.toml", 9007199254740991, []],
];

/** What the command line prints. */
function onCommandLine(name, seed, settings) {
  const sets = settings.flatMap((setting) => ["--set", setting]);
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "pipe"] };
  return execFileSync(program, ["simulate", name, "--seed", String(seed), ...sets, "--format", "json"], options);
}

for (const [name, path, seed, settings] of CASES) {
  test(`${name} with seed ${seed} ${settings.join(" ")}`, () => {
    const open = { text: file(path ?? name), name, files: { ...patterns, ...traces }, settings, seed };
    const { lab, info } = engine.ask({ open });
    // In uneven steps, as a page does.
    for (let to = 0; to < info.duration_s; to += info.duration_s / 7.3) engine.advance(lab, to);
    engine.advance(lab, info.duration_s);
    const { json, finished } = engine.ask({ result: { lab } });
    engine.ask({ close: { lab } });
    assert.ok(finished);
    assert.ok(json.length > 1000);
    assert.equal(json, onCommandLine(name, seed, settings));
  });
}

test("flows that are added and stopped on the way, as settings", () => {
  const name = "scenarios/last-hop-video.toml";
  const { lab, info } = engine.ask({ open: { text: file(name), name, settings: ["flow.video.lda=ZBS"], seed: 3 } });
  const { new_flow } = info.links.find((link) => link.name === "radio");
  engine.advance(lab, 10.12345);
  engine.ask({ change: { labs: [lab], settings: [`flow.added-1=${new_flow}`, `flow.added-2=${new_flow}`] } });
  engine.advance(lab, 40);
  const { changes } = engine.ask({ change: { labs: [lab], settings: ["flow.added-1.stop_s=now"] } });
  engine.advance(lab, info.duration_s);
  const { json } = engine.ask({ result: { lab } });
  assert.equal(changes.length, 3);
  assert.equal(json, onCommandLine(name, 3, ["flow.video.lda=ZBS", ...changes.map(([, setting]) => setting)]));
});

test("another seed gives other bytes", () => {
  const results = [1, 2].map((seed) => {
    const { lab } = engine.ask({ open: { text: file("web/scenarios/first.toml"), name: "first.toml", seed } });
    engine.advance(lab, 30);
    return engine.ask({ result: { lab } }).json.replace(/"seed": \d+/, "");
  });
  assert.notEqual(results[0], results[1]);
});

test("an error is the sentence of the command line", () => {
  const text = "title = 'x'\nduration_s = 1\n[[link]\n";
  assert.throws(() => engine.ask({ open: { text, name: "x.toml", seed: 1 } }), (error) => {
    assert.ok(error instanceof Refused);
    assert.match(error.message, /^x\.toml, line 3: /);
    return true;
  });
});
