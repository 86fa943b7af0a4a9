// What a visitor's browser loads before the lab runs, compressed as hosts do. Too much is an error.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const MOST_BYTES = 500_000;

const dist = new URL("../dist/", import.meta.url).pathname;
const page = readFileSync(join(dist, "index.html"), "utf8");
const assets = readdirSync(join(dist, "assets"));
// Scenarios' patterns and traces are loaded when they are chosen.
const first = assets.filter((name) => page.includes(name) || /\.wasm$|^worker/.test(name)).map((name) => join("assets", name));

let [raw, brotli, gzip] = [0, 0, 0];
for (const file of ["index.html", ...first]) {
  const bytes = readFileSync(join(dist, file));
  const sizes = [
    bytes.length,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length,
    gzipSync(bytes, { level: 9 }).length,
  ];
  console.log(`${file}: ${sizes.map((size) => (size / 1000).toFixed(1)).join(" kB, ")} kB (raw, brotli, gzip)`);
  raw += sizes[0];
  brotli += sizes[1];
  gzip += sizes[2];
}
console.log(`together: ${[raw, brotli, gzip].map((size) => (size / 1000).toFixed(1)).join(" kB, ")} kB (raw, brotli, gzip)`);
if (brotli > MOST_BYTES) {
  console.error(`the lab has ${brotli} bytes compressed, expected at most ${MOST_BYTES}`);
  process.exit(1);
}
