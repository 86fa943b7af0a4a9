// A link that holds the scenario, both systems, the seed, the changes and the link that is shown. Nothing is stored anywhere else.

import type { System } from "./protocol";

export interface Shared {
  name: string;
  text: string;
  seed: number;
  systems: [System, System];
  parameters: Record<string, number>;
  /** What changes while the runs go on, in order: the instant in seconds, KEY=VALUE. */
  changes: [number, string][];
  /** The link whose packets are shown; empty in older links. */
  link: string;
}

const VERSION = "2";
/** Its links hold no changes. */
const FIRST_VERSION = "1";
const LARGEST = 1 << 20;

async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream): Promise<Uint8Array<ArrayBuffer>> {
  const piped = new Blob([bytes]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array<ArrayBuffer>>);
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = piped.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > LARGEST) throw new Error("too large");
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export async function encode(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  // zlib's format, whose checksum tells a link that was changed or cut.
  const packed = await through(bytes, new CompressionStream("deflate"));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return `#lab${VERSION}.${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** What the part of an address behind "#" holds; none if it is no link of the lab. Throws a sentence for the user. */
export async function decode(hash: string): Promise<Shared | null> {
  const parts = /^#lab(\d+)\.(.*)$/s.exec(hash);
  if (!parts) return null;
  const [, version, body] = parts;
  if (version !== VERSION && version !== FIRST_VERSION) {
    throw new Error(`This link is of version ${version} of the lab, expected ${FIRST_VERSION} or ${VERSION}: the lab shows its first scenario instead.`);
  }
  try {
    const packed = atob(body.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate")));
    return checked(JSON.parse(text));
  } catch {
    throw new Error("This link is cut or damaged, expected a whole one: the lab shows its first scenario instead.");
  }
}

function checked(value: unknown): Shared {
  const shared = value as Shared;
  const isSystem = ({ protocol, algorithm, settings }: System) => [protocol, algorithm, settings].every((word) => typeof word === "string");
  const parameters = Object.entries(shared.parameters);
  const changes = (shared.changes ?? []).map(([at, setting]): [number, string] => [at, setting]);
  const holds =
    typeof shared.name === "string" &&
    typeof shared.text === "string" &&
    isSeed(shared.seed) &&
    ["undefined", "string"].includes(typeof shared.link) &&
    shared.systems.length === 2 &&
    shared.systems.every(isSystem) &&
    parameters.every(([, number]) => typeof number === "number" && Number.isFinite(number)) &&
    changes.every(([at, setting]) => typeof at === "number" && at >= 0 && typeof setting === "string");
  if (!holds) throw new Error("foreign");
  const system = ({ protocol, algorithm, settings }: System): System => ({ protocol, algorithm, settings });
  return {
    name: shared.name,
    text: shared.text,
    seed: shared.seed,
    systems: [system(shared.systems[0]), system(shared.systems[1])],
    parameters: Object.fromEntries(parameters),
    changes,
    link: shared.link ?? "",
  };
}

/** What a page of the documentation asks for. */
export interface Named {
  scenario: string | null;
  algorithms: [string, string] | null;
  /** Only the run of system B is shown, to be part of another page. */
  isCompact: boolean;
}

/** What "#try?scenario=NAME&a=ALGORITHM&b=ALGORITHM&compact" asks for; none if it is no such link. */
export function named(hash: string): Named | null {
  if (!hash.startsWith("#try?")) return null;
  const asked = new URLSearchParams(hash.slice("#try?".length));
  const has = asked.has("a") || asked.has("b");
  return {
    scenario: asked.get("scenario"),
    algorithms: has ? [asked.get("a") ?? "", asked.get("b") ?? ""] : null,
    isCompact: asked.has("compact"),
  };
}

/** A seed that JSON keeps to the last digit. */
export function isSeed(seed: unknown): seed is number {
  return typeof seed === "number" && Number.isSafeInteger(seed) && seed >= 0;
}
