// Elements, made from properties and children. Texts are only ever set as texts.

type Properties<Tag extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[Tag], "style" | "innerHTML" | "outerHTML">>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties<Tag> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

export function button(text: string, pressed: () => void, properties: Properties<"button"> = {}): HTMLButtonElement {
  const made = element("button", { type: "button", ...properties }, text);
  if (properties.title) made.setAttribute("aria-label", properties.title);
  made.addEventListener("click", pressed);
  return made;
}

export function byId<Type extends HTMLElement>(id: string, type: new () => Type): Type {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}
