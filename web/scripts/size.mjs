// What a visitor's browser loads, compressed as hosts do: before the lab runs, and before a capture is analysed. Too much
// is an error.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url).pathname;
const assets = readdirSync(join(dist, "assets"));

/** Each page, what its worker loads beside what the page names, how many bytes it may take, and what some files need. */
const PAGES = [
  // Scenarios' patterns and traces are loaded when they are chosen.
  { page: "index.html", own: /^lab-.*\.wasm$|^worker-/, most: 500_000 },
  { page: "capture.html", own: /^capture-.*\.wasm$|^capture-worker-/, most: 300_000, later: /^decompress-.*\.wasm$/ },
];

function shown(sizes) {
  return `${sizes.map((size) => (size / 1000).toFixed(1)).join(" kB, ")} kB (raw, brotli, gzip)`;
}

/** Bytes of a file of the site: raw, brotli, gzip. */
function sizes(file) {
  const bytes = readFileSync(join(dist, file));
  return [
    bytes.length,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length,
    gzipSync(bytes, { level: 9 }).length,
  ];
}

for (const { page, own, most, later } of PAGES) {
  const text = readFileSync(join(dist, page), "utf8");
  const loaded = assets.filter((name) => text.includes(name) || own.test(name)).map((name) => join("assets", name));
  let together = [0, 0, 0];
  for (const file of [page, ...loaded]) {
    const its = sizes(file);
    console.log(`${file}: ${shown(its)}`);
    together = together.map((size, at) => size + its[at]);
  }
  for (const name of assets.filter((name) => later?.test(name))) {
    console.log(`assets/${name}, for compressed captures: ${shown(sizes(join("assets", name)))}`);
  }
  console.log(`${page} together: ${shown(together)}`);
  if (together[1] > most) {
    console.error(`${page} has ${together[1]} bytes compressed, expected at most ${most}`);
    process.exit(1);
  }
}
