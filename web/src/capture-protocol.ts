// What the page of captures and its worker say to each other.

/** How a loss is drawn. */
export type Look = "congestion" | "wireless" | "undecided" | "timer";

/** What is shown of a capture: `View` of web/wasm/capture. */
export interface View {
  answer: string;
  first: First[];
  cut: string | null;
  notes: string[];
  packets: number;
  duration_s: number;
  rows: string[][];
  without_row: number;
  drawn: FlowView[];
  undrawn: number;
}

/** What to know and to do first. */
export interface First {
  cause: string;
  evidence: string[];
  cost: string;
  advice: string;
  next: string[];
}

export interface FlowView {
  id: number;
  name: string;
  answer: string;
  evidence: string | null;
  trust: string[];
  from_s: number;
  to_s: number;
  /** When, the smallest and the largest value. */
  queueing_ms: [number, number, number][];
  queue_bytes: [number, number, number][];
  /** From when on, and how much. */
  rate_kbps: [number, number][];
  path_kbps: number | null;
  /** What losses are shown as: words, and one of congestion, wireless, undecided and timer. */
  kinds: { words: string; look: Look }[];
  losses: { time_s: number[]; queueing_ms: (number | null)[]; verdict: number[]; kind: number[] };
  unmarked: number;
}

/** To the worker. A file comes first, once. */
export type Ask = { ask: "file"; file: File } | { ask: "told"; flow: number; loss: number } | { ask: "json" };

/** From the worker. */
export type Told =
  | { told: "read"; bytes: number }
  | { told: "view"; view: View }
  | { told: "loss"; flow: number; loss: number; words: [string, string] | null }
  | { told: "json"; json: Uint8Array<ArrayBuffer> }
  | { told: "error"; error: string; isInput: boolean };
