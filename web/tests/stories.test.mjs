// What the stories say is what their runs measure, and each moment comes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Engine, ROWS } from "../src/engine.js";
import { foresee, instantOf, lossOf } from "../src/foresight.js";
import { settingsOf } from "../src/settings.js";
import { STORIES } from "../src/stories.js";

const at = (path) => new URL(`../${path}`, import.meta.url);
const { instance } = await WebAssembly.instantiate(readFileSync(at("src/lab.wasm")), {});
const engine = new Engine(instance);

/** The runs of both systems. */
function runs({ scenario, systems, seed = 1 }, parameters = {}) {
  const text = readFileSync(at(`../${scenario}`), "utf8");
  return systems.map(({ algorithm, settings }) => {
    const all = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
    const sets = [...all, ...(algorithm === "" ? [] : [`flow.stream.lda=${algorithm}`]), ...settingsOf(settings)];
    return engine.ask({ open: { text, name: "story.toml", settings: sets, seed } });
  });
}

/** What is foreseen of both runs. */
function foreseen(story, parameters) {
  return runs(story, parameters).map(({ lab, columns }) => {
    const told = foresee(engine, lab, columns);
    engine.ask({ close: { lab } });
    return told;
  });
}

/** The stream of each system. */
function measured(story, parameters) {
  return runs(story, parameters).map(({ lab }) => {
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
    assert.equal(a.timeouts + b.timeouts, 0);
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

  test(`each moment comes: ${story.title}`, () => {
    let now = 0;
    let told = foreseen(story);
    for (const { moment, anew, wait } of story.steps) {
      if (anew) [now, told] = [0, foreseen(story, anew)];
      const instant = instantOf(moment, told, now);
      assert.ok(instant >= now, `${instant} after ${now}`);
      now = instant + wait;
    }
  });
}

const [HALVES] = STORIES;

test("the story's seed is the first whose first loss on the air stands alone", () => {
  const { moment } = HALVES.steps[0];
  let seed = 0;
  for (;;) {
    seed += 1;
    const told = foreseen({ ...HALVES, seed });
    const loss = lossOf(moment, told, 0);
    if (loss && loss === told[0].losses.find(({ cause }) => cause === 1)) break;
  }
  assert.equal(seed, HALVES.seed);
});

test("one packet is lost in both systems; A halves its window where it is told, and B goes on", () => {
  const { at: lost } = lossOf(HALVES.steps[0].moment, foreseen(HALVES), 0);
  const [notices, cuts] = HALVES.steps;
  const asked = lost - notices.moment.before_s;
  const windows = runs(HALVES).map(({ lab, columns }) => {
    engine.advance(lab, asked + notices.wait + cuts.wait);
    const rows = engine.read(lab, ROWS);
    engine.ask({ close: { lab } });
    const window = (to) => {
      let row = 0;
      while (row + 2 * columns <= rows.length && rows[row + columns] <= to) row += columns;
      return rows[row + 2];
    };
    return [asked, asked + notices.wait, asked + notices.wait + cuts.wait].map(window);
  });
  const [[before, noticed, cut], [b0, b1, b2]] = windows;
  console.log(`lost at ${lost.toFixed(3)} s; A ${before}, ${noticed}, ${cut}; B ${b0}, ${b1}, ${b2}`);
  assert.equal(before, b0);
  assert.ok(Math.abs(noticed - before) <= 1, "nothing is cut before the sender knows");
  assert.ok(Math.abs(cut / before - 0.5) < 0.05, `${before} to ${cut}`);
  assert.ok(b1 >= b0 - 1 && b2 >= b0 - 1, "B keeps its window");
});

test("without loss on the air both deliver the same", () => {
  const [a, b] = measured(HALVES, HALVES.steps.at(-1).anew);
  assert.ok(Math.abs(b.goodput_kbps / a.goodput_kbps - 1) < 0.02, `${a.goodput_kbps} and ${b.goodput_kbps} kb/s`);
});
