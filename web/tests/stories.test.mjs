// What the stories say is what their runs measure.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Engine } from "../src/engine.js";
import { settingsOf } from "../src/settings.js";
import { STORIES } from "../src/stories.js";

const at = (path) => new URL(`../${path}`, import.meta.url);
const { instance } = await WebAssembly.instantiate(readFileSync(at("src/lab.wasm")), {});
const engine = new Engine(instance);

/** The stream of each system, and the lengths of the queue. */
function measured({ scenario, systems }) {
  const text = readFileSync(at(`../${scenario}`), "utf8");
  return systems.map(({ algorithm, settings }) => {
    const sets = [...(algorithm === "" ? [] : [`flow.stream.lda=${algorithm}`]), ...settingsOf(settings)];
    const { lab } = engine.ask({ open: { text, name: "story.toml", settings: sets, seed: 1 } });
    engine.advance(lab, 1e9);
    const { flows } = JSON.parse(engine.ask({ result: { lab } }).json);
    engine.ask({ close: { lab } });
    return flows[0];
  });
}

const CLAIMS = {
  "One corrupted packet halves a TCP": (a, b) => {
    assert.ok(b.goodput_kbps > 1.5 * a.goodput_kbps, `${a.goodput_kbps} and ${b.goodput_kbps} kb/s`);
    assert.equal(b.M_c, 0);
    assert.equal(b.M_w, 0);
  },
  "How Spike sees it": (a, b) => {
    assert.ok(b.goodput_kbps > 1.2 * a.goodput_kbps);
    assert.ok(b.M_c < 20 && b.M_w > 10 && b.M_w < 50, `${b.M_c} and ${b.M_w} %`);
  },
  "When ZigZag errs": (a, b) => {
    assert.ok(a.M_w > 90, `${a.M_w} %`);
    assert.ok(b.M_w < 50 && a.queue_drops < b.queue_drops);
  },
  "Why CoDel breaks rules of delay": (a, b) => {
    assert.ok(a.M_c < 20 && b.M_c > 60, `${a.M_c} and ${b.M_c} %`);
    assert.ok(b.queue_drops > 10 * a.queue_drops);
  },
  "What a policer does": (a, b) => {
    assert.ok(b.M_c > 90, `${b.M_c} %`);
    assert.ok(b.queue_drops > 100 * a.queue_drops && b.goodput_kbps < 600);
  },
};

for (const story of STORIES) {
  test(story.title, () => {
    const flows = measured(story);
    CLAIMS[story.title](...flows);
    console.log(flows.map((flow) => `${flow.goodput_kbps.toFixed(0)} kb/s, M_c ${flow.M_c ?? "–"}, M_w ${flow.M_w ?? "–"}`).join(" | "));
  });
}
