// What can be chosen: scenarios, protocols, algorithms.

import { byId, element } from "./dom";
import type { Catalogue } from "./protocol";
import { CHOICES } from "./scenarios";

interface Selects {
  scenario: HTMLSelectElement;
  protocols: readonly HTMLSelectElement[];
  algorithms: readonly HTMLSelectElement[];
}

/** The algorithms to begin with, in plain words; the rest stands below them by name. */
const TO_BEGIN_WITH = new Map([
  ["always congestion", "as plain TCP, slows down after any loss"],
  ["Spike", "the queue, if the delay has just risen"],
  ["Sift", "weighs many signs; recommended"],
  ["omniscient", "is told the truth"],
]);

export function option(value: string, text: string): HTMLOptionElement {
  return element("option", { value }, text);
}

/** The scenarios; the protocols and algorithms of each system. */
export function fillSelects(catalogue: Catalogue, page: Selects) {
  const groups = new Map<string, HTMLOptGroupElement>();
  for (const { name, group, label } of CHOICES) {
    let list = groups.get(group);
    if (!list) {
      list = element("optgroup", { label: group });
      groups.set(group, list);
      page.scenario.append(list);
    }
    list.append(option(name, label));
  }
  for (const select of page.protocols) {
    select.append(option("", "as in the scenario"), option("tcp", "TCP: a window"), option("tfrc", "TFRC: a smooth rate"));
  }
  for (const select of page.algorithms) {
    select.append(option("", "as in the scenario"));
    const [begin, rules, yardsticks] = ["To begin with", "Algorithms", "Yardsticks"].map((label) => element("optgroup", { label }));
    for (const { name, summary, yardstick } of catalogue.algorithms) {
      const words = TO_BEGIN_WITH.get(name);
      const made = option(name, words ? `${name}: ${words}` : name);
      made.title = summary;
      (words ? begin : yardstick ? yardsticks : rules).append(made);
    }
    select.append(begin, rules, yardsticks);
  }
  byId("version", HTMLSpanElement).textContent = catalogue.version;
}
