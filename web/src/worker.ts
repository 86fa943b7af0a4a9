// Two runs under identical randomness, away from the page.

import { Engine, LOSSES, LOST, PACKETS, ROWS, Refused, VERDICTS } from "./engine.js";
import address from "./lab.wasm?url";
import { foresee } from "./foresight.js";
import { commandOf, savedAs, settingsOf } from "./settings.js";
import type { Ask, Frame, Info, Network, Opened, Question, Reply, Setup, Side, System } from "./protocol";

let engine: Engine | null = null;
let labs: [number, number] | null = null;
let infos: [Info, Info] | null = null;
let columns: [number, number] = [0, 0];
let step = 0;
let end = 0;
let now = 0;
/** Planned changes, which the runs make by themselves. */
let planned: number[] = [];

async function start(): Promise<unknown> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the simulator could not be loaded (${response.status})`);
  const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), {});
  engine = new Engine(instance);
  return engine.ask("catalogue");
}

/** The settings that make each system of the scenario. */
function settingsFor(engine: Engine, { source, seed, systems, parameters }: Setup): [string[], string[]] {
  const shared = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const { lab, info }: { lab: number; info: Info } = engine.ask({ open: { ...source, settings: shared, seed } });
  engine.ask({ close: { lab } });
  // The flows under test, by the names that settings use: those that are measured and can run an algorithm.
  const tested = info.flows.filter(({ measured, protocol }) => measured && (protocol === "tcp" || protocol === "tfrc"));
  const groups = [...new Set(tested.map(({ group }) => group))];
  const of = ({ protocol, algorithm, settings }: System) => {
    const all = (key: string, value: string) => (value === "" ? [] : groups.map((group) => `flow.${group}.${key}=${value}`));
    return [...shared, ...all("protocol", protocol), ...all("lda", algorithm), ...settingsOf(settings)];
  };
  return [of(systems[0]), of(systems[1])];
}

/** Both runs or neither: the last good ones stay if one is refused. */
function open(engine: Engine, { setup, most, changes }: Extract<Ask, { ask: "open" }>): Opened {
  const { source, seed } = setup;
  const settings = settingsFor(engine, setup);
  const made: { lab: number; info: Info; columns: number }[] = [];
  try {
    for (const side of settings) {
      made.push(engine.ask({ open: { ...source, settings: side, seed } }));
      const hops = made[made.length - 1].info.packet_hops;
      if (hops > most) {
        throw new Refused(
          `This run has packets cross links about ${Math.round(hops / 1e6)} million times, too many for a page: run ${commandOf(source.name, seed, side)}${savedAs(source.name)}`,
        );
      }
    }
    // What changes on the way is tried out at once: a change that is wrong refuses the whole.
    for (const { lab, info } of changes.length > 0 ? made : []) {
      for (const at of new Set(changes.map(([at]) => at))) {
        engine.advance(lab, at);
        engine.ask({ change: { labs: [lab], settings: changes.filter(([then]) => then === at).map(([, setting]) => setting) } });
      }
      const { flows }: Network = engine.ask({ seek: { lab, to_s: 0 } });
      info.flows = flows;
    }
    for (const side of made) {
      if (hasLink(side.info, setup.link)) side.info = engine.ask({ watch: { lab: side.lab, link: setup.link } });
    }
  } catch (error) {
    for (const { lab } of made) engine.ask({ close: { lab } });
    throw error;
  }
  for (const lab of labs ?? []) engine.ask({ close: { lab } });
  const [a, b] = made;
  labs = [a.lab, b.lab];
  infos = [a.info, b.info];
  columns = [a.columns, b.columns];
  step = Math.max(a.info.step_s, 0.001);
  end = a.info.duration_s;
  now = 0;
  const network = plan(engine.ask({ network: { lab: a.lab } }));
  return { settings, infos, columns, network };
}

function hasLink(info: Info, link: string): boolean {
  return info.links.some(({ name }) => name === link);
}

/** What is to come of the changes of a network. */
function plan(network: Network): Network {
  planned = network.changes.map(([at]) => at).filter((at) => at > now);
  return network;
}

/** Advances both to the same instant: as far as `to`, or as far as the time allows. */
function frame(engine: Engine, pair: [number, number], to: number, budget_ms: number): Frame {
  const begun = performance.now();
  const goal = Math.min(to, end);
  while (now < goal) {
    const next = Math.min(now + step, goal);
    for (const lab of pair) engine.advance(lab, next);
    now = next;
    if (performance.now() - begun > budget_ms) break;
  }
  const side = (lab: number): Side => ({
    rows: engine.read(lab, ROWS),
    losses: engine.read(lab, LOSSES),
    packets: engine.read(lab, PACKETS),
    lost: engine.read(lab, LOST),
    verdicts: engine.read(lab, VERDICTS),
  });
  const isChanged = planned.some((at) => at <= now);
  const network = isChanged ? plan(engine.ask({ network: { lab: pair[0] } })) : null;
  return { now, finished: now >= end, network, sides: [side(pair[0]), side(pair[1])] };
}

function carryOut(ask: Ask): unknown {
  if (!engine) throw new Error("the simulator is not loaded");
  const loaded = engine;
  if (ask.ask === "open") return open(loaded, ask);
  if (!labs) throw new Error("there is no run yet");
  switch (ask.ask) {
    case "frame":
      return frame(loaded, labs, ask.to, ask.budget_ms);
    case "change":
      try {
        return plan(loaded.ask({ change: { labs, settings: ask.settings } }));
      } catch (error) {
        // Only with settings of its own can the links of a system be others.
        if (!(error instanceof Refused) || error.lab === undefined) throw error;
        throw new Refused(`Nothing is changed, because system ${error.lab === labs[0] ? "A" : "B"} refuses it: ${error.message}`);
      }
    case "watch":
      for (const side of infos ?? []) {
        if (!hasLink(side, ask.link)) throw new Refused(`Not both systems have a link ${ask.link}`);
      }
      return labs.map((lab) => loaded.ask({ watch: { lab, link: ask.link } }));
    case "seek": {
      const [network] = labs.map((lab) => loaded.ask({ seek: { lab, to_s: ask.to } }));
      now = Math.min(ask.to, end);
      return plan(network);
    }
    case "foresee": {
      now = 0;
      return labs.map((lab, side) => foresee(loaded, lab, columns[side]));
    }
    case "result":
      return loaded.ask({ result: { lab: labs[ask.side] } });
    case "loss":
      return loaded.ask({ loss: { lab: labs[ask.side], place: ask.place } });
    case "start":
      throw new Error("already started");
  }
}

self.addEventListener("message", (event: MessageEvent<Question>) => {
  const { id, ask } = event.data;
  const reply = (said: Reply, moved: Transferable[] = []) => self.postMessage(said, { transfer: moved });
  const fail = (error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    reply({ id, error: text, fatal: !(error instanceof Refused) });
  };
  if (ask.ask === "start") {
    start().then((answer) => reply({ id, answer }), fail);
    return;
  }
  try {
    const answer = carryOut(ask);
    const moved =
      ask.ask === "frame" ? (answer as Frame).sides.flatMap((side) => Object.values(side).map((array) => array.buffer)) : [];
    reply({ id, answer }, moved);
  } catch (error) {
    fail(error);
  }
});
