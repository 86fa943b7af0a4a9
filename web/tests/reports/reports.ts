// `cargo xtask look`: opens the program's reports, checks what only a browser can tell, and keeps screenshots for people
// to look at in target/look/PAGE/*.png.
//
// Checked: no message on the console, no network request, every scored number and claim in the state that result.json
// gives it, every link within the page leads somewhere that is then seen, no identifier is given twice, the page loads at
// once, on a phone nothing has to be scrolled sideways, and all text has the contrast of level AA, light and dark.

import { expect, test, type Browser } from "@playwright/test";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "../../..");
const program = process.env.LOSSCAUSE ?? join(root, "target/release/losscause");
/** The folder of the screenshots. In `record` is the report that `cargo xtask record` compares: all five papers. */
const look = process.env.LOOK ?? join(root, "target/look");
const script = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8");

/** The name of a part of a page, and the CSS selector of its first example. */
type Part = [name: string, selector: string];
const TABLE: Part = ["table", "main table"];
const FIGURE: Part = ["figure", "main figure:not(.recording)"];
const TIMELINE: Part = ["timeline", "main figure.recording, main #timeline, main .flow"];
/** Of an algorithm's page: its decisions over the samples of the run. */
const DECISIONS: Part = ["decisions", "main .algorithm figure"];

/** Captures of a TCP transfer over the air. */
const CAPTURES = "-q simulate cen2003/WLH --set N=1 --set flow.test.protocol=tcp --set tcp.variant=sack --pcap DIR/captures";
const [SENDER, RECEIVER] = ["DIR/captures/sender.pcap", "DIR/captures/receiver.pcap"];
const JSON_TOO = "--report DIR/report.html --format json";

/**
 * Every report: what it must contain, each photographed once, and the arguments of `losscause` that make it, command by
 * command. DIR is its folder, in which the last command writes report.html; what one prints as JSON becomes result.json.
 */
const REPORTS: Record<string, { shows: Part[]; commands: string[] }> = {
  record: { shows: [TABLE, FIGURE], commands: [] },
  preview: { shows: [TABLE, FIGURE, TIMELINE], commands: ["reproduce dalwadi cen2003/table2 --runs 2 --out DIR"] },
  simulate: {
    shows: [TABLE, DECISIONS, TIMELINE],
    commands: ["simulate cen2003/WLH --set N=4 --set flow.test.lda=ZBS --runs 3 --out DIR"],
  },
  compare: {
    shows: [TABLE, FIGURE],
    commands: ["compare scenarios/clean-link.toml --set loss=0.01 --lda none,ZBS,Spike --runs 5 --out DIR"],
  },
  sweep: { shows: [TABLE, FIGURE], commands: ["sweep web/tests/reports/sweep.toml --runs 3 --out DIR"] },
  capture: { shows: [TABLE, TIMELINE], commands: [CAPTURES, `analyze ${RECEIVER} ${SENDER} ${JSON_TOO}`] },
  "capture-joined": {
    shows: [TABLE, TIMELINE],
    commands: [CAPTURES, `analyze --sender ${SENDER} --receiver ${RECEIVER} ${JSON_TOO}`],
  },
};

/** Widths and heights of windows in CSS pixels. */
const WINDOWS = [[1400, 900], [390, 844]] as const;
/** A page should be there in a second; machines that run tests are slower and busy. */
const LOAD_LIMIT_MS = 10_000;

for (const [name, { shows, commands }] of Object.entries(REPORTS)) {
  test(`report ${name}`, async ({ browser }) => {
    const folder = join(look, name);
    if (commands.length > 0) rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const command of commands) {
      const words = command.replaceAll("DIR", folder).split(" ");
      const printed = execFileSync(program, words, { cwd: root, maxBuffer: 2 ** 30 });
      if (command.endsWith("--format json")) writeFileSync(join(folder, "result.json"), printed);
    }
    expect(await examine(join(folder, "report.html"), shows, browser)).toEqual([]);
  });
}

// A check that finds nothing must be one that can.
test("faulty.html has one example of every fault", async ({ browser }, { outputDir }) => {
  mkdirSync(outputDir, { recursive: true });
  const item = { id: "x", paper: "paper", status: "missed", within: false };
  writeFileSync(join(outputDir, "report.html"), script("faulty.html"));
  writeFileSync(join(outputDir, "result.json"), JSON.stringify({ claims: [], items: [item] }));
  const findings = (await examine(join(outputDir, "report.html"), [TABLE], browser)).join("\n");
  for (const fault of [
    "on the console: an error",
    "a script failed: a script fails",
    "it asks for file:",
    "the id twice is given twice",
    "nothing is called #nowhere",
    "missing.csv leads to no file",
    "at 390 px #covered leads to something that is hidden",
    'p.pale "pale text" has a contrast of 2.32 in light',
    "px too wide: p.wide",
    'the number paper.x shows ["met"]; by result.json it is "missed"',
    "the table's cell paper.x shows []",
    "it has no table",
  ]) {
    expect(findings).toContain(fault);
  }
});

/** Checks a report in every window and photographs it; a sentence per finding. */
async function examine(report: string, shows: Part[], browser: Browser): Promise<string[]> {
  const findings: string[] = [];
  const address = pathToFileURL(report).href;
  for (const [width, height] of WINDOWS) {
    const page = await browser.newPage({ viewport: { width, height }, isMobile: width < 600 });
    page.on("pageerror", (error) => findings.push(`a script failed: ${error.message}`));
    page.on("console", (message) => {
      if (["error", "warning", "assert"].includes(message.type())) findings.push(`on the console: ${message.text()}`);
    });
    page.on("request", (request) => {
      if (request.url() !== address) findings.push(`it asks for ${request.url()}`);
    });
    await page.goto(address);
    const inspection: Inspection = await page.evaluate(script("inspect.js"));
    const hidden: string[] = await page.evaluate(script("follow.js"));
    findings.push(...hidden.map((link) => `at ${width} px ${link} leads to something that is hidden`));
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      const pale: [string, number][] = await page.evaluate(script("contrast.js"));
      findings.push(...pale.map(([part, contrast]) => `${part} has a contrast of ${contrast.toFixed(2)} in ${scheme}`));
      for (const [part, selector] of [["top", "html"], ...(scheme === "light" ? shows : [])]) {
        const isThere = await page.evaluate((selector) => {
          const parts = [...document.querySelectorAll(selector)];
          const part = parts.find((part) => part.getClientRects().length && !part.closest("details:not([open])"));
          part?.scrollIntoView({ block: "start", behavior: "instant" });
          return Boolean(part);
        }, selector);
        if (!isThere) findings.push(`it has no ${part} (${selector} finds nothing that is shown)`);
        const name = scheme === "light" ? part : `${part}-dark`;
        if (isThere) await page.screenshot({ path: join(dirname(report), `${name}-${width}x${height}.png`) });
      }
    }
    if (inspection.scrolls_by_px > 0) {
      findings.push(`at ${width} px it is ${inspection.scrolls_by_px} px too wide: ${inspection.too_wide.join(", ")}`);
    }
    if (width === WINDOWS[0][0]) findings.push(...faults(inspection, report));
    await page.close();
  }
  return findings;
}

/** A place in the page, and the state or mark that it shows. */
type Shown = [at: string, state: string];

/** What `inspect.js` finds in an open page. */
type Inspection = Record<"numbers" | "claims" | "cells" | "settled", Shown[]> &
  Record<"ids_given_twice" | "links_to_nothing" | "links_elsewhere" | "too_wide", string[]> &
  Record<"load_ms" | "links" | "scrolls_by_px", number> & { text: string };

/** What is wrong with the page itself, in any window. */
function faults(page: Inspection, report: string): string[] {
  const { load_ms, links, numbers, claims } = page;
  const [kib, ms] = [Math.ceil(statSync(report).size / 1024), load_ms.toFixed(0)];
  console.log(`${kib} KiB, loaded in ${ms} ms, ${links} links, ${numbers.length} scored numbers, ${claims.length} settled claims`);
  const isNowhere = (link: string) => !existsSync(join(dirname(report), link)) && !link.startsWith("https://");
  return [
    ...(load_ms > LOAD_LIMIT_MS ? [`it loads in ${ms} ms`] : []),
    ...page.ids_given_twice.map((id) => `the id ${id} is given twice`),
    ...page.links_to_nothing.map((id) => `nothing is called #${id}`),
    ...page.links_elsewhere.filter(isNowhere).map((link) => `the link ${link} leads to no file beside the report`),
    // A sweep has no states.
    ...(existsSync(join(dirname(report), "sweep.json")) ? [] : unlike(page, JSON.parse(readFileSync(join(dirname(report), "result.json"), "utf8")))),
  ];
}

/** In what the page differs from the result. */
function unlike(page: Inspection, result: any): string[] {
  if (result.items) {
    const items = result.items.map((item: any) => [anchor(item), stateOf(item)]).filter(([, state]: any) => state);
    const claims = result.claims.map((claim: any) => [anchor(claim), STATES[claim.holds]]).filter(([, state]: any) => state);
    return [
      ...(items.length > 0 ? [] : ["result.json has no scored number to compare with"]),
      ...differences("number", items, 0, page.numbers, true),
      ...differences("table's cell", items, 1, page.cells, false),
      ...differences("claim", claims, 0, page.claims, true),
      ...differences("claim in the list", claims, 1, page.settled, false),
    ];
  }
  if (result.captures) {
    const rows: string[] = result.captures.flatMap((capture: any) => capture.flows.map(rowOf));
    const missing = rows.filter((row) => !page.text.includes(row)).map((row) => `it does not show the flow "${row}"`);
    return rows.length > 0 ? missing : ["result.json has no flow to compare with"];
  }
  // The page begins sentences with capitals, and does not break a line before an interval.
  const text = page.text.toLowerCase().replaceAll("\u00a0", " ");
  const sentences: string[] = (result.verdict ?? "").toLowerCase().split("; ");
  const missing = sentences.filter((sentence) => !text.includes(sentence));
  return missing.map((sentence) => `it does not show the verdict "${sentence}"`);
}

/** The place of a value or claim in the page: a hyphen for every character that links would encode. */
const anchor = ({ paper, id }: any) => `${paper}.${id.replace(/[^\p{Alphabetic}\p{N}._-]/gu, "-")}`;

/** How a state is shown: the name in the score box, and the mark in tables and on the terminal. */
const STATES: Record<string, Shown> = { true: ["met", "✓"], false: ["missed", "✗"] };
const PREVIEWS: Record<string, Shown> = { true: ["preview-met", "(✓)"], false: ["preview-missed", "(✗)"] };

/** The state of a value that is scored; none for all others. */
function stateOf({ status, within }: any): Shown | undefined {
  if (status === "preview") return PREVIEWS[String(within === true)];
  return status === "reproduced" ? STATES.true : status === "missed" ? STATES.false : undefined;
}

/** A sentence for each place that shows another state; if it is strict, also for one of which result.json knows nothing. */
function differences(what: string, expected: [string, Shown][], kind: 0 | 1, shown: Shown[], isStrict: boolean): string[] {
  const wanted = new Map(expected.map(([at, states]) => [at, states[kind]]));
  const places = new Set([...wanted.keys(), ...(isStrict ? shown.map(([at]) => at) : [])]);
  return [...places].flatMap((at) => {
    const is = shown.filter(([place]) => place === at).map(([, state]) => state);
    const wants = wanted.get(at) ?? "";
    const isRight = is.length === 1 && is[0] === wants;
    return isRight ? [] : [`the ${what} ${at} shows ${JSON.stringify(is)}; by result.json it is "${wants}"`];
  });
}

/**
 * The row of a capture's flow as a browser gives its text: the cause, and where it is the air or not shown, the recommended
 * algorithm's verdicts, as the JSON has them, without those that only a timer's rule gave.
 */
function rowOf(flow: any): string {
  const lost = flow.losses.length + (flow.unlisted_losses ?? 0);
  const byTimer = flow.losses.filter(({ evidence }: any) => ["timeout", "tail-probe"].includes(evidence)).length;
  const { wireless = 0, congestion = 0, undecided = 0 } = flow.summary[flow.recommended] ?? {};
  const byRule = Math.min(congestion, byTimer);
  const sent = flow.packets + (["sender", "both"].includes(flow.vantage) ? 0 : lost);
  const percent = (100 * lost) / Math.max(sent, 1);
  // The program rounds a tie to the even digit.
  const rounded = (percent % 1 === 0.25 ? percent - 0.05 : percent).toFixed(1);
  const end = (key: string) => (flow[`${key}_name`] ? `${flow[key]} (${flow[`${key}_name`]})` : flow[key]);
  const id = flow.minor ? `(${flow.id})` : flow.id;
  const row = [id, end("src"), end("dst"), flow.vantage, flow.packets, lost, rounded, flow.sent_again ?? 0];
  if (lost === 0) return row.join("\t");
  const { cause, certainty } = flow.diagnosis;
  row.push(certainty === "cannot-tell" ? cause : `${cause}, ${certainty}`);
  if (["air", "not-shown"].includes(cause)) {
    const verdicts = { wireless, congestion: congestion - byRule, undecided: undecided + byRule };
    const counts = Object.entries(verdicts).filter(([, count]) => count > 0);
    const name = flow.recommended.replaceAll("@", " at the ");
    row.push(`${name}: ${counts.map(([what, count]) => `${count} ${what}`).join(", ")}`);
  }
  return row.join("\t");
}
