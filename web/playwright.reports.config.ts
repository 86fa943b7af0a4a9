import base from "./playwright.config";

export default { ...base, testDir: "tests/reports", testMatch: "reports.ts", timeout: 600_000, webServer: undefined };
