// The list of what can be written at the caret of the scenario's text. It opens while a word is written, or by Ctrl + Space.

import type { Completion } from "./complete.js";
import { element } from "./dom";
import type { Algorithm } from "./protocol";

/** More are found by writing on. */
const MOST_ITEMS = 60;

type Complete = (text: string, caret: number) => Completion | null;

export class Editor {
  private readonly list = element("ul", { id: "offers", role: "listbox", ariaLabel: "What can stand here", hidden: true });
  private readonly said = element("p", { className: "hidden", role: "status" });
  private readonly loaded: Promise<Complete>;
  private begin: () => void = () => undefined;
  private offered: Completion | null = null;
  private chosen = 0;

  constructor(
    private readonly text: HTMLTextAreaElement,
    algorithms: Algorithm[],
  ) {
    const begun = new Promise<void>((done) => (this.begin = done));
    this.loaded = begun.then(async () => {
      const { complete, default: schema } = await import("./schema");
      return (text, caret) => complete(schema as never, algorithms, text, caret);
    });
    text.setAttribute("aria-autocomplete", "list");
    text.setAttribute("aria-controls", this.list.id);
    text.after(this.list, this.said);
    text.addEventListener("focus", () => this.begin());
    text.addEventListener("blur", () => this.close());
    text.addEventListener("click", () => this.close());
    text.addEventListener("scroll", () => this.follow());
    text.addEventListener("input", (event) => void this.written(event as InputEvent));
    text.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** A word that is being written opens the list; anything else closes it. */
  private async written({ inputType, data }: InputEvent) {
    const isWord = inputType === "insertText" && /^[\w"[-]$/.test(data ?? "");
    const isShorter = inputType.startsWith("deleteContent") && this.offered !== null;
    if (isWord || isShorter) await this.open();
    else this.close();
  }

  private pressed(event: KeyboardEvent) {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      void this.open();
      return;
    }
    if (!this.offered || event.ctrlKey || event.metaKey || event.altKey) return;
    const { length } = this.list.children;
    const does: Record<string, () => void> = {
      ArrowDown: () => this.choose((this.chosen + 1) % length),
      ArrowUp: () => this.choose((this.chosen + length - 1) % length),
      Enter: () => this.take(this.chosen),
      Tab: () => this.take(this.chosen),
      Escape: () => this.close(),
    };
    const act = event.shiftKey ? undefined : does[event.key];
    if (act) {
      event.preventDefault();
      act();
    } else if (/^(Arrow|Home|End|Page)/.test(event.key)) this.close();
  }

  private async open() {
    const complete = await this.loaded;
    const { text } = this;
    if (document.activeElement !== text || text.selectionStart !== text.selectionEnd) return;
    const offered = complete(text.value, text.selectionStart);
    if (!offered) {
      this.close();
      return;
    }
    this.offered = offered;
    const items = offered.items.slice(0, MOST_ITEMS).map(({ label, about }, at) => {
      const item = element("li", { id: `offer-${at}`, role: "option" }, element("b", {}, label), element("span", {}, about));
      // Before the text loses the focus.
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        this.take(at);
      });
      return item;
    });
    this.list.replaceChildren(...items);
    this.list.hidden = false;
    this.choose(0);
    this.place(offered.from);
    const { length } = offered.items;
    this.said.textContent = `${length === 1 ? "1 suggestion" : `${length} suggestions`}: up and down to choose, Enter to take, Escape to close.`;
  }

  private close() {
    if (!this.offered) return;
    this.offered = null;
    this.list.hidden = true;
    this.said.textContent = "";
    this.text.removeAttribute("aria-activedescendant");
  }

  private choose(at: number) {
    this.chosen = at;
    for (const [place, item] of [...this.list.children].entries()) item.setAttribute("aria-selected", String(place === at));
    const item = this.list.children[at];
    this.text.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  }

  private take(at: number) {
    const { offered, text } = this;
    if (!offered) return;
    this.close();
    text.setSelectionRange(offered.from, offered.to);
    const { insert } = offered.items[at];
    // The only way that the browser can undo.
    if (!document.execCommand("insertText", false, insert)) text.setRangeText(insert, offered.from, offered.to, "end");
  }

  /** The list stays at its word while the text scrolls, as a new line at its end makes it do, and closes where the word is out of sight. */
  private follow() {
    if (!this.offered) return;
    const { text } = this;
    const top = this.place(this.offered.from) - text.offsetTop;
    if (top < 0 || top > text.clientHeight) this.close();
  }

  /** Puts the list below the word that begins at `from`, and tells where the word's line ends, in pixels. */
  private place(from: number): number {
    const { text, list } = this;
    const word = element("span", {}, "|");
    const copy = element("div", { className: "text-copy" }, text.value.slice(0, from), word);
    text.after(copy);
    copy.style.width = `${text.clientWidth}px`;
    const { offsetLeft, offsetTop, offsetHeight } = word;
    copy.remove();
    const left = Math.min(offsetLeft, text.clientWidth - list.offsetWidth);
    list.style.left = `${text.offsetLeft + Math.max(left, 0)}px`;
    const bottom = text.offsetTop + offsetTop - text.scrollTop + offsetHeight;
    list.style.top = `${bottom + 4}px`;
    return bottom;
  }
}
