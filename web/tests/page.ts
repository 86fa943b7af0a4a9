// What the tests of the page share: a page that complains of nothing, and what a user does on it.

import { expect, test as base, type Page } from "@playwright/test";
import { readFileSync } from "node:fs";

export { expect, type Page };

/** A page that must never write an error, ask another host, open a dialog, or try what its policy forbids. */
export const test = base.extend<{ complaints: string[] }>({
  complaints: [
    async ({ page, baseURL }, use) => {
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(`console: ${message.text()}`);
      });
      page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
      page.on("request", (request) => {
        if (!request.url().startsWith(baseURL ?? "") && !request.url().startsWith("blob:")) complaints.push(`request: ${request.url()}`);
      });
      page.on("dialog", (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      await use(complaints);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
});

export async function ready(page: Page, hash = "") {
  await page.goto(`./${hash}`);
  await page.waitForSelector("html[data-ready]");
}

export async function paused(page: Page, hash = "") {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await ready(page, hash);
  await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
}

export function clock(page: Page): Promise<number> {
  return page.locator("#clock").textContent().then((text) => Number.parseFloat(text ?? "NaN"));
}

export async function toTheEnd(page: Page) {
  await page.selectOption("#speed", "Infinity");
  await page.click("#play");
  await expect(page.locator("#message")).toContainText("The run is over");
}

export async function saved(page: Page, side: "A" | "B"): Promise<string> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: `Result of ${side} (JSON)` }).click();
  return readFileSync(await (await download).path(), "utf8");
}
