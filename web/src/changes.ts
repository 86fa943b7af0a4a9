/** A change of a run on the way: its instant in seconds, and KEY=VALUE. */
export type Change = [at: number, setting: string];

/** A flow that is added or stopped is part of the scenario; the command line has no other change. */
export const isOfFlow = ([, setting]: Change) => setting.startsWith("flow.");

/** What each change does; flows that start or stop together are told together. */
export function inWords(changes: Change[]): string[] {
  const words: string[] = [];
  let flows: string[] = [];
  changes.forEach(([at, setting], place) => {
    const [flow, what] = flowIn(setting);
    const [nextAt, next] = changes[place + 1] ?? [NaN, ""];
    if (flow) flows.push(flow);
    if (flow && nextAt === at && flowIn(next)[1] === what) return;
    const [first, last] = [flows[0], flows[flows.length - 1]];
    const told = !flow ? setting : flows.length === 1 ? `${flow} ${what}s` : `${first} ${flows.length === 2 ? "and" : "to"} ${last} ${what}`;
    words.push(`${told} at ${at.toFixed(2)} s`);
    flows = [];
  });
  return words;
}

/** The flow of a change, if it is of one, and what becomes of it. */
function flowIn(setting: string): [flow: string | undefined, what: "start" | "stop"] {
  const [, flow, rest] = /^flow\.([^.=]+)([.=].*)$/s.exec(setting) ?? [];
  return [flow, rest?.startsWith("=") ? "start" : "stop"];
}
