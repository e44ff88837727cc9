// Builds the page of `effort report`: node build.mjs NODE_MODULES OUT.cpp [OUT.html]
// OUT.cpp holds the page as C++ string literals; OUT.html is the same page without data, to look at.
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, cpp, html] = process.argv.slice(2);
const { build } = createRequire(join(resolve(modules), "here.js"))("esbuild");
const here = dirname(fileURLToPath(import.meta.url));
const read = (...parts) => readFile(join(here, ...parts), "utf8");

const bundle = async (entry, options = {}) => {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    write: false,
    minify: true,
    target: "es2022",
    format: "iife",
    charset: "ascii",
    legalComments: "none",
    nodePaths: [resolve(modules)],
    logLevel: "warning",
    ...options,
  });
  return result.outputFiles[0].text;
};

async function licences() {
  const { dependencies } = JSON.parse(await read("package.json"));
  const out = [{ name: "effort", version: "", licence: "BSD-3-Clause", text: await read("..", "LICENSE") }];
  for (const name of Object.keys(dependencies)) {
    const about = JSON.parse(await readFile(join(modules, name, "package.json"), "utf8"));
    out.push({
      name,
      version: about.version,
      licence: about.license,
      text: await readFile(join(modules, name, "LICENSE"), "utf8"),
    });
  }
  return out;
}

/** A string as C++ literals that are short enough for every compiler. */
function literals(text) {
  const chunks = [];
  for (let at = 0; at < text.length; at += 4000)
    chunks.push(
      JSON.stringify(text.slice(at, at + 4000))
        .replaceAll("?", "\\?")
        .replaceAll("\\u007f", "\\177")
    );
  return chunks.join("\n");
}

const worker = await bundle("worker.ts");
const script = await bundle("main.ts", {
  globalName: "effortReport",
  define: { WORKER_SOURCE: JSON.stringify(worker), LICENCES: JSON.stringify(await licences()) },
});
const style = await bundle("style.css");
const page = (await read("page.html"))
  .replace("/*STYLE*/", () => style.trim())
  .replace("/*SCRIPT*/", () => script.trim());
const [before, behind] = page.split("<!--DATA-->\n");
// literals() takes ASCII only.  The bundles are ASCII; page.html must be too.
if (/[^\t\n\x20-\x7e]/.test(page))
  throw new Error(
    `the page holds a character that is not ASCII: ${JSON.stringify(page.match(/.{0,30}[^\t\n\x20-\x7e].{0,30}/)[0])}`
  );

await writeFile(
  cpp,
  `// Made by viewer/build.mjs.
#include "tools/report/report_page.hpp"

namespace effort::tools {

namespace {
constexpr char before[] =
${literals(before)};
constexpr char behind[] =
${literals(behind)};
}  // namespace

PageTemplate page_template() { return {{before, sizeof before - 1}, {behind, sizeof behind - 1}}; }

}  // namespace effort::tools
`
);
if (html) await writeFile(html, page);
