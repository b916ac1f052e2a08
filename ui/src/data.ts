// What the report's JSON element holds; written by crates/report/src/html/data.rs.

import { unbroken } from "./format";

/** Text in both languages, or once where they agree. */
export type Words = string | { en: string; ja: string };

/** One line, layer or row of a chart. */
export interface Line {
  label: Words;
  /** Place in the palette. */
  colour: number;
  dashed: boolean;
  /** Time of the first value, milliseconds since the run's start. */
  t0: number;
  /** Differences between the times that follow; one number when they are all equal. */
  dt: number | number[];
  /** Values in the chart's unit; null starts a stretch without data. */
  v: (number | null)[];
}

/** Cells of a heat map. */
export interface Heat {
  t0: number;
  step: number;
  low: number;
  factor: number;
  rows: number;
  /** Per column: lowest row, then counts upwards. */
  columns: number[][];
}

export interface ChartData {
  id: string;
  unit: string;
  kind: "lines" | "stack" | "strip" | "heat";
  lines: Line[];
  log?: boolean;
  full?: number;
  heat?: Heat;
}

export interface Phase {
  name: string;
  t0: number;
  t1: number;
  probe: boolean;
}

export interface Mark {
  t: number;
  host?: string;
  says: Words;
}

export interface Data {
  /** Length of the run, milliseconds. */
  end: number;
  /** Worst clock error between hosts, seconds; null with one clock. */
  clock: number | null;
  /** Milliseconds since midnight at the start; null when the start is not known. */
  start: number | null;
  words: Record<string, Words>;
  phases: Phase[];
  events: Mark[];
  problems: Mark[];
  charts: ChartData[];
}

export type Lang = "en" | "ja";

export function readData(): Data | null {
  const element = document.getElementById("data");
  if (!element?.textContent) return null;
  return JSON.parse(element.textContent) as Data;
}

export function language(): Lang {
  return document.documentElement.lang === "ja" ? "ja" : "en";
}

export function say(words: Words | undefined): string {
  if (words === undefined) return "";
  return unbroken(typeof words === "string" ? words : words[language()]);
}

/** Times of a line, milliseconds since the run's start. */
export function times(line: Line): number[] {
  const out: number[] = new Array(line.v.length);
  let t = line.t0;
  for (let i = 0; i < line.v.length; i++) {
    if (i > 0) t += typeof line.dt === "number" ? line.dt : (line.dt[i - 1] ?? 0);
    out[i] = t;
  }
  return out;
}
