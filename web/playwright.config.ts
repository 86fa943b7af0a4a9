import { defineConfig } from "@playwright/test";

const address = "http://127.0.0.1:4179/";

export default defineConfig({
  testDir: "tests",
  testMatch: "*.spec.ts",
  // Files of tests, side by side. A busy machine takes its time; nothing here measures it.
  workers: 2,
  timeout: 90_000,
  expect: { timeout: 20_000 },
  reporter: [["list"]],
  use: {
    baseURL: address,
    viewport: { width: 1600, height: 1000 },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      // Chromium's sandbox refuses to run as root, as CI does. It opens only the pages built here.
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    },
  },
  webServer: {
    command: "node node_modules/vite/bin/vite.js preview --host 127.0.0.1 --port 4179 --strictPort",
    url: address,
    reuseExistingServer: false,
  },
});
