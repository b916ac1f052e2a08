// The failed requests of a run: label, code, message, how many.
import { fill, make } from "./dom";
import type { Failure } from "./server";
import { word } from "./words";

/** Fills the table, the most frequent first. */
export function showFailures(table: HTMLTableElement, rows: Failure[]): void {
  const shown = JSON.stringify([rows, document.documentElement.lang]);
  if (table.dataset["shown"] === shown) return;
  table.dataset["shown"] = shown;
  const head = ["label", "code", "message", "count"].map((key) => make("th", { scope: "col", class: key }, word(`failures-${key}`)));
  fill(table,
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...rows.map((row) => make("tr", {},
      make("td", { class: "label" }, row.flow), make("td", { class: "code" }, row.code), make("td", { class: "message" }, row.message),
      make("td", { class: "count" }, row.count.toLocaleString("en").replace(/,/g, "\u2009"))))));
}
