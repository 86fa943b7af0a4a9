// The key: every shape that the page draws.

import { element } from "./dom";

const SVG = "http://www.w3.org/2000/svg";

type Shape = [tag: "rect" | "circle" | "path", attributes: Record<string, string>];

const ITEMS: [Shape, string][] = [
  [["rect", { x: "2", y: "2", width: "10", height: "10", fill: "currentColor" }], "A data packet; its colour is its flow"],
  [["path", { d: "M7 0 14 7 7 14 0 7Z", fill: "currentColor" }], "A retransmission"],
  [["circle", { cx: "7", cy: "7", r: "3.5", fill: "currentColor" }], "An acknowledgement, or a loss whose verdict is right, below its line"],
  [["rect", { x: "2", y: "2", width: "10", height: "10", fill: "none", stroke: "var(--congestion)", "stroke-width": "2" }], "Dropped by the queue: congestion"],
  [["path", { d: "M2 2 12 12M12 2 2 12", stroke: "var(--wireless)", "stroke-width": "2.5" }], "Corrupted on the air: wireless"],
  [["circle", { cx: "7", cy: "7", r: "4", fill: "none", stroke: "var(--wireless)", "stroke-width": "2" }], "In a story: the packet that it is about is circled; a ring on the way back asks for it"],
  [["path", { d: "M7 2 12 12 2 12Z", fill: "var(--bad)" }], "A loss whose verdict is wrong, above its line"],
  [["circle", { cx: "7", cy: "7", r: "3.5", fill: "none", stroke: "currentColor", "stroke-width": "1.3" }], "A loss that is not judged, or undecided; between the rows: a packet that was not lost"],
];

export function keyItems(): HTMLLIElement[] {
  return ITEMS.map(([[tag, attributes], text]) => {
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("viewBox", "0 0 14 14");
    picture.setAttribute("aria-hidden", "true");
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    picture.append(shape);
    const item = element("li", {}, text);
    item.prepend(picture);
    return item;
  });
}
