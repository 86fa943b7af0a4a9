import { inWords, isOfFlow, type Change } from "./changes";
import { Pair, Table, unitsOf } from "./charts";
import { button, byId, element } from "./dom";
import { Editor } from "./editor";
import type { Foreseen } from "./foresight.js";
import { keyItems } from "./key";
import { LinkSliders } from "./links";
import type { Catalogue, Frame, Info, LossRow, Network, Opened, Outcome, Setup, System } from "./protocol";
import { Race } from "./race";
import { spanOf } from "./round";
import { CHOICES, FIRST, source as sourceOf } from "./scenarios";
import { fillSelects, option } from "./selects";
import { commandOf, savedAs } from "./settings.js";
import { decode, encode, isSeed, named } from "./share";
import { Refusal, Simulator } from "./simulator";
import { STORIES } from "./stories.js";
import { Teller } from "./teller";
import { term } from "./terms";
import { isStill, onChange, setTheme, type Theme } from "./theme";
import { quantitiesOf, View, type Drawn } from "./view";

/** Larger runs would keep a page busy for minutes. */
const MOST_PACKET_HOPS = 40e6;
/** Time for the simulator in each frame of the page. */
const BUDGET_MS = 12;

const page = {
  scenario: byId("scenario", HTMLSelectElement),
  seed: byId("seed", HTMLInputElement),
  share: byId("share", HTMLButtonElement),
  theme: byId("theme", HTMLSelectElement),
  play: byId("play", HTMLButtonElement),
  step: byId("step", HTMLButtonElement),
  restart: byId("restart", HTMLButtonElement),
  speed: byId("speed", HTMLSelectElement),
  scrub: byId("scrub", HTMLInputElement),
  clock: byId("clock", HTMLOutputElement),
  same: byId("same", HTMLParagraphElement),
  message: byId("message", HTMLParagraphElement),
  changes: byId("changes", HTMLParagraphElement),
  forget: byId("forget", HTMLButtonElement),
  protocols: [byId("protocol-0", HTMLSelectElement), byId("protocol-1", HTMLSelectElement)] as const,
  settings: [byId("settings-0", HTMLInputElement), byId("settings-1", HTMLInputElement)] as const,
  stories: byId("stories", HTMLDivElement),
  story: byId("story", HTMLDivElement),
  algorithms: [byId("algorithm-0", HTMLSelectElement), byId("algorithm-1", HTMLSelectElement)] as const,
  parameters: byId("parameters", HTMLDivElement),
  text: byId("text", HTMLTextAreaElement),
  error: byId("error", HTMLParagraphElement),
  run: byId("run", HTMLButtonElement),
  save: byId("save", HTMLButtonElement),
  command: byId("command", HTMLPreElement),
};

const SIDES = [0, 1] as const;
const LETTERS = ["A", "B"] as const;

let simulator: Simulator;
let setup: Setup;
let views: [View, View] | null = null;
let pairs: Pair[] = [];
let race: Race | null = null;
let now = 0;
let playing = false;
let speed = 1;
/** The speed that the user chose, while a story has its own. */
let usual: string | null = null;
let lastFrame = 0;
let nextPair = 0;
let isBusy = false;
let changes: Change[] = [];
/** What makes each system of the scenario. */
let settings: [string[], string[]] = [[], []];
/** Stands for a scenario that is none of the choices. */
const own = option("", "");
const links = new LinkSliders(
  byId("links", HTMLDivElement),
  (settings) => change(settings),
  (link) => void watch(link),
);

const teller = new Teller(page.story, {
  play: () => {
    playing = true;
    showTime();
  },
  pause: () => {
    playing = false;
    showTime();
  },
  pace: (told) => {
    if (told !== null) usual ??= page.speed.value;
    page.speed.value = told === null ? (usual ?? page.speed.value) : String(told);
    if (told === null) usual = null;
    speed = Number(page.speed.value);
  },
  mark: (seq) => {
    for (const { bottleneck } of views ?? []) bottleneck.mark(seq);
  },
  again: async (parameters) => {
    const done = await reopen({ ...setup, parameters }, "Both start again.", true);
    return done ? foresee() : undefined;
  },
});

/** Milliseconds of script of the last frames, for measuring. */
const costs: number[] = [];
Object.assign(globalThis, { labCosts: costs });

function say(text: string, isBad = false) {
  page.message.textContent = text;
  page.message.classList.toggle("bad", isBad);
}

function problem(error: unknown) {
  say(error instanceof Error ? error.message : String(error), true);
  if (!(error instanceof Refusal)) console.error(error);
}

async function open(next: Setup, first: boolean, planned: [number, string][] = []): Promise<boolean> {
  const before = setup;
  setup = next;
  try {
    const opened = await simulator.ask<Opened>({ ask: "open", setup: next, most: MOST_PACKET_HOPS, changes: planned });
    page.error.textContent = "";
    show(opened);
    return true;
  } catch (error) {
    if (!first) setup = before;
    const text = error instanceof Error ? error.message : String(error);
    page.error.textContent = text;
    say(first ? text : `${text} – the last good run goes on.`, true);
    selectLine(text);
    return false;
  }
}

/** Shows the line of the text that an error names. */
function selectLine(error: string) {
  const line = Number(/, line (\d+):/.exec(error)?.[1]);
  if (!line) return;
  const lines = page.text.value.split("\n");
  const from = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  page.text.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0));
}

function show(opened: Opened) {
  const { infos, columns, network } = opened;
  ({ settings } = opened);
  now = 0;
  build(infos, columns);
  page.scrub.max = String(infos[0].duration_s);
  page.scrub.step = String(infos[0].step_s);
  showScenario(infos[0].title);
  links.show(infos[0].links, infos[0].flows, infos[0].bottleneck);
  parameters(infos[0]);
  showTime();
  showNetwork(network);
  drawAll();
}

/** Everything that is drawn of both runs, still empty. */
function build(infos: [Info, Info], columns: [number, number]) {
  race?.remove();
  for (const pair of pairs) pair.remove();
  for (const view of views ?? []) view.remove();
  const tables: [Table, Table] = [new Table(columns[0]), new Table(columns[1])];
  const quantities = SIDES.map((side) => quantitiesOf(infos[side])) as [Drawn[], Drawn[]];
  // A second axis takes its room from all, so that an instant stands at the same place everywhere.
  const right = quantities.flat().some((quantity) => unitsOf(quantity).length > 1) ? 46 : 16;
  const span = () => spanOf(now, infos[0].duration_s, speed);
  const [a, b] = SIDES.map((side) => {
    const ask = (place: number) => simulator.ask<LossRow>({ ask: "loss", side, place });
    return new View(side, LETTERS[side], infos[side], tables[side], quantities[side], { span, right, ask });
  });
  views = [a, b];
  race = new Race(byId("race", HTMLElement), infos, tables, quantities, span);
  pairs = quantities[0].map(
    (quantity, at) =>
      new Pair([quantity, quantities[1][at]], tables, [a.places[at], b.places[at]], span, right, (to) => void seek(to)),
  );
}

/** Which scenario runs: one of the choices, or one's own by its title. */
function showScenario(title: string) {
  own.remove();
  const isChoice = CHOICES.some(({ name }) => name === setup.source.name);
  if (!isChoice) {
    own.textContent = `Own: ${title}`;
    page.scenario.prepend(own);
  }
  page.scenario.value = isChoice ? setup.source.name : "";
}

function parameters(info: Info) {
  const fields = info.parameters.map(([name, value]) => {
    const input = element("input", { type: "number", value: String(value), step: "any" });
    input.addEventListener("change", () => {
      const number = input.valueAsNumber;
      if (!Number.isFinite(number)) {
        say(`${name} is empty, expected a number.`, true);
        input.value = String(value);
        return;
      }
      void reopen({ ...setup, parameters: { ...setup.parameters, [name]: number } }, `${name} is ${number} from the start.`).then((done) => {
        if (!done) input.value = String(value);
      });
    });
    return element("label", {}, name, input);
  });
  page.parameters.replaceChildren(...fields);
}

function take(frame: Frame, at: number) {
  if (!views) return;
  now = frame.now;
  for (const side of SIDES) {
    const shown = views[side];
    const { rows, losses, packets, lost, verdicts } = frame.sides[side];
    shown.table.append(rows);
    shown.losses.take(losses);
    shown.bottleneck.show(packets, lost, at, now);
    shown.matrix.show(verdicts);
  }
  if (frame.network) showNetwork(frame.network);
}

function showTime() {
  const end = views?.[0].info.duration_s ?? 0;
  page.clock.textContent = `${now.toFixed(2)} of ${end} s`;
  if (document.activeElement !== page.scrub || playing) page.scrub.value = String(now);
  page.play.textContent = playing ? "Pause" : "Play";
  links.pass(now);
}

function showChanges() {
  page.forget.hidden = changes.length === 0;
  const listed = inWords(changes).join("; ");
  const isRepeatable = changes.every(isOfFlow);
  if (changes.length === 0) {
    page.changes.textContent = "Both systems get every change at the same instant. Without one, the run is that of the command line.";
  } else if (isRepeatable) page.changes.textContent = `Changed on the way, as the command line can too: ${listed}.`;
  else page.changes.textContent = `Changed on the way, so the command line gives another run: ${listed}.`;
  const file = savedAs(setup.source.name);
  page.same.textContent = isRepeatable
    ? `The same on the command line, to the byte${file}:`
    : `The command line cannot change a link on the way. Without these changes it makes the run so${file}:`;
  const flows = changes.filter(isOfFlow).map(([, setting]) => setting);
  const commands = settings.map((side) => `${commandOf(setup.source.name, setup.seed, [...side, ...flows])} --format json`);
  page.command.textContent = commands.join("\n");
}

/** Links, flows and changes, as a change or another instant leaves them. */
function showNetwork(network: Network) {
  ({ changes } = network);
  links.update(network.links, network.flows, now);
  for (const view of views ?? []) {
    view.info.flows = network.flows;
    view.showOthers();
  }
  showChanges();
}

function drawAll() {
  for (const pair of pairs) pair.draw();
  for (const view of views ?? []) {
    view.losses.draw();
    view.bottleneck.draw(performance.now());
    view.showValues();
  }
  race?.draw();
}

async function frame(at: number) {
  const begun = performance.now();
  // What passes while a frame is under way counts for the next one. A page in the background does not catch up.
  const elapsed = Math.min(at - lastFrame, 100);
  if (!isBusy || !playing) lastFrame = at;
  let spent = 0;
  if (playing && !isBusy && views) {
    isBusy = true;
    const goal = Math.min(speed === Infinity ? Infinity : now + (elapsed / 1000) * speed, teller.limit(now));
    spent = performance.now() - begun;
    try {
      const made = await simulator.ask<Frame>({ ask: "frame", to: goal, budget_ms: BUDGET_MS });
      const again = performance.now();
      take(made, at);
      // One picture a frame: each is drawn some ten times a second.
      const turn = nextPair % (pairs.length + 1);
      if (turn < pairs.length) pairs[turn].draw();
      else race?.draw();
      nextPair += 1;
      views[nextPair % 2].losses.drawNow();
      if (turn === 0) for (const view of views) view.showValues();
      if (made.finished) {
        playing = false;
        say("The run is over. Take it back on the time line, or change the scenario.");
      }
      teller.watch(now);
      // A picture that stands still shows one instant.
      if (!playing) drawAll();
      showTime();
      spent += performance.now() - again;
      costs.push(spent);
      if (costs.length > 2000) costs.splice(0, 1000);
    } catch (error) {
      playing = false;
      problem(error);
      showTime();
    }
    isBusy = false;
  }
  requestAnimationFrame((next) => void frame(next));
}

/** Waits for the frame under way, so that answers come in order. */
async function whenIdle(): Promise<void> {
  while (isBusy) await new Promise((done) => setTimeout(done, 4));
}

const WORKING = "The simulator is at work …";

/** Says so if a work takes longer than a moment. */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  const slow = setTimeout(() => say(WORKING), 400);
  try {
    return await work();
  } finally {
    clearTimeout(slow);
    if (page.message.textContent === WORKING) say("");
  }
}

/** The last of the works that wait for their turn. */
let last: Promise<unknown> = Promise.resolve();

/** Works are done one by one, in the order in which they were asked for. */
function exclusive<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  const own = last.then(async () => {
    await whenIdle();
    isBusy = true;
    try {
      return await patiently(work);
    } catch (error) {
      problem(error);
      return undefined;
    } finally {
      isBusy = false;
      showTime();
    }
  });
  last = own;
  return own;
}

/** Where the run was last asked to go; earlier wishes are forgotten. */
let wanted = 0;

async function seek(to: number) {
  wanted = to;
  await exclusive(async () => {
    if (to < now && to === wanted) {
      const network = await simulator.ask<Network>({ ask: "seek", to });
      for (const { table, losses } of views ?? []) {
        table.clear();
        losses.clear();
      }
      await takeAll();
      showTime();
      showNetwork(network);
    }
    // A long way is gone in pieces, so that the page shows how far it is, and can be called back.
    while (to > now && to === wanted) {
      const from = now;
      take(await simulator.ask<Frame>({ ask: "frame", to, budget_ms: 100 }), performance.now());
      if (now === from) break;
      showTime();
    }
    drawAll();
  });
}

/** Everything up to now, for views that are empty. */
async function takeAll() {
  take(await simulator.ask<Frame>({ ask: "frame", to: 0, budget_ms: 0 }), performance.now());
  drawAll();
}

async function change(settings: () => string[]) {
  await exclusive(async () => {
    const made = settings();
    if (made.length === 0) return;
    showNetwork(await simulator.ask<Network>({ ask: "change", settings: made }));
    teller.leave();
    say("");
  });
}

/** Shows the packets and the queue of another link. */
async function watch(link: string) {
  await exclusive(async () => {
    const infos = await simulator.ask<[Info, Info]>({ ask: "watch", link });
    if (!views) return;
    setup = { ...setup, link };
    build(infos, [views[0].table.columns.length, views[1].table.columns.length]);
    await takeAll();
    say(`The packets at ${link} are shown, and the sliders change it.`);
  });
}

async function step() {
  playing = false;
  await exclusive(async () => {
    const by = (views?.[0].info.step_s ?? 0.1) / 4;
    take(await simulator.ask<Frame>({ ask: "frame", to: now + by, budget_ms: 1000 }), performance.now());
    drawAll();
  });
}

/** What both runs, which have not begun, will be. */
function foresee(): Promise<[Foreseen, Foreseen] | undefined> {
  return exclusive(() => simulator.ask<[Foreseen, Foreseen]>({ ask: "foresee" }));
}

/** Both systems anew, which go on playing if they were; whether it could be done. */
async function reopen(next: Setup, said: string, isTold = false): Promise<boolean> {
  const plays = playing;
  playing = false;
  // No run is taken further that is about to end.
  wanted = NaN;
  const done = await exclusive(async () => {
    const forgets = changes.length > 0 && next !== setup;
    if (!(await open(next, false))) return false;
    if (!isTold) {
      teller.end();
      for (const story of page.stories.children) story.setAttribute("aria-pressed", "false");
    }
    say(forgets ? `${said} The changes on the way are forgotten.` : said);
    return true;
  });
  playing ||= plays;
  showTime();
  return done ?? false;
}

function save(name: string, text: string, type: string) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** The text of the editor, in a file with the name that the command has. */
async function saveText() {
  const { name, text } = await sourceOf(page.text.value);
  const file = `${name.slice(name.lastIndexOf("/") + 1).replace(/\.toml$/, "")}.toml`;
  save(file, text, "application/toml");
  say(`Saved the text as ${file}${text === setup.source.text ? "" : "; here another one runs"}.`);
}

async function result(side: 0 | 1) {
  await exclusive(async () => {
    const { json, finished, changes: made } = await simulator.ask<Outcome>({ ask: "result", side });
    save(`lab-${LETTERS[side].toLowerCase()}.json`, json, "application/json");
    const until = finished ? "the whole run" : `the run up to ${now.toFixed(2)} s`;
    say(`Saved the result of ${until}${made.every(isOfFlow) ? "" : ", which was changed on the way"}.`);
  });
}

/** Sets both systems up as a story says, and plays it. */
async function tell(story: (typeof STORIES)[number], pressed: HTMLButtonElement) {
  const chosen = CHOICES.find(({ name }) => name === story.scenario);
  if (!chosen) return;
  const systems = story.systems.map((system) => ({ protocol: "", ...system })) as [System, System];
  page.scenario.value = chosen.name;
  page.text.value = chosen.text;
  const seed = story.seed ?? 1;
  page.seed.value = String(seed);
  playing = false;
  const done = await reopen({ source: await sourceOf(chosen.text), seed, systems, parameters: {}, link: "" }, "");
  showSystems();
  const foreseen = done ? await foresee() : undefined;
  if (!foreseen) return;
  teller.begin(story, foreseen);
  pressed.setAttribute("aria-pressed", "true");
  playing = !isStill();
  showTime();
}

function listen() {
  for (const story of STORIES) {
    const made = button(story.title, () => void tell(story, made));
    made.setAttribute("aria-pressed", "false");
    page.stories.append(made);
  }
  page.scenario.addEventListener("change", () => {
    const chosen = CHOICES.find(({ name }) => name === page.scenario.value);
    if (!chosen) return;
    void sourceOf(chosen.text).then((source) => {
      page.text.value = source.text;
      void reopen({ ...setup, source, parameters: {}, link: "" }, `${chosen.label}.`);
    });
  });
  page.seed.addEventListener("change", () => {
    const seed = page.seed.valueAsNumber;
    if (isSeed(seed)) void reopen({ ...setup, seed }, `Seed ${seed}.`);
    else {
      say(`The seed is ${page.seed.value || "empty"}, expected a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`, true);
      page.seed.value = String(setup.seed);
    }
  });
  page.share.addEventListener("click", () => void share());
  page.forget.addEventListener("click", () => void reopen(setup, "The changes are forgotten; both start again."));
  page.theme.addEventListener("change", () => {
    setTheme(page.theme.value as Theme);
    drawAll();
  });
  onChange(drawAll);
  page.play.addEventListener("click", () => {
    const end = views?.[0].info.duration_s ?? 0;
    playing = !playing;
    if (playing && now >= end) void seek(0);
    if (!playing && !isBusy) drawAll();
    say("");
    // A frame under way shows the pause itself, with its own instant.
    if (playing || !isBusy) showTime();
  });
  page.step.addEventListener("click", () => void step());
  page.restart.addEventListener("click", () => void seek(0));
  page.speed.addEventListener("change", () => {
    speed = Number(page.speed.value);
  });
  page.scrub.addEventListener("input", () => {
    playing = false;
    void seek(page.scrub.valueAsNumber);
  });
  for (const side of SIDES) {
    const changed = () => {
      const systems: [System, System] = [...setup.systems];
      systems[side] = {
        protocol: page.protocols[side].value,
        algorithm: page.algorithms[side].value,
        settings: page.settings[side].value,
      };
      void reopen({ ...setup, systems }, `System ${LETTERS[side]} is new; both start again.`).then((done) => {
        const typed = page.settings[side].value;
        showSystems();
        // What was typed stays to be corrected.
        if (!done) page.settings[side].value = typed;
        page.settings[side].setAttribute("aria-invalid", String(!done));
      });
    };
    page.protocols[side].addEventListener("change", changed);
    page.algorithms[side].addEventListener("change", changed);
    page.settings[side].addEventListener("change", changed);
    byId(`result-${side}`, HTMLButtonElement).addEventListener("click", () => void result(side));
  }
  const runText = async () => {
    const source = await sourceOf(page.text.value);
    await reopen({ ...setup, source, parameters: {} }, "The text runs.");
  };
  page.run.addEventListener("click", () => void runText());
  page.save.addEventListener("click", () => void saveText());
  page.text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void runText();
  });
  addEventListener("keydown", (event) => {
    const at = event.target;
    if (at instanceof HTMLElement && at.closest("input, select, textarea, button")) return;
    if (event.key === " ") {
      event.preventDefault();
      page.play.click();
    } else if (event.key === ".") page.step.click();
  });
}

async function share() {
  const { source, ...rest } = setup;
  const hash = await encode({ ...rest, name: source.name, text: source.text, changes });
  history.replaceState(null, "", hash);
  const copied = await navigator.clipboard?.writeText(location.href).then(
    () => true,
    () => false,
  );
  const held = changes.length > 0 ? "the scenario, both systems, the seed and the changes" : "the scenario, both systems and the seed";
  say(`The link ${copied ? "is copied" : "stands in the address bar"}: it holds ${held}.`);
}

function showSystems() {
  for (const side of SIDES) {
    page.protocols[side].value = setup.systems[side].protocol;
    page.algorithms[side].value = setup.systems[side].algorithm;
    page.settings[side].value = setup.systems[side].settings;
  }
}

async function first(): Promise<{ next: Setup; planned: [number, string][] }> {
  const asked = named(location.hash);
  const chosen = CHOICES.find(({ name }) => name === (asked?.scenario ?? FIRST)) ?? CHOICES[0];
  const [a, b] = asked?.algorithms ?? ["always congestion", "Spike"];
  const systems: [System, System] = [
    { protocol: "", algorithm: a, settings: "" },
    { protocol: "", algorithm: b, settings: "" },
  ];
  if (asked?.isCompact) document.documentElement.dataset.compact = "";
  const standard = { source: await sourceOf(chosen.text), seed: 1, systems, parameters: {}, link: "" };
  try {
    if (asked?.scenario && chosen.name !== asked.scenario) {
      throw new Error(`This link names the scenario ${asked.scenario}, which the lab does not have: it shows its first scenario instead.`);
    }
    const shared = await decode(location.hash);
    if (!shared) return { next: standard, planned: [] };
    const { changes, ...rest } = shared;
    return { next: { ...rest, source: await sourceOf(shared.text) }, planned: changes };
  } catch (error) {
    problem(new Refusal(error instanceof Error ? error.message : String(error)));
    return { next: standard, planned: [] };
  }
}

async function main() {
  byId("key", HTMLUListElement).append(...keyItems());
  for (const word of ["Protocol", "Algorithm", "M_c", "M_w"] as const) byId("terms", HTMLSpanElement).append(term(word), " ");
  if (typeof WebAssembly !== "object") {
    document.documentElement.dataset.unable = "";
    say(
      "This browser has no WebAssembly, which the lab needs. Use a browser of 2017 or later with WebAssembly on, or run the program: losscause compare cen2003/WLH --lda Spike,ZBS",
      true,
    );
    return;
  }
  // Without the pages of the site beside it, the last lines of this page name the tutorial.
  byId("tutorial", HTMLAnchorElement).hidden = !/\/lab\/(index\.html)?$/.test(location.pathname);
  say("The simulator is loading …");
  simulator = new Simulator();
  const catalogue = await simulator.ask<Catalogue>({ ask: "start" });
  say("");
  fillSelects(catalogue, page);
  new Editor(page.text, catalogue.algorithms);
  const { next, planned } = await first();
  page.seed.value = String(next.seed);
  page.text.value = next.source.text;
  listen();
  if (!(await open(next, true, planned))) {
    // A shared scenario that is wrong: its text and error stay, and something runs.
    const text = page.error.textContent;
    const standard = CHOICES.find(({ name }) => name === FIRST) ?? CHOICES[0];
    const source = await sourceOf(standard.text);
    // What each side runs may be wrong too.
    const plain: System = { protocol: "", algorithm: "", settings: "" };
    const systems: [System, System] = [plain, plain];
    await open({ ...next, source, systems, parameters: {}, link: "" }, true);
    page.error.textContent = text;
    say(`${text} – the lab shows its first scenario instead.`, true);
  }
  showSystems();
  document.documentElement.dataset.ready = "true";
  requestAnimationFrame((at) => {
    lastFrame = at;
    // Who asks for less motion presses Play.
    playing = !isStill();
    showTime();
    void frame(at);
  });
}

main().catch(problem);
