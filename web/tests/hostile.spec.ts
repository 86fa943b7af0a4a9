// Whatever a scenario or a link holds is shown as text, or refused in a sentence that is shown as text.

import { deflateSync } from "node:zlib";
import { expect, paused, test, type Page } from "./page";

/** Numbers from 0 to 1, the same in every run (mulberry32). */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const MARKUP = [
  "<script>ran('script')</script>",
  "<img src=x onerror=ran('img')>",
  "<svg/onload=ran('svg')>",
  "<iframe srcdoc='<script>parent.ran(1)</script>'></iframe>",
  "<a href=javascript:ran('a')>radio</a>",
  "<base href=//example.org>",
  "<style>*{display:none}</style>",
  "<math><mtext></form><form><mglyph><style></math><img src onerror=ran('mxss')>",
  "</option></select><details open ontoggle=ran('toggle')>",
  "</textarea><input autofocus onfocus=ran('focus')>",
  "<template><script>ran('template')</script></template>",
];
const ATTRIBUTES = [`" onmouseover="ran('attribute')`, `' autofocus onfocus='ran(1)`, "` onclick=ran(1) `", `"><script>ran(2)</script>`, "' style='position:fixed"];
const ADDRESSES = ["javascript:ran('address')", "data:text/html,<script>parent.ran(1)</script>", "//example.org/x.js", "https://example.org/a.png", "file:///etc/passwd"];
const TEMPLATES = ["${ran('template')}", "{{constructor.constructor('ran(1)')()}}", "%3Cscript%3Eran(1)%3C/script%3E", "&lt;script&gt;ran(1)&lt;/script&gt;", "\\u003cscript>"];
const LETTERS = ["\u202eoidar", "\u2066radio\u2069", "r\u0430dio", "\u200b\u200d\ufeff", "\ud83d\udce1\ufe0f", "Z\u0351\u036b\u0343a\u0321l\u0328go", "\u{e0001}\u{e0041}", "\ufffd\ufffe", "ﷺ", "\u2028\u2029", "\u00ad\u0007"];
const WORDS = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

/** A few pieces, one after the other. */
function payload(draw: () => number): string {
  const kinds = [MARKUP, MARKUP, ATTRIBUTES, ADDRESSES, TEMPLATES, LETTERS, LETTERS, WORDS];
  const of = <Item>(items: Item[]) => items[Math.floor(draw() * items.length)];
  return Array.from({ length: 1 + Math.floor(draw() * 3) }, () => of(of(kinds))).join(draw() < 0.5 ? "" : " ");
}

/** Characters that act on what shows them: a title with one is refused. */
const ACTS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

interface Names {
  title: string;
  link: string;
  flow: string;
  parameter: string;
  value: string;
}

const PLAIN: Names = { title: "plain", link: "radio", flow: "stream", parameter: "loss", value: "0.02" };

/** A string of TOML, for a value or a key. */
const quoted = (text: string) => JSON.stringify(text).replaceAll("\u007f", "\\u007f");

function scenario({ title, link, flow, parameter, value }: Names): string {
  return `title = ${quoted(title)}
source = ${quoted(title)}
duration_s = 20
[parameters]
${quoted(parameter)} = ${quoted(value)}
[[link]]
name = ${quoted(link)}
rate_bps = 1e6
delay_ms = 10
queue_packets = 10
[[flow]]
name = ${quoted(flow)}
protocol = "tfrc"
path = [${quoted(link)}]
`;
}

function shareLink(content: object): string {
  return `#lab2.${deflateSync(JSON.stringify(content)).toString("base64url")}`;
}

/** Notices scripts that ran and what the policy forbade. */
async function watch(page: Page) {
  await page.addInitScript(() => {
    const noticed: string[] = [];
    Object.assign(globalThis, { noticed, ran: (what: unknown) => noticed.push(`ran ${String(what)}`) });
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => noticed.push(`${violatedDirective}: ${blockedURI}`));
  });
}

/** What is there besides the lab's own: scripts that ran, elements, attributes that run script, addresses. */
function intruders(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found = [...(globalThis as unknown as { noticed: string[] }).noticed];
    const allowed = new Set(
      ("html head meta title link script body a header div h1 span p label select option optgroup input button section output main h2 " +
        "article h3 canvas table caption thead tbody tr td th ul li svg rect path circle kbd textarea pre footer noscript").split(" "),
    );
    for (const element of document.querySelectorAll("*")) {
      const name = element.localName;
      if (!allowed.has(name)) found.push(`<${name}>`);
      for (const attribute of element.attributes) {
        if (attribute.name.startsWith("on") || attribute.name === "srcdoc") found.push(`${name} ${attribute.name}`);
        const isAddress = attribute.name === "href" || attribute.name === "src";
        if (isAddress && name !== "a" && !/^(\.\/|#)/.test(attribute.value)) found.push(`${name} ${attribute.value}`);
      }
    }
    if (document.scripts.length !== 1) found.push(`${document.scripts.length} scripts`);
    // The page's own lead to the run, to the tutorial and to the page of captures.
    const links = [...document.querySelectorAll("a")].map((link) => link.getAttribute("href")).join(" ");
    if (links !== "#systems ../docs/tutorial.html ./capture.html") found.push(`links ${links}`);
    return found;
  });
}

test("no name, title or value of forty drawn scenarios runs script or becomes an element", async ({ page }) => {
  await watch(page);
  await paused(page);
  const draw = draws(20);
  const said = page.locator("#error");
  for (let round = 0; round < 40; round += 1) {
    const key = (Object.keys(PLAIN) as (keyof Names)[])[round % 5];
    const hostile = payload(draw);
    await page.fill("#text", scenario({ ...PLAIN, [key]: hostile }));
    await page.evaluate(() => (document.querySelector("#message")!.textContent = ""));
    await page.click("#run");
    await expect(page.locator("#message"), hostile).toHaveText(/The text runs\.|the last good run goes on\.$/);
    const error = await said.textContent();
    if (key === "title" && ACTS.test(hostile)) {
      expect(error, hostile).toMatch(/^own\.toml: (title|source): has U\+[0-9A-F]{4}, /);
    } else if (key === "title") {
      expect(error, hostile).toBe("");
      expect(await page.locator("#scenario option:checked").evaluate((own) => own.textContent)).toBe(`Own: ${hostile}`);
    } else if (key !== "value" && /^\w+$/.test(hostile)) {
      expect(error, hostile).toBe("");
    } else {
      expect(error, hostile).toMatch(/^own\.toml[:,]/);
      // A name that is refused is named, letter by letter; the program spells out those that cannot be seen.
      if ((key === "link" || key === "flow") && /^[ -~]*$/.test(hostile)) expect(error).toContain(hostile);
    }
    expect(await intruders(page), hostile).toEqual([]);
  }
});

test("no share link and no link by name runs script, whatever it holds", async ({ page }) => {
  await watch(page);
  const draw = draws(7);
  const text = scenario(PLAIN);
  const plain = { protocol: "", algorithm: "", settings: "" };
  for (let round = 0; round < 7; round += 1) {
    const hostile = payload(draw);
    const whole = { name: "own.toml", text, seed: 1, systems: [plain, plain], parameters: {}, changes: [] };
    const links = [
      { ...whole, name: hostile },
      { ...whole, text: scenario({ ...PLAIN, title: hostile }) },
      { ...whole, systems: [{ ...plain, settings: `flow.${hostile}=${hostile}` }, plain] },
      { ...whole, systems: [plain, { protocol: hostile, algorithm: hostile, settings: "" }] },
      { ...whole, parameters: { [hostile]: 1 } },
      { ...whole, changes: [[1, hostile]] },
    ];
    await page.goto("about:blank");
    await paused(page, round < links.length ? shareLink(links[round]) : `#try?scenario=${encodeURIComponent(hostile)}&a=${encodeURIComponent(hostile)}`);
    const shown = await page.locator("body").innerText();
    if (round === 0) expect(await page.locator("#command").textContent()).toContain("losscause simulate own.toml");
    if (round > 1) expect(shown).toContain("the lab shows its first scenario instead");
    await page.click("#step");
    expect(await intruders(page), hostile).toEqual([]);
  }
});

test("the policy of the page allows nothing of another host and no script in the page", async ({ page, complaints }) => {
  await watch(page);
  await paused(page);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "ran('inline')";
    const picture = document.createElement("img");
    picture.setAttribute("onerror", "ran('handler')");
    picture.src = "data:image/png;base64,AAAA";
    document.body.append(script, picture);
  });
  const noticed = () => page.evaluate(() => (globalThis as unknown as { noticed: string[] }).noticed.join("; "));
  await expect.poll(noticed).toContain("script-src-elem: inline");
  await expect.poll(noticed).toContain("img-src: data");
  expect(await noticed()).not.toContain("ran ");
  // Here they are what is asked for.
  expect(complaints.length).toBeGreaterThan(1);
  complaints.length = 0;
});
