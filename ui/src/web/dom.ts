// Elements, made without a line of HTML: whatever hosts are called, it stays text.

type Child = Node | string | null | undefined | false;

/** An element with attributes and children; `on…` values are listeners. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean | ((event: Event) => void) | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (typeof value === "string") element.setAttribute(name, value);
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

/** Replaces what stands in an element, unless it is the same already. */
export function fill(element: HTMLElement, ...children: Child[]): void {
  element.replaceChildren(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
}

/** Sets an element's text without touching it when nothing changes. */
export function put(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Text in which what stands between backticks is something to type. */
export function rich(text: string): Node[] {
  return text.split("`").map((part, i) => (i % 2 === 1 ? make("code", {}, part) : document.createTextNode(part)));
}
