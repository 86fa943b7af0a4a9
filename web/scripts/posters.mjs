// The five pictures of the lab in docs/images, made anew from web/dist: `cargo xtask lab --posters`.

import { chromium } from "@playwright/test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { preview } from "vite";

const root = join(import.meta.dirname, "../..");
const images = join(root, "docs/images");
const capture = join(root, "examples/slow.pcap.gz");
/** All five together: they are in the repository. */
const MOST_BYTES = 900_000;

/** The story of this name, at an instant of its run. */
async function story(page, name, at) {
  await page.getByRole("button", { name }).click();
  await page.waitForFunction(() => document.querySelector("#story").textContent !== "");
  await page.locator("#scrub").fill(String(at));
  await page.waitForFunction((at) => Math.abs(Number.parseFloat(document.querySelector("#clock").textContent) - at) < 0.2, at);
  // The message is of the story's beginning.
  await page.evaluate(() => scrollTo(0, 0));
}

/** Each: its file, its window, its colours, its page, and what is done there. */
const POSTERS = [
  {
    file: "lab-spike.png",
    size: [1440, 1160],
    scheme: "light",
    path: "index.html",
    async show(page) {
      await story(page, "How Spike sees it", 47.5);
      for (let press = 0; press < 3; press += 1) await page.getByRole("button", { name: "Previous loss of system B" }).click();
      await page.waitForFunction(() => /Spike: /.test(document.querySelector("#view-1 .loss").textContent));
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  {
    file: "lab-tcp.png",
    size: [1440, 1250],
    scheme: "light",
    path: "index.html",
    show: (page) => story(page, "One corrupted packet halves a TCP", 35),
  },
  {
    file: "lab-codel.png",
    size: [1440, 1250],
    scheme: "dark",
    path: "index.html",
    show: (page) => story(page, "Why CoDel breaks rules of delay", 60),
  },
  {
    file: "lab-capture.png",
    size: [1440, 1080],
    scheme: "light",
    path: "capture.html",
    async show(page) {
      await page.locator("#file").setInputFiles(capture);
      await page.waitForSelector("#answer tbody td");
      await page.waitForSelector("#answer canvas");
      await page.getByRole("button", { name: /^Next loss/ }).first().click();
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  {
    file: "lab-phone.png",
    size: [390, 844],
    scheme: "dark",
    path: "index.html",
    async show(page) {
      await story(page, "When ZigZag errs", 50);
      await page.locator("#race").evaluate((part) => scrollTo(0, part.offsetTop - document.querySelector(".transport").offsetHeight - 8));
    },
  },
];

const server = await preview({ root: join(root, "web"), preview: { host: "127.0.0.1", port: 4179, strictPort: true } });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
let bytes = 0;
for (const { file, size: [width, height], scheme, path, show } of POSTERS) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" });
  // A busy machine takes its time.
  page.setDefaultTimeout(120_000);
  await page.goto(`http://127.0.0.1:4179/${path}`);
  await page.waitForSelector("html[data-ready]");
  await show(page);
  // Nothing is focused in a picture.
  await page.evaluate(() => document.activeElement?.blur());
  await page.screenshot({ path: join(images, file) });
  bytes += statSync(join(images, file)).size;
  await page.close();
}
await browser.close();
await server.close();
console.log(`docs/images/lab-*.png: ${(bytes / 1000).toFixed(0)} kB`);
if (bytes > MOST_BYTES) {
  console.error(`The pictures have ${bytes} bytes, expected at most ${MOST_BYTES}`);
  process.exit(1);
}
