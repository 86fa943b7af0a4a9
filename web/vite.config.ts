import { defineConfig } from "vite";

export default defineConfig({
  // Any folder of any static host.
  base: "./",
  build: {
    target: "es2022",
    // The content security policy allows no data: address, and no script in the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 300,
    rolldownOptions: { input: ["index.html", "capture.html"] },
  },
  worker: { format: "es" },
  // Scenarios are read from the folders beside this one.
  server: { fs: { allow: [".."] } },
});
