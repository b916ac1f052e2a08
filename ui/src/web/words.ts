// The page's own words, in both languages; written by crates/web/src/page.rs.
import type { Words } from "../data";
import { say } from "../data";

let words: Record<string, Words> = {};

export function readWords(): void {
  const text = document.getElementById("words")?.textContent ?? "{}";
  words = JSON.parse(text) as Record<string, Words>;
}

/** A message in the page's language, its values filled in; of one thing it may say what it says of one. */
export function word(key: string, values: Record<string, string | number> = {}): string {
  const one = values.n === 1 ? words[`${key}.one`] : undefined;
  const text = say(one ?? words[key]) || `[${key}]`;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
