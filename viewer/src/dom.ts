// Creates elements.

type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | undefined | null | ((event: never) => void)>;

function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child !== null && child !== undefined && child !== false)
      parent.append(child instanceof Node ? child : String(child));
  }
}

function apply(element: Element, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.replace(/^on/, ""), value as EventListener);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, attributes);
  append(element, children);
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  apply(element, attributes);
  append(element, children);
  return element;
}

export function select(
  label: string,
  options: { value: string; title: string }[],
  value: string,
  change: (value: string) => void
): HTMLLabelElement {
  const box = h(
    "select",
    { "aria-label": label, onchange: () => change(box.value) },
    options.map((o) => h("option", { value: o.value, selected: o.value === value }, o.title))
  );
  return h("label", { class: "field" }, h("span", {}, label), box);
}

/** A name that may wrap before an arrow, but not within it. */
export function unbroken(name: string): (Node | string)[] {
  return name
    .split("->")
    .flatMap((part, i) => (i > 0 ? [h("wbr"), h("span", { class: "arrow" }, "->"), part] : [part]));
}

/** A title with a line of explanation. */
export function heading(title: string, explanation?: string): HTMLElement {
  return h(
    "div",
    { class: "heading" },
    h("h2", {}, title),
    explanation ? h("p", { class: "quiet" }, explanation) : null
  );
}

export function empty(sentence: string): HTMLElement {
  return h("p", { class: "sentence" }, sentence);
}
