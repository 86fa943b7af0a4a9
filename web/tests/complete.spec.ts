// What the editor of scenarios offers at a place.

import { expect, test } from "@playwright/test";
import { existsSync, readFileSync, readdirSync } from "node:fs";

import { complete } from "../src/complete.js";
import { Engine } from "../src/engine.js";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const schema = JSON.parse(readFileSync(at("docs/scenario.schema.json"), "utf8"));
const { algorithms } = new Engine(new WebAssembly.Instance(new WebAssembly.Module(readFileSync(at("web/src/lab.wasm"))), {})).ask("catalogue");

/** What is offered where "|" stands. */
function offered(text: string) {
  const caret = text.indexOf("|");
  return complete(schema, algorithms, text.replace("|", ""), caret);
}
const labels = (text: string) => offered(text)?.items.map(({ label }) => label) ?? [];

/** The text after the best offer is taken. */
function taken(text: string) {
  const plain = text.replace("|", "");
  const found = offered(text);
  if (!found) return "nothing";
  const { from, to, items } = found;
  return plain.slice(0, from) + items[0].insert + plain.slice(to);
}

const LINKS = '[[link]]\nname = "radio"\nrate_bps = 1e6\n[[link]]\nname = "backbone"\n';

test("keys of a table that it has not yet, those that begin with the word first", () => {
  expect(labels('title = "x"\ndu|').slice(0, 1)).toEqual(["duration_s"]);
  expect(labels('title = "x"\n|\nduration_s = 3').some((key) => ["title", "duration_s", "link", "measure"].includes(key))).toBe(false);
  expect(labels("[[link]]\nqueue_p|")).toEqual(["queue_packets"]);
  expect(labels("[[link]]\nrate_bps = 1e6\n|\ndelay_ms = 3\n[[link]]\nname = 'x'").some((key) => ["rate_bps", "delay_ms"].includes(key))).toBe(false);
  expect(labels("[[link]]\nrate_bps = 1e6\n|\n[[link]]\nname = 'x'").includes("name")).toBe(true);
  expect(labels("[tcp.quirks]\n|").includes("halving")).toBe(true);
  expect(taken("[measure]\nfrom|")).toBe("[measure]\nfrom_s = ");
  expect(taken("[measure]\nfro|m = 5")).toBe("[measure]\nfrom_s = 5");
});

test("a table of several kinds offers its kind first, then the keys of that kind", () => {
  expect(labels("[[link]]\nchannel = { |")).toEqual(["kind"]);
  expect(labels('[[link]]\nchannel = { kind = "gilbert-elliott", |').slice(0, 2)).toEqual(["loss", "mean_burst_packets"]);
  expect(labels('[[link]]\nchannel = { kind = "|').includes("bernoulli")).toBe(true);
  expect(labels("[[link]]\nqueue = |").includes("codel")).toBe(true);
  expect(taken("[[link]]\nqueue = cod|")).toBe('[[link]]\nqueue = { kind = "codel" }');
  expect(labels('flow = [{ name = "a", protocol = "tf|')).toEqual(["tfrc"]);
});

test("words, algorithms and links are offered as values, in quotes", () => {
  expect(labels("[[flow]]\nprotocol = |")).toEqual(["tfrc", "tcp", "cbr", "on-off", "poisson", "quic"]);
  expect(taken('[[flow]]\nprotocol = "tc|"')).toBe('[[flow]]\nprotocol = "tcp"');
  expect(taken("[[flow]]\nlda = zigz|")).toBe('[[flow]]\nlda = "ZigZag"');
  expect(labels(`${LINKS}[[flow]]\npath = ["radio", |`)).toEqual(["radio", "backbone"]);
  expect(labels('link = [{ name = "line" }]\nflow = [{ path = [|')).toEqual(["line"]);
  expect(labels(`${LINKS}[measure]\nbottleneck = "ba|`)).toEqual(["backbone"]);
  expect(labels("[[flow]]\nmeasured = |")).toEqual(["true", "false"]);
});

test("headers of tables, and the settings of an algorithm", () => {
  expect(labels("[[li|")).toEqual(["[[link]]"]);
  expect(taken("[mea|]")).toBe("[measure]");
  expect(labels("[tcp|").includes("[tcp.vegas]")).toBe(true);
  expect(labels("[lda.Spi|")[0]).toBe("[lda.Spike]");
  expect(labels("[lda.Spike]\n|").includes("alpha")).toBe(true);
});

test("nothing is offered in a comment, a number, a title, or behind a whole value", () => {
  for (const text of ["# du|", "duration_s = 1|0", 'title = "du|ration"', "[[flow]]\nmeasured = true |", '[[flow]]\nprotocol = "tcp"|']) {
    expect(offered(text), text).toBeNull();
  }
});

test("any place of any scenario has an answer that keeps the rest of the text", () => {
  const folders = ["scenarios/", "web/scenarios/", ...readdirSync(at("papers/")).map((paper) => `papers/${paper}/scenarios/`)];
  let [places, offers] = [0, 0];
  for (const folder of folders) {
    if (!existsSync(at(folder))) continue;
    const files = readdirSync(at(folder)).filter((name) => name.endsWith(".toml"));
    for (const name of files.slice(0, 3)) {
      const text = readFileSync(at(folder + name), "utf8");
      for (let caret = 0; caret <= text.length; caret += 7) {
        const found = complete(schema, algorithms, text, caret);
        places += 1;
        if (!found) continue;
        offers += 1;
        if (found.from > caret || found.to < caret || text.slice(found.from, found.to).includes("\n")) throw new Error(`${name} at ${caret}`);
      }
    }
  }
  expect(places).toBeGreaterThan(1000);
  expect(offers).toBeGreaterThan(100);
});
