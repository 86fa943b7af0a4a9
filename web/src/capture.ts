import exampleAddress from "../../examples/slow.pcap.gz?url";
import { LossChart } from "./capture-chart";
import type { Ask, First, FlowView, Told, View } from "./capture-protocol";
import { byId, element } from "./dom";
import { onChange, setTheme, type Theme } from "./theme";

const page = {
  drop: byId("drop", HTMLElement),
  choose: byId("choose", HTMLButtonElement),
  example: byId("example", HTMLButtonElement),
  file: byId("file", HTMLInputElement),
  theme: byId("theme", HTMLSelectElement),
  progress: byId("progress", HTMLDivElement),
  reading: byId("reading", HTMLLabelElement),
  bar: byId("bar", HTMLProgressElement),
  share: byId("share", HTMLOutputElement),
  cancel: byId("cancel", HTMLButtonElement),
  message: byId("message", HTMLParagraphElement),
  error: byId("error", HTMLParagraphElement),
  answer: byId("answer", HTMLDivElement),
};

/** The columns of the flows' table, as the program has them, and which of them are numbers. */
const COLUMNS = ["flow", "data from", "to", "seen at", "packets", "losses", "%", "again", "cause", "one by one"];
const NUMBERS = new Set(["flow", "packets", "losses", "%", "again"]);

/** Rows of the table that are laid out in one frame. */
const ROWS_AT_ONCE = 40;

/** The worker with the capture that is read or shown. */
let worker: Worker | null = null;
let charts: LossChart[] = [];
let begun = 0;

function say(text: string) {
  page.message.textContent = text;
}

/** Forgets the capture: its worker ends, whatever it does. */
function forget() {
  worker?.terminate();
  worker = null;
  for (const chart of charts) chart.remove();
  charts = [];
  page.answer.replaceChildren();
  page.error.textContent = "";
  page.progress.hidden = true;
  say("");
}

function fail(sentence: string) {
  forget();
  page.error.textContent = sentence;
}

function open(file: File) {
  forget();
  begun = performance.now();
  page.reading.textContent = `Reading ${file.name}`;
  page.progress.hidden = false;
  showRead(0, file.size);
  page.cancel.onclick = () => {
    forget();
    say(`Cancelled. Nothing of ${file.name} is kept.`);
    page.choose.focus();
  };
  const own = new Worker(new URL("./capture-worker.ts", import.meta.url), { type: "module" });
  worker = own;
  own.addEventListener("message", ({ data }: MessageEvent<Told>) => {
    if (own === worker) take(data, file);
  });
  own.addEventListener("error", () => {
    if (own === worker) fail("The analysis could not be loaded: load this page again.");
  });
  ask({ ask: "file", file });
}

function ask(asked: Ask) {
  worker?.postMessage(asked);
}

function take(told: Told, file: File) {
  switch (told.told) {
    case "read":
      return showRead(told.bytes, file.size);
    case "view":
      // Shown by the browser's own tools.
      performance.measure("analysed", { start: begun });
      return void show(told.view, file.name);
    case "loss":
      return charts[told.flow]?.tell(told.loss, told.words);
    case "json":
      return save(told.json, file.name);
    case "error":
      if (!told.isInput) console.error(told.error);
      return fail(told.error);
  }
}

function showRead(bytes: number, all: number) {
  const share = all > 0 ? Math.min(bytes / all, 1) : 1;
  page.bar.value = share;
  page.share.textContent = `${Math.floor(100 * share)} % of ${size(all)}`;
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

/** The answer at once; parts of the table and each picture in frames of their own, so that no frame waits for all of them. */
async function show(view: View, file: string) {
  const own = worker;
  page.progress.hidden = true;
  const seconds = Number(view.duration_s.toPrecision(4));
  const parts: Node[] = [
    element("p", { className: "file" }, `${file}: ${view.packets.toLocaleString("en")} packets in ${seconds} s`),
    element("h2", { className: "says" }, ...inParts(view)),
  ];
  parts.push(...view.first.map((told) => first(told, file)));
  if (view.cut !== null) parts.push(element("p", { className: "cut" }, view.cut));
  if (view.drawn.length > 1) parts.push(element("ul", {}, ...view.drawn.map(sentence)));
  if (view.undrawn > 0) {
    const flows = view.undrawn === 1 ? "1 more flow has" : `${view.undrawn} more flows have`;
    parts.push(element("p", { className: "soft small" }, `${flows} losses, fewer each: see the table.`));
  }
  if (view.notes.length > 0) {
    parts.push(element("ul", { className: "notes" }, ...view.notes.map((note) => element("li", {}, `${note.charAt(0).toUpperCase()}${note.slice(1)}.`))));
  }
  parts.push(actions(file));
  page.answer.replaceChildren(...parts);
  say("");
  page.answer.focus({ preventScroll: true });
  const rows = element("tbody", {});
  const chunks = Array.from({ length: Math.ceil(view.rows.length / ROWS_AT_ONCE) }, (_, part) =>
    view.rows.slice(part * ROWS_AT_ONCE, (part + 1) * ROWS_AT_ONCE));
  const steps = [
    () => page.answer.append(table(view, rows)),
    ...chunks.map((part) => () => rows.append(...part.map(row))),
    ...view.drawn.map((flow, place) => () => void charts.push(drawn(flow, place, isTold(view)))),
  ];
  for (const step of steps) {
    await frame();
    // Another file may have come meanwhile.
    if (worker !== own) return;
    step();
  }
}

/** The next frame has been shown, or would have been if the page could be seen. */
function frame(): Promise<void> {
  return new Promise((then) => {
    if (document.hidden) setTimeout(then);
    else requestAnimationFrame(() => setTimeout(then));
  });
}

/** Why, what it cost, what to do, and the next commands. */
function first(told: First, file: string): HTMLElement {
  const part = (name: string, ...said: (string | HTMLElement)[]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, ...said));
  const parts = [part("Why", element("strong", {}, told.cause), element("ul", {}, ...told.evidence.map((said) => element("li", {}, said))))];
  if (told.cost !== "") parts.push(part("Goodput", told.cost));
  parts.push(part("Do first", element("strong", {}, told.advice)));
  if (told.next.length > 0) parts.push(part("Next", ...told.next.map((command) => element("code", {}, named(command, file)))));
  return element("dl", { className: "first" }, ...parts);
}

/** The answer: its cause as the headline, what follows in small. */
function inParts({ answer, first }: View): (string | Node)[] {
  const cause = first.length === 1 ? first[0].cause.replace(/\.$/, "") : "";
  const end = answer.indexOf(cause) + cause.length;
  return cause && end > cause.length ? [answer.slice(0, end), element("span", {}, answer.slice(end))] : [answer];
}

/** Whether the headline says what is said of the only flow with losses; the first sentence counts them. */
function isTold({ answer, drawn }: View): boolean {
  const [, ...causes] = drawn[0]?.answer.split(". ") ?? [];
  return drawn.length === 1 && causes.every((said) => answer.includes(said));
}

/** A flow's answer, and the way to its picture. */
function sentence(flow: FlowView): HTMLElement {
  return element("li", {}, element("a", { href: `#flow-${flow.id}` }, flow.name), `: ${flow.answer}`);
}

function actions(file: string): HTMLElement {
  const save = element("button", { type: "button", id: "json" }, "Save the JSON");
  save.addEventListener("click", () => ask({ ask: "json" }));
  const command = element("code", {}, `losscause analyze ${quoted(file)} --format json`);
  return element("p", { className: "soft small" }, save, " Every loss with every algorithm's verdict, as ", command, " prints it.");
}

/** The command with the capture's name in the place of FILE. */
function named(command: string, file: string): string {
  return command.startsWith("losscause analyze ") ? command.replace("FILE", () => quoted(file)) : command;
}

/** A name as a shell takes it. */
function quoted(name: string): string {
  return /^[\w.,+@%/-]+$/.test(name) && !name.startsWith("-") ? name : `'./${name.replaceAll("'", "'\\''")}'`;
}

function cell(tag: "td" | "th", text: string, column: number): HTMLElement {
  return element(tag, { className: NUMBERS.has(COLUMNS[column]) ? "number" : "" }, text);
}

function row(cells: string[]): HTMLElement {
  const made = cells.map((text, column) => cell("td", text, column));
  // On a phone a row's cells stand below each other, each behind its column's name.
  made.forEach((one, column) => (one.dataset.head = COLUMNS[column]));
  return element("tr", {}, ...made);
}

/** The table of flows around its rows. */
function table(view: View, rows: HTMLElement): HTMLElement {
  const head = COLUMNS.map((name, column) => {
    const made = cell("th", name, column);
    made.setAttribute("scope", "col");
    return made;
  });
  const made = element("table", {}, element("thead", {}, element("tr", {}, ...head)), rows);
  const place = element("div", { className: "flows", tabIndex: 0, role: "region", ariaLabel: "All flows" }, made);
  const all = element("div", {}, filter(rows), place);
  if (view.without_row > 0) {
    const more = `… and ${view.without_row} more flows; losscause analyze --verbose shows them.`;
    all.append(element("p", { className: "soft small" }, more));
  }
  return all;
}

/** Hides the rows, and the pictures, of flows that do not have all words: a host, a port or a number. */
function filter(rows: HTMLElement): HTMLElement {
  const box = element("input", { type: "search", placeholder: "host, port or number" });
  const said = element("output", { className: "soft small" });
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const has = (id: string, ends: string) =>
      words.every((word) => id === word || ends.toLowerCase().includes(word));
    const texts = (row: Element) => [...row.children].map((cell) => cell.textContent ?? "");
    const all = [...rows.children].filter((row) => row instanceof HTMLElement);
    for (const row of all) {
      const [id, from, to] = texts(row);
      row.hidden = !has(id.replace(/[()]/g, ""), `${from} ${to}`);
    }
    for (const article of page.answer.querySelectorAll<HTMLElement>("article.flow")) {
      article.hidden = !has(article.id.replace("flow-", ""), article.querySelector("h2")?.textContent ?? "");
    }
    said.textContent = words.length > 0 ? ` ${all.filter((row) => !row.hidden).length} of ${all.length} flows` : "";
  });
  return element("p", { className: "filter" }, element("label", {}, "Show flows of ", box), said);
}

/** A flow's losses over time, and how far to trust the verdicts. */
function drawn(flow: FlowView, place: number, isTold: boolean): LossChart {
  const kinds = [
    ...flow.kinds.map(({ look, words }) => [look, words]),
    ...(flow.queueing_ms.length > 0 ? [["delay", "queueing delay of all packets"]] : []),
    ...(flow.path_kbps !== null ? [["path", "what the path takes"]] : []),
  ];
  const marks = kinds.map(([look, words]) => {
    const shape = element("span", { className: "shape" });
    shape.dataset.look = look;
    return element("li", {}, shape, words);
  });
  const strip = element("div", {});
  const article = element(
    "article",
    { className: "flow", id: `flow-${flow.id}` },
    element("h2", {}, flow.name),
    ...(isTold ? [] : [element("p", {}, flow.answer)]),
    ...(flow.evidence === null ? [] : [element("p", {}, flow.evidence)]),
    ...flow.trust.map((said) => element("p", { className: "soft small" }, said)),
    element("h3", {}, `${flow.losses.time_s.length > 0 ? "Losses at their queueing" : "Queueing"} delay in ms, bytes in queues, and rate over time`),
    element("ul", { className: "marks" }, ...marks),
    strip,
  );
  if (flow.unmarked > 0) {
    article.append(element("p", { className: "soft small" }, `${flow.unmarked} more losses have no mark.`));
  }
  page.answer.append(article);
  const instant = (at: number | null) => charts.forEach((chart) => chart.showInstant(at));
  return new LossChart(strip, flow, (loss) => ask({ ask: "told", flow: place, loss }), instant);
}

function save(json: Uint8Array<ArrayBuffer>, file: string) {
  const address = URL.createObjectURL(new Blob([json], { type: "application/json" }));
  element("a", { href: address, download: `${file}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Takes the only one of the files. Without one, what is read or shown stays. */
function only(files: FileList | null | undefined) {
  if (files?.length === 1) return open(files[0]);
  page.error.textContent = files?.length
    ? `${files.length} files were dropped, expected one.`
    : "No file was dropped, expected a capture.";
}

/** Analyses the capture of the README. */
async function openExample() {
  try {
    const answer = await fetch(exampleAddress);
    if (!answer.ok) throw new Error(String(answer.status));
    open(new File([await answer.arrayBuffer()], "slow.pcap.gz"));
  } catch {
    fail("The example could not be loaded: load this page again.");
  }
}

function listen() {
  page.example.addEventListener("click", () => void openExample());
  page.choose.addEventListener("click", () => page.file.click());
  page.file.addEventListener("change", () => {
    if (page.file.files?.length) only(page.file.files);
    // The same file may be chosen again.
    page.file.value = "";
  });
  // Anywhere on the page: a browser would leave the page for a file beside the place.
  addEventListener("dragover", (event) => {
    event.preventDefault();
    page.drop.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) page.drop.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    page.drop.classList.remove("over");
    only(event.dataTransfer?.files);
  });
  const redraw = () => charts.forEach((chart) => chart.draw());
  page.theme.addEventListener("change", () => {
    setTheme(page.theme.value as Theme);
    redraw();
  });
  onChange(redraw);
}

listen();
document.documentElement.dataset.ready = "";
