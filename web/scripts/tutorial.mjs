// The pictures of docs/tutorial.md, made anew: what the report of a run shows over time.
// `LOSSCAUSE=target/release/losscause node scripts/tutorial.mjs`, as `cargo xtask lab --posters` does.

import { chromium } from "@playwright/test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "../..");
const program = process.env.LOSSCAUSE ?? join(root, "target/release/losscause");
/** All together: they are in the repository. */
const MOST_BYTES = 400_000;

/** So much is drawn. */
const SECONDS = "duration_s=40";

/** Each: its name, and what the tutorial sets on its link. */
const RUNS = {
  sawtooth: ["tcp.variant=reno"],
  "square-root": ["tcp.variant=reno", "loss=1%"],
  share: ["tcp.variant=reno", "flow.transfer.count=2", "flow.transfer.start_spread_s=40", "duration_s=80"],
  queue: ["queue=160 ms"],
  air: ["loss=1%"],
  algorithm: ["loss=1%", "flow.transfer.lda=Sift"],
};

const folder = mkdtempSync(join(tmpdir(), "losscause-tutorial-"));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
const page = await browser.newPage({ viewport: { width: 900, height: 700 }, colorScheme: "light" });
let bytes = 0;
for (const [name, settings] of Object.entries(RUNS)) {
  const run = join(folder, name);
  const set = [SECONDS, ...settings].flatMap((setting) => ["--set", setting]);
  execFileSync(program, ["--quiet", "simulate", join(root, "scenarios/clean-link.toml"), ...set, "--out", run]);
  await page.goto(pathToFileURL(join(run, "report.html")).href);
  const picture = join(root, `docs/images/tutorial-${name}.png`);
  await page.locator("svg.chart.time").first().screenshot({ path: picture });
  bytes += statSync(picture).size;
}
await browser.close();
rmSync(folder, { recursive: true });
console.log(`docs/images/tutorial-*.png: ${(bytes / 1000).toFixed(0)} kB`);
if (bytes > MOST_BYTES) {
  console.error(`The pictures have ${bytes} bytes, expected at most ${MOST_BYTES}`);
  process.exit(1);
}
