// The settings of the loaded database that are in force.
import { fill, make } from "./dom";
import type { Setting } from "./server";
import { word } from "./words";

/** Fills the table: what puts acknowledged commits at risk first, marked with a sign and a word. */
export function showSettings(table: HTMLTableElement, rows: Setting[]): void {
  const shown = JSON.stringify([rows, document.documentElement.lang]);
  if (table.dataset["shown"] === shown) return;
  table.dataset["shown"] = shown;
  const servers = new Set(rows.map((row) => row.server)).size;
  const about = (row: Setting) => (row.commits === null ? "" : `${row.commits === "at-risk" ? "▲ " : ""}${word(`settings-${row.commits}`)}`);
  fill(table,
    make("thead", {}, make("tr", {}, ...["name", "value", "commits"].map((key) => make("th", { scope: "col" }, word(`settings-${key}`))))),
    make("tbody", {}, ...rows.map((row) => make("tr", { class: row.commits ?? "" },
      make("th", { scope: "row" }, servers > 1 ? `${row.server} ${row.name}` : row.name), make("td", {}, row.value), make("td", { class: "commits" }, about(row))))));
}
