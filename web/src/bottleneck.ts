// The path: the sender, the queue of the bottleneck, its transmitter, the way to the receiver, and the way back of the
// acknowledgements. Colour tells the flow, shape tells what a packet is or what became of it. Packets are drawn where they are
// on the watched link, acknowledgements where they are between receiver and sender; the rest of the path is a sketch.

import { Canvas } from "./canvas";
import { colour, flowColour, isStill } from "./theme";

const HEIGHT = 104;
const LANE = 40;
/** The way back. */
const BACK = 86;
/** A host's box, and where the queue begins behind it. */
const HOST = 26;
const QUEUE = 44;
const SIZE = 9;
const GAP = 3;
const FADE_MS = 900;
/** A fast run leaves no losses of long ago behind. */
const FADE_S = 1.5;

interface Gone {
  x: number;
  seq: number;
  flow: number;
  corrupted: boolean;
  /** In the time of the run, seconds, and of the page, milliseconds. */
  lost: number;
  since: number;
}

export class Bottleneck {
  private readonly canvas: Canvas;
  private packets: Float64Array = new Float64Array();
  private gone: Gone[] = [];
  private now = 0;
  private drawnAt = -Infinity;
  /** Of the packet that a story is about. */
  private marked: number | null = null;

  constructor(
    place: HTMLElement,
    private readonly drawn: number[],
  ) {
    this.canvas = new Canvas(place, HEIGHT, () => this.draw(performance.now()));
  }

  remove() {
    this.canvas.remove();
  }

  mark(seq: number | null) {
    this.marked = seq;
  }

  show(packets: Float64Array, lost: Float64Array, at: number, now: number) {
    this.packets = packets;
    this.now = now;
    const { transmitter } = this.places();
    for (let i = 0; i + 5 <= lost.length; i += 5) {
      const corrupted = lost[i + 2] === 1;
      const x = corrupted ? this.places().end - 12 : transmitter - 30;
      this.gone.push({ x, seq: lost[i + 4], flow: lost[i], corrupted, lost: lost[i + 3], since: at });
    }
    if (this.gone.length > 80) this.gone.splice(0, this.gone.length - 80);
    // With reduced motion, a picture a second.
    if (!isStill() || at - this.drawnAt > 1000) this.draw(at);
  }

  private places() {
    const { width } = this.canvas;
    const transmitter = Math.round(width * 0.42);
    return { transmitter, begin: transmitter + 34, end: width - HOST - 14 };
  }

  private place(flow: number): number {
    return this.drawn.indexOf(flow);
  }

  draw(at: number) {
    this.drawnAt = at;
    const { context, width } = this.canvas;
    const { transmitter, begin, end } = this.places();
    context.clearRect(0, 0, width, HEIGHT);
    context.lineWidth = 1;
    context.strokeStyle = colour("line");
    context.fillStyle = colour("soft");
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "alphabetic";

    // Both hosts; the queue, open on the left; the transmitter; the line; the way back.
    const receiver = width - HOST - 4;
    const middle = LANE + 8;
    context.beginPath();
    context.moveTo(4 + HOST, LANE);
    context.lineTo(QUEUE, LANE);
    context.moveTo(QUEUE, LANE - 14);
    context.lineTo(transmitter - 8, LANE - 14);
    context.lineTo(transmitter - 8, LANE + 14);
    context.lineTo(QUEUE, LANE + 14);
    context.moveTo(begin - 4, LANE);
    context.lineTo(receiver, LANE);
    context.moveTo(receiver + HOST / 2, middle + 13);
    context.lineTo(receiver + HOST / 2, BACK);
    context.lineTo(4 + HOST / 2, BACK);
    context.lineTo(4 + HOST / 2, middle + 13);
    context.moveTo(width / 2 + 6, BACK - 4);
    context.lineTo(width / 2, BACK);
    context.lineTo(width / 2 + 6, BACK + 4);
    context.stroke();
    context.strokeStyle = colour("soft");
    context.strokeRect(transmitter - 2.5, LANE - 10.5, 30, 21);
    for (const left of [4, receiver]) context.strokeRect(left + 0.5, LANE - 12.5, HOST, 25);
    context.textAlign = "left";
    context.fillText("sender", 4, 14);
    context.textAlign = "center";
    context.fillText("queue", (QUEUE + transmitter) / 2, 14);
    context.fillText("sending", transmitter + 12, 14);
    context.fillText("on the way", (begin + end) / 2, 14);
    context.fillText("acknowledgements go back", width / 2, BACK + 14);
    context.textAlign = "right";
    context.fillText("receiver", width - 4, 14);

    let waiting = 0;
    const room = Math.floor((transmitter - QUEUE - 16) / (SIZE + GAP));
    for (let i = 0; i + 5 <= this.packets.length; i += 5) {
      const [flow, kind, state, progress, seq] = this.packets.subarray(i, i + 5);
      const isMarked = seq === this.marked;
      if (state === 0) {
        if (waiting < room) this.packet(transmitter - 16 - waiting * (SIZE + GAP), LANE, flow, kind, isMarked);
        waiting += 1;
      } else if (state === 1) {
        context.fillStyle = colour("raised");
        context.fillRect(transmitter - 2, LANE - 10, 29 * progress, 20);
        this.packet(transmitter + 12, LANE, flow, kind, isMarked);
      } else if (state === 2) {
        this.packet(begin + (end - begin) * progress, LANE, flow, kind, isMarked);
      } else {
        const from = receiver + HOST / 2;
        this.packet(from + (4 + HOST / 2 - from) * progress, BACK, flow, kind, isMarked);
      }
    }
    context.fillStyle = colour("soft");
    context.textAlign = "left";
    context.fillText(waiting > room ? `${waiting} waiting, ${room} shown` : `${waiting} waiting`, QUEUE, LANE + 30);

    this.gone = this.gone.filter(
      ({ lost, since, seq }) => (at - since < FADE_MS && this.now - lost < FADE_S) || seq === this.marked,
    );
    for (const { x, seq, flow, corrupted, since } of this.gone) {
      // What a story is about stays.
      const age = isStill() || seq === this.marked ? 0.3 : (at - since) / FADE_MS;
      context.globalAlpha = 1 - age;
      if (corrupted) cross(context, x, LANE - age * 16, colour("wireless"));
      else {
        context.strokeStyle = colour("congestion");
        context.lineWidth = 2;
        const y = LANE + 10 + age * 26;
        context.strokeRect(x - SIZE / 2, y - SIZE / 2, SIZE, SIZE);
        context.fillStyle = flowColour(this.place(flow));
        context.fillRect(x - 1.5, y - 1.5, 3, 3);
      }
      context.globalAlpha = 1;
    }
  }

  /** Data is a square, a retransmission a diamond, an acknowledgement a disc, or a ring if it asks for the marked packet. */
  private packet(x: number, y: number, flow: number, kind: number, isMarked: boolean) {
    const { context } = this.canvas;
    if (isMarked) {
      context.strokeStyle = colour("wireless");
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x, y, kind === 2 ? 4 : SIZE, 0, 2 * Math.PI);
      context.stroke();
      if (kind === 2) return;
    }
    context.fillStyle = flowColour(this.place(flow));
    if (kind === 0) {
      context.fillRect(x - SIZE / 2, y - SIZE / 2, SIZE, SIZE);
      return;
    }
    context.beginPath();
    if (kind === 1) {
      const half = SIZE * 0.75;
      context.moveTo(x, y - half);
      context.lineTo(x + half, y);
      context.lineTo(x, y + half);
      context.lineTo(x - half, y);
      context.closePath();
    } else context.arc(x, y, 3, 0, 2 * Math.PI);
    context.fill();
  }
}

function cross(context: CanvasRenderingContext2D, x: number, y: number, ink: string) {
  const half = SIZE / 2;
  context.strokeStyle = ink;
  context.lineWidth = 2.5;
  context.beginPath();
  context.moveTo(x - half, y - half);
  context.lineTo(x + half, y + half);
  context.moveTo(x + half, y - half);
  context.lineTo(x - half, y + half);
  context.stroke();
}
