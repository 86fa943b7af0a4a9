// Stories: each step comes, and what it asks about can be seen. What they say is checked in stories.test.mjs.

import { STORIES } from "../src/stories.js";
import { clock, expect, paused, test, type Page } from "./page";

test("every story sets both systems up and says what to look at", async ({ page }) => {
  await paused(page);
  const stories = page.locator("#stories button");
  expect(await stories.count()).toBe(5);
  for (const story of await stories.all()) {
    await story.click();
    await expect(story).toHaveAttribute("aria-pressed", "true");
    await expect(page.locator("#story")).not.toBeEmpty();
    await expect(page.locator("#error")).toBeEmpty();
    await page.click("#step");
    await expect.poll(() => clock(page)).toBeGreaterThan(0);
  }
  await expect(page.locator("#settings-1")).toHaveValue(/policer/);
  await expect(page.locator("#command")).toContainText("burst_bytes");
});

/** Presses See what happens and what stands there after it; the steps of a story, each asked and then told. */
async function follow(page: Page, story: (typeof STORIES)[number], look: (step: (typeof STORIES)[number]["steps"][number]) => Promise<void>) {
  await page.getByRole("button", { name: story.title }).click();
  await expect(page.locator("#story")).toContainText(story.text.slice(0, 30));
  const isStill = await page.evaluate(() => matchMedia("(prefers-reduced-motion: reduce)").matches);
  if (isStill) await page.click("#play");
  let told = 0;
  for (const [place, step] of story.steps.entries()) {
    const see = page.getByRole("button", { name: "See what happens" });
    await expect(see).toBeFocused();
    await expect(page.locator("#story p").last()).toHaveText(step.ask);
    await look(step);
    const asked = await clock(page);
    // What is asked of the instant at which the step before told: nothing has passed since.
    const begun = step.anew ? 0 : told;
    if (place > 0 && !step.moment.loss && step.moment.at_s <= begun) expect(asked).toBe(begun);
    await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
    await see.click();
    await expect(page.locator("#speed")).toHaveValue(String(step.speed));
    const then = story.steps[place + 1];
    const on = page.getByRole("button", { name: !then ? "Go on alone" : then.anew ? "Start again" : "Go on", exact: true });
    await expect(on).toBeFocused();
    await expect(page.locator("#story p").last()).toHaveText(step.tell);
    // No further than it was foreseen.
    told = await clock(page);
    expect(told).toBeCloseTo(asked + step.wait, 1);
    await on.click();
  }
}

for (const [width, height] of [
  [1400, 900],
  [390, 844],
]) {
  test(`${width} px: every step of every story comes, asks, points at what is in view below its sentence, and tells`, async ({ page }) => {
    test.setTimeout(240_000);
    await page.setViewportSize({ width, height });
    await paused(page);
    await page.selectOption("#speed", "2");
    for (const story of STORIES) {
      await follow(page, story, async ({ look, moment }) => {
        const bar = await page.locator(".transport").boundingBox();
        const under = (bar?.y ?? 0) + (bar?.height ?? 0);
        const said = await page.locator("#story").boundingBox();
        expect(said && said.y >= 0 && said.y + said.height <= under + 1, story.title).toBe(true);
        for (const part of look) {
          await expect(page.locator(`[data-part="${part}"]`).first()).toHaveClass(/pointed/);
          const own = `#view-${moment.loss?.side ?? 0} [data-part="${part}"]`;
          const both = page.locator(`#race [data-part="${part}"]:visible, #race[data-part="${part}"]`);
          const box = await ((await both.count()) > 0 ? both : page.locator(own)).boundingBox();
          expect(box && box.y >= under - 1 && box.y + box.height <= height + 1, `${story.title}: ${part} ${JSON.stringify(box)} under ${under}`).toBe(true);
        }
      });
      await expect(page.locator(".pointed")).toHaveCount(0);
      // The user's own speed comes back.
      await expect(page.locator("#speed")).toHaveValue("2");
    }
  });
}

test("the last step of the first story starts both again without loss on the air, and both deliver the same", async ({ page }) => {
  test.setTimeout(120_000);
  await paused(page);
  const said = page.locator("#race .says");
  const seen: (string | null)[] = [];
  await follow(page, STORIES[0], async ({ anew }) => {
    if (anew) await expect(page.getByRole("slider", { name: "Loss on the air" })).toHaveAttribute("aria-valuetext", "0.0 %");
    seen.push(await said.textContent());
  });
  expect(seen[0]).toContain("B delivers as much as A");
  await expect(said).toContainText("B delivers as much as A");
  await expect(page.locator("#command")).toContainText("--set loss=0");
});

test("a change in the middle of a story ends its steps, and its sentence stays", async ({ page }) => {
  await paused(page);
  await page.getByRole("button", { name: STORIES[0].title }).click();
  await expect(page.locator("#story p").last()).toHaveText(STORIES[0].text);
  await page.click("#play");
  await expect(page.getByRole("button", { name: "See what happens" })).toBeVisible();
  await page.getByRole("slider", { name: "Rate" }).focus();
  await page.keyboard.press("ArrowLeft");
  await expect(page.getByRole("button", { name: "See what happens" })).toHaveCount(0);
  await expect(page.locator("#story p").last()).toHaveText(STORIES[0].steps[0].ask);
  await expect(page.locator(".pointed")).toHaveCount(0);
});

test("a loss tells what the window did after it", async ({ page }) => {
  await paused(page);
  await page.getByRole("button", { name: STORIES[0].title }).click();
  await expect(page.locator("#story p").last()).toHaveText(STORIES[0].text);
  await page.locator("#scrub").fill("8.6");
  await expect.poll(() => clock(page)).toBeCloseTo(8.6, 1);
  for (const [side, fell] of [["A", "the window fell from 45 to 23."], ["B", "the window stayed at 45 or above."]]) {
    await page.getByRole("button", { name: `Previous loss of system ${side}` }).click();
    await expect(page.locator(`#view-${side === "A" ? 0 : 1} .loss`)).toContainText(`In the 0.6 s after, ${fell}`);
  }
});
