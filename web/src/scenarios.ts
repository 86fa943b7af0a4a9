// The scenarios that the lab offers: those of the papers, and the examples, among which are the kinds of links of
// `losscause init`. Each is the file of the repository.

import first from "../scenarios/first.toml?raw";
import tcp from "../scenarios/tcp.toml?raw";
import type { Source } from "./protocol";

export interface Choice {
  name: string;
  group: string;
  label: string;
  text: string;
}

const papers: Record<string, string> = import.meta.glob("../../papers/*/scenarios/*.toml", {
  query: "?raw",
  import: "default",
  eager: true,
});
const examples: Record<string, string> = import.meta.glob("../../scenarios/*.toml", {
  query: "?raw",
  import: "default",
  eager: true,
});

// Only few scenarios name one of these: they are loaded then.
type Texts = Record<string, () => Promise<string>>;
const patterns: Texts = import.meta.glob<string>("../../papers/*/patterns/*.txt", { query: "?raw", import: "default" });
const traces: Texts = import.meta.glob<string>("../../scenarios/*.txt", { query: "?raw", import: "default" });

const PAPER: Record<string, string> = {
  barman2002: "Barman and Matta 2002",
  biaz1999: "Biaz and Vaidya 1999",
  cen2003: "Cen, Cosman and Voelker 2003",
  dalwadi: "Dalwadi and others",
  koo2007: "Koo and others 2007",
};

/** The files that a scenario may name: every pattern and trace whose name stands in it. */
async function filesFor(text: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const [path, load] of Object.entries(patterns)) {
    const [, paper, name] = /papers\/([^/]+)\/patterns\/([^/]+)\.txt$/.exec(path) ?? [];
    if (text.includes(`${paper}/`)) files[`${paper}/${name}`] = await load();
  }
  for (const [path, load] of Object.entries(traces)) {
    const file = path.slice(path.lastIndexOf("/") + 1);
    if (text.includes(file)) files[`scenarios/${file}`] = await load();
  }
  return files;
}

/** A text of the choices has its name there; one's own has the name under which the command line can read it. */
export async function source(text: string): Promise<Source> {
  const files = await filesFor(text);
  // A trace is sought beside the scenario.
  const own = Object.keys(files).some((path) => path.startsWith("scenarios/")) ? "scenarios/own.toml" : "own.toml";
  return { name: CHOICES.find((choice) => choice.text === text)?.name ?? own, text, files };
}

export const FIRST = "web/scenarios/first.toml";

export const CHOICES: Choice[] = [
  { name: FIRST, group: "To begin with", label: title(first), text: first },
  { name: "web/scenarios/tcp.toml", group: "To begin with", label: title(tcp), text: tcp },
  ...Object.entries(examples).map(([path, text]) => ({
    name: `scenarios/${path.slice(path.lastIndexOf("/") + 1)}`,
    group: "Examples",
    label: title(text),
    text,
  })),
  ...Object.entries(papers).map(([path, text]) => {
    const [, paper, name] = /papers\/([^/]+)\/scenarios\/([^/]+)\.toml$/.exec(path) ?? [];
    return { name: `${paper}/${name}`, group: PAPER[paper] ?? paper, label: `${name}: ${title(text)}`, text };
  }),
];

function title(text: string): string {
  return /^title = "(.*)"$/m.exec(text)?.[1] ?? "Without a title";
}
