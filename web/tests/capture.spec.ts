import AxeBuilder from "@axe-core/playwright";
import { expect, test, type Page, type Request } from "@playwright/test";
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const root = join(import.meta.dirname, "../..");
const program = process.env.LOSSCAUSE ?? join(root, "target/release/losscause");
const captures = join(root, "crates/losscause-capture/tests/captures");
const receiver = join(captures, "receiver.pcap.gz");

let folder = "";
test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "losscause-"));
});
test.afterAll(() => rmSync(folder, { recursive: true }));

/** What a page must never do, noticed in every test, and all that it asked for. */
let complaints: string[] = [];
let requests: Request[] = [];

test.beforeEach(async ({ page, baseURL }) => {
  complaints = [];
  requests = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.context().on("request", (request) => {
    requests.push(request);
    const isOwn = request.url().startsWith(baseURL ?? "") || request.url().startsWith("blob:");
    if (!isOwn || request.method() !== "GET" || request.postData() !== null) complaints.push(`request: ${request.url()}`);
  });
  await page.goto("./capture.html");
  await page.waitForSelector("html[data-ready]");
});

test.afterEach(() => {
  expect(complaints).toEqual([]);
});

const modules = () => requests.filter((request) => request.url().endsWith(".wasm")).map((request) => request.url());

/** A file of these bytes; its path. */
function made(name: string, bytes: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

async function choose(page: Page, path: string) {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose a file" }).click();
  await (await chooser).setFiles(path);
}

const answer = (page: Page) => page.locator("#answer .says");

async function saved(page: Page): Promise<Buffer> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save the JSON" }).click();
  return readFileSync(await (await download).path());
}

/** What the command line says of a file in its folder. */
function onCommandLine(cwd: string, name: string, ...options: string[]) {
  return spawnSync(program, ["-q", "analyze", name, ...options], { cwd, maxBuffer: 1 << 28 });
}

/** The names of the modules that were loaded, without the hashes of their content. */
const loaded = () => modules().map((url) => url.replace(/^.*\/([a-z]+)-[^/]+\.wasm$/, "$1"));

test("a plain capture loads the analysis alone", async ({ page }) => {
  expect(loaded()).toEqual([]);
  await choose(page, made("plain.pcap", gunzipSync(readFileSync(receiver))));
  await expect(answer(page)).toHaveText(/lost packets/);
  expect(loaded()).toEqual(["capture"]);
});

test("a compressed capture gives the program's answer and its JSON to the byte, and the modules are loaded only for it", async ({ page }) => {
  expect(loaded()).toEqual([]);
  await choose(page, receiver);
  const said = onCommandLine(captures, "receiver.pcap.gz").stdout.toString().split("\n")[0];
  await expect(answer(page)).toHaveText(said.slice("receiver.pcap.gz: ".length));
  expect(loaded()).toEqual(["decompress", "capture"]);
  expect((await saved(page)).equals(onCommandLine(captures, "receiver.pcap.gz", "--format", "json").stdout)).toBe(true);
  expect(requests.filter((request) => !/\.(html|css|js|wasm|svg)$/.test(request.url()) && !request.url().startsWith("blob:"))).toEqual([]);
});

test("a dropped file is analysed, several are refused", async ({ page }) => {
  const bytes = [...readFileSync(receiver)];
  const drop = (names: string[]) =>
    page.evaluate(
      ({ bytes, names }) => {
        const dataTransfer = new DataTransfer();
        for (const name of names) dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
        document.getElementById("drop")?.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      },
      { bytes, names },
    );
  await drop(["mine.pcap.gz"]);
  await expect(answer(page)).toContainText(/^\d+ lost packets in \d+ flows?\./);
  await expect(page.locator("#answer .file")).toContainText("mine.pcap.gz: ");
  await drop(["a.pcap", "b.pcap"]);
  await expect(page.locator("#error")).toHaveText("2 files were dropped, expected one.");
  // The answer stays; the next file takes the sentence away.
  await expect(page.locator("#answer .file")).toContainText("mine.pcap.gz: ");
  await drop(["next.pcap.gz"]);
  await expect(page.locator("#answer .file")).toContainText("next.pcap.gz: ");
  await expect(page.locator("#error")).toBeEmpty();
});

test("a loss tells its verdict and what was compared, by keys and by pointer", async ({ page }) => {
  await choose(page, receiver);
  const flow = page.locator(".flow").first();
  await flow.getByRole("button", { name: "Next loss of flow" }).focus();
  await page.keyboard.press("Enter");
  const said = flow.locator(".loss");
  await expect(said).toHaveText(/^(wireless|congestion|undecided) – \d+\.\d{3} s, sequence number \d+, found by gap.*\. .+\.$/);
  const first = await said.textContent();
  await page.keyboard.press("Enter");
  await expect(said).not.toHaveText(first ?? "");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Space");
  await expect(said).toHaveText(first ?? "");
  const canvas = flow.locator("canvas").first();
  const { width, height } = (await canvas.boundingBox()) ?? { width: 0, height: 0 };
  // Somewhere on the way across, marks are met.
  for (let x = width; x > 0 && (await said.textContent()) === first; x -= 8) {
    for (let y = 10; y < height; y += 16) await canvas.hover({ position: { x: x - 1, y } });
  }
  await expect(said).not.toHaveText(first ?? "");
});

test("one instant is shown in all drawings, and flows are found by host, port or number", async ({ page }) => {
  await choose(page, receiver);
  const flow = page.locator("article.flow").first();
  const canvases = flow.locator("canvas");
  await expect(canvases).toHaveCount(3);
  await expect(page.locator(".first")).toContainText("Do first");
  const instant = flow.locator(".instant");
  for (const place of [0, 1, 2]) {
    await canvases.nth(place).hover({ position: { x: 300 + 40 * place, y: 30 } });
    await expect(instant).toHaveText(/^At \d+\.\d{3} s; .*rate of data \d.* kb\/s$/);
  }
  await page.locator("h2.says").hover();
  await expect(instant).toBeEmpty();
  const find = page.getByRole("searchbox", { name: "Show flows of" });
  const rows = page.locator(".flows tbody tr:visible");
  const all = await rows.count();
  await find.fill("192.0.2.77");
  await expect(rows).toHaveCount(0);
  await expect(flow).toBeHidden();
  await find.fill("1");
  await expect(flow).toBeVisible();
  await find.fill("");
  await expect(rows).toHaveCount(all);
});

test("a file that is no capture is refused with the program's sentence", async ({ page }) => {
  const name = "<img src=x onerror=alert(1)>.txt";
  await choose(page, made(name, "This is no capture."));
  const { stderr, status } = onCommandLine(folder, name);
  expect(status).toBe(2);
  await expect(page.locator("#error")).toHaveText(stderr.toString().replace(/^losscause: /, "").trimEnd());
  await expect(page.locator("#progress")).toBeHidden();
  expect(await page.locator("img").count()).toBe(0);
  // The next file is taken.
  await choose(page, receiver);
  await expect(answer(page)).toBeVisible();
  await expect(page.locator("#error")).toBeEmpty();
});

test("a cut capture is analysed as far as it goes and says where it ends", async ({ page }) => {
  const whole = gunzipSync(readFileSync(receiver));
  const name = "<b>cut.pcap";
  await choose(page, made(name, whole.subarray(0, 100_001)));
  await expect(answer(page)).toBeVisible();
  const { stdout, stderr } = onCommandLine(folder, name, "--format", "json");
  await expect(page.locator("#answer .cut")).toHaveText(`${stderr.toString().replace(/^losscause: /, "").trimEnd()}.`);
  expect((await saved(page)).equals(stdout)).toBe(true);
  expect(await page.locator("#answer b").count()).toBe(0);
});

/** A capture of 100 MB: the packets of a transfer again and again, each time later and between other ports. */
function large(): string {
  const path = join(folder, "large.pcap");
  if (existsSync(path)) return path;
  const whole = gunzipSync(readFileSync(receiver));
  // Little-endian, nanoseconds, raw IPv4.
  expect([whole.readUInt32LE(0), whole.readUInt32LE(20), whole[40] >> 4]).toEqual([0xa1b23c4d, 101, 4]);
  const packets: number[] = [];
  for (let at = 24; at < whole.length; at += 16 + whole.readUInt32LE(at + 8)) packets.push(at);
  const second = (at: number) => whole.readUInt32LE(at);
  const lasts = second(packets[packets.length - 1]) - second(24) + 2;
  const file = openSync(path, "w");
  writeSync(file, whole.subarray(0, 24));
  const copies = Math.ceil(100e6 / (whole.length - 24));
  for (let copy = 0; copy < copies; copy += 1) {
    const body = Buffer.from(whole);
    for (const at of packets) {
      body.writeUInt32LE(second(at) + copy * lasts, at);
      // Both ports are shifted, so that both directions stay one connection. They follow two headers.
      for (const port of [at + 36, at + 38]) body.writeUInt16BE((whole.readUInt16BE(port) + copy) & 0xffff, port);
    }
    writeSync(file, body, 24);
  }
  closeSync(file);
  return path;
}

/** The most processor time, in milliseconds, that a task of a page's own thread took. Other programs do not lengthen it. */
function longestTask(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as {
    traceEvents: { name: string; pid: number; tid: number; tdur?: number; args?: { name?: string } }[];
  };
  const thread = ({ pid, tid }: { pid: number; tid: number }) => `${pid} ${tid}`;
  const named = traceEvents.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain");
  const main = new Set(named.map(thread));
  const tasks = traceEvents.filter((event) => event.name === "RunTask" && main.has(thread(event)));
  expect(tasks.length).toBeGreaterThan(50);
  return Math.max(...tasks.map(({ tdur }) => (tdur ?? 0) / 1000));
}

test("100 MB do not freeze the page, and nothing is sent", async ({ page, browser }) => {
  // A machine that is busy with other work takes its time.
  test.setTimeout(240_000);
  const path = large();
  expect(statSync(path).size).toBeGreaterThan(100e6);
  await page.evaluate(() => {
    const gaps: number[] = [];
    let before = performance.now();
    const frame = () => {
      const now = performance.now();
      gaps.push(now - before);
      before = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    Object.assign(globalThis, { gaps });
  });
  const gaps = () => page.evaluate(() => (globalThis as unknown as { gaps: number[] }).gaps.splice(0));
  await page.waitForTimeout(500);
  const idle = Math.max(...(await gaps()).slice(1));
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline"] });
  await choose(page, path);
  await gaps();
  await expect.poll(() => page.locator("#bar").evaluate((bar: HTMLProgressElement) => bar.value)).toBeGreaterThan(0);
  const sent = requests.length;
  await expect(answer(page)).toBeVisible({ timeout: 150_000 });
  await expect(page.locator(".flow")).toHaveCount(8);
  // The frame that shows them.
  await page.evaluate(() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then))));
  const longest = Math.max(...(await gaps()));
  const task = longestTask(await browser.stopTracing());
  const taken = await page.evaluate(() => performance.getEntriesByName("analysed")[0].duration);
  expect(requests.length).toBe(sent);
  expect(task).toBeGreaterThan(0);
  expect(task).toBeLessThan(100);
  const begun = Date.now();
  const { stdout } = onCommandLine(folder, "large.pcap", "--format", "json");
  console.log(
    `100 MB in ${(taken / 1000).toFixed(1)} s, on the command line with its JSON in ${((Date.now() - begun) / 1000).toFixed(1)} s; ` +
      `longest task ${task.toFixed(0)} ms, gap between frames ${longest.toFixed(0)} ms, without a capture ${idle.toFixed(0)} ms`,
  );
  expect((await saved(page)).equals(stdout)).toBe(true);
});

test("an analysis that is cancelled ends, and the next file is taken", async ({ page }) => {
  await choose(page, large());
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.locator("#message")).toHaveText("Cancelled. Nothing of large.pcap is kept.");
  await expect(page.locator("#progress")).toBeHidden();
  await expect(page.getByRole("button", { name: "Choose a file" })).toBeFocused();
  await expect.poll(() => page.workers().length).toBe(0);
  await choose(page, receiver);
  await expect(page.locator("#answer .file")).toContainText("receiver.pcap.gz: ");
});

test("the lab leads to the page and back, and the keyboard alone reaches every control", async ({ page }) => {
  await page.getByRole("link", { name: "The lab" }).click();
  await page.getByRole("link", { name: "A capture of yours" }).click();
  await expect(page).toHaveURL(/capture\.html$/);
  await choose(page, receiver);
  await expect(answer(page)).toBeVisible();
  const reached = new Set<string>();
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press("Tab");
    reached.add(
      await page.evaluate(() => {
        const at = document.activeElement;
        return at instanceof HTMLElement ? at.id || at.getAttribute("aria-label") || at.className || at.textContent || "" : "";
      }),
    );
  }
  for (const name of ["choose", "theme", "json", "All flows", "Previous loss of flow 1", "Next loss of flow 1"]) {
    expect([...reached], name).toContain(name);
  }
});

for (const [width, height] of [
  [390, 844],
  [1600, 1000],
]) {
  for (const scheme of ["light", "dark"] as const) {
    test(`${width} px, ${scheme}: a capture sticks out nowhere, axe finds nothing`, async ({ page }) => {
      mkdirSync("look", { recursive: true });
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: scheme });
      const look = async (name: string) => {
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
        await page.screenshot({ path: `look/capture-${width}-${scheme}-${name}.png`, fullPage: true });
      };
      await look("empty");
      await choose(page, made("no-capture-but-a-name-of-some-length-without-any-place-to-break-it.txt", "text"));
      await expect(page.locator("#error")).not.toBeEmpty();
      await look("refused");
      // The analysis waits for its module for as long as one looks.
      let go = () => {};
      const seen = new Promise<void>((then) => (go = then));
      await page.route("**/*.wasm", async (route) => {
        await seen;
        await route.continue();
      });
      await choose(page, receiver);
      await expect(page.getByRole("button", { name: "Cancel" })).toBeVisible();
      await look("analysing");
      go();
      await page.getByRole("button", { name: "Next loss of flow" }).first().click();
      await expect(page.locator(".flow .loss").first()).toContainText("sequence number");
      await look("answer");
    });
  }
}

test("the example is analysed at one press", async ({ page }) => {
  await page.click("#example");
  await expect(page.locator("#answer .file")).toContainText("slow.pcap.gz");
  await expect(page.locator("#answer dl.first code").first()).toHaveText("losscause analyze slow.pcap.gz --scenario slow.toml");
  await expect(answer(page)).toHaveText(/^\d+ lost packets in 1 flow\. /);
  // The only flow's picture does not say the headline again.
  await expect(page.locator("article.flow h3")).toBeVisible();
  await expect(page.locator("article.flow > p", { hasText: /^\d+ lost packets\./ })).toHaveCount(0);
});
