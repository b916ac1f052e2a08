// The load by label and by kind of requests: share, rate, latency, failures.
import { say } from "../data";
import { human } from "../format";
import { fill, make } from "./dom";
import type { MixRow } from "./server";
import { word } from "./words";

const COLUMNS = ["share", "rate", "p50", "p99", "failed"] as const;

/** A number with its unit; empty where there is none. */
function cell(value: number | null, unit: string): string {
  return value === null ? "" : human(value, unit);
}

/** Fills the table: the kinds of a mix first, then labels and flows. */
export function showMix(table: HTMLTableElement, rows: MixRow[]): void {
  const shown = JSON.stringify([rows, document.documentElement.lang]);
  if (table.dataset["shown"] === shown) return;
  table.dataset["shown"] = shown;
  const hosts = new Set(rows.map((row) => row.host)).size;
  const columns = COLUMNS.filter((key) => rows.some((row) => row[key] !== null));
  const unit = (row: MixRow, key: string) => (key === "share" ? "ratio" : key === "rate" ? row.unit : key === "failed" ? "1/second" : "seconds");
  const value = (row: MixRow, key: (typeof COLUMNS)[number]) => (key === "share" && row.share !== null ? Math.round(row.share * 1000) / 1000 : row[key]);
  fill(table,
    make("thead", {}, make("tr", {},
      make("th", { scope: "col", class: "label" }, word("mix-label")),
      ...columns.map((key) => make("th", { scope: "col", class: "figure" }, word(`mix-${key}`))))),
    make("tbody", {}, ...rows.map((row) => make("tr", { class: row.share === null ? "whole" : "kind" },
      make("th", { scope: "row", class: "label" }, hosts > 1 ? `${row.host} ${say(row.name)}` : say(row.name)),
      ...columns.map((key) => make("td", { class: `figure ${key}` }, cell(value(row, key), unit(row, key))))))));
}
