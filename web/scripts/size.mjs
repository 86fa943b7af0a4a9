// What a visitor's browser loads, compressed as hosts do: before the lab runs, and before a capture is analysed. Too much
// is an error.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url).pathname;
const assets = readdirSync(join(dist, "assets"));

/** Each page, what its worker loads beside what the page names, and how many bytes it may take. */
const PAGES = [
  // Scenarios' patterns and traces are loaded when they are chosen.
  { page: "index.html", own: /^lab-.*\.wasm$|^worker-/, most: 500_000 },
  { page: "capture.html", own: /^capture-.*\.wasm$|^capture-worker-/, most: 300_000 },
];

function shown(sizes) {
  return `${sizes.map((size) => (size / 1000).toFixed(1)).join(" kB, ")} kB (raw, brotli, gzip)`;
}

for (const { page, own, most } of PAGES) {
  const text = readFileSync(join(dist, page), "utf8");
  const loaded = assets.filter((name) => text.includes(name) || own.test(name)).map((name) => join("assets", name));
  let together = [0, 0, 0];
  for (const file of [page, ...loaded]) {
    const bytes = readFileSync(join(dist, file));
    const sizes = [
      bytes.length,
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length,
      gzipSync(bytes, { level: 9 }).length,
    ];
    console.log(`${file}: ${shown(sizes)}`);
    together = together.map((size, at) => size + sizes[at]);
  }
  console.log(`${page} together: ${shown(together)}`);
  if (together[1] > most) {
    console.error(`${page} has ${together[1]} bytes compressed, expected at most ${most}`);
    process.exit(1);
  }
}
