// Builds ui/dist from ui/src. The result is committed, so that cargo alone can build everything;
// `node build.mjs --check` fails when it differs from a fresh build.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
const check = process.argv.includes("--check");

// The bundle carries the notice of what it contains; the whole text is in ui/THIRD-PARTY.txt.
const notice = "/*! Contains uPlot, Copyright (c) 2022 Leon Sorokin, MIT License */";

const common = {
  banner: { js: notice, css: notice },
  absWorkingDir: here,
  bundle: true,
  minify: true,
  write: false,
  charset: "utf8",
  legalComments: "inline",
  logLevel: "warning",
};

async function bundle(entry, options) {
  const result = await build({ ...common, entryPoints: [entry], ...options });
  return result.outputFiles[0].text;
}

const built = [];
for (const page of ["report", "web"]) {
  const script = await bundle(`src/${page}.ts`, { format: "iife", target: "es2020" });
  const style = await bundle(`src/${page}.css`, { target: ["chrome111", "firefox113", "safari16.4"] });
  built.push([`${page}.js`, script], [`${page}.css`, style]);
}

for (const [name, text] of built) {
  // Inside an HTML page neither may end the element that it stands in.
  if (/<\/(script|style)|<!--/i.test(text)) {
    throw new Error(`${name} holds text that would end its element`);
  }
  const path = join(dist, name);
  if (check) {
    const committed = await readFile(path, "utf8").catch(() => "");
    if (committed !== text) {
      console.error(`ui/dist/${name} is not what ui/src builds to; run \`npm run build\` in ui/`);
      process.exitCode = 1;
    }
  } else {
    await mkdir(dist, { recursive: true });
    await writeFile(path, text);
    console.log(`ui/dist/${name} ${text.length} characters`);
  }
}
