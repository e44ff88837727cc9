// Syntax highlighting, line by line.

import hljs from "highlight.js/lib/core";
import cpp from "highlight.js/lib/languages/cpp";
import fortran from "highlight.js/lib/languages/fortran";

hljs.registerLanguage("cpp", cpp);
hljs.registerLanguage("fortran", fortran);

/** Larger files are not coloured, because it would take seconds. */
const MOST_CHARACTERS = 400_000;

/** The lines of a file, each with its words in elements of their classes. */
export function highlighted(path: string, text: string): (index: number) => Node {
  const lines = text.split("\n");
  if (text.length > MOST_CHARACTERS) return (i) => document.createTextNode(lines[i] ?? "");
  const page = document.createElement("template");
  // highlight.js escapes the text that it is given.
  page.innerHTML = hljs.highlight(text, {
    language: /\.(f|for|f\d\d)$/i.test(path) ? "fortran" : "cpp",
    ignoreIllegals: true,
  }).value;
  const out: DocumentFragment[] = [document.createDocumentFragment()];
  walk(page.content, [], out);
  return (i) => out[i]?.cloneNode(true) ?? document.createTextNode("");
}

/** Copies text below `node`, wrapped in the elements around it, which are opened anew on every line. */
function walk(node: Node, around: Element[], out: DocumentFragment[]): void {
  for (const child of node.childNodes) {
    if (child instanceof Element) {
      walk(child, [...around, child], out);
      continue;
    }
    (child.textContent ?? "").split("\n").forEach((part, i) => {
      if (i > 0) out.push(document.createDocumentFragment());
      if (part !== "")
        out[out.length - 1].append(
          around.reduceRight<Node>((inner, element) => {
            const copy = element.cloneNode(false);
            copy.appendChild(inner);
            return copy;
          }, document.createTextNode(part))
        );
    });
  }
}
