// What the server tells, and how it is asked; the other end is crates/web/src/{feed,api,desk}.rs.
import type { Words } from "../data";

export interface Host {
  number: number;
  name: string;
  address: string;
  os: string;
  cores: number;
  clock_offset_seconds: number;
  clock_error_seconds: number;
  health: "ready" | "suspect" | "lost";
}

export interface Mistake {
  line: number;
  column: number;
  says: string;
  hint: string;
}

export interface Now {
  what: string;
  works: boolean;
  stopping: boolean;
  since_ms: number;
  doing: Words | null;
  phase: { name: string; elapsed_ms: number; of_ms: number } | null;
}

export interface Outcome {
  record: string | null;
  status: string;
  verdict: Words[];
}

/** A row of what goes on for long, such as a specification; `light` is empty where nothing was said yet. */
export interface Row {
  name: string;
  light: "" | "green" | "yellow" | "red";
  said: Words;
}

export interface State {
  place: string;
  watches: boolean;
  number: number;
  hosts: Host[];
  now: Now | null;
  phases: { name: string; t0: number; t1: number }[];
  board: Row[];
  mistakes: Mistake[];
  last: Outcome | null;
  dropped: number;
}

export interface Said {
  kind: "order" | "answer" | "error" | "problem";
  says: Words;
}

export interface LineHead {
  track: string;
  unit: string;
  host: string;
  name: string;
}

export interface LineData extends LineHead {
  /** t0, v0, t1, v1, …: milliseconds since the run's start, and values. */
  points: number[];
}

export interface Samples {
  number: number;
  first: number;
  heads: LineHead[];
  points: [number, number, number][];
}

export interface Snapshot {
  state: State;
  said: Said[];
  lines: LineData[];
}

export interface RecordRow {
  id: string;
  workload: string;
  started: string;
  status: string;
  has_report: boolean;
}

/** Why an order was refused. */
export class Refused extends Error {
  constructor(says: string, readonly hint: string) {
    super(says);
  }
}

async function answer(response: Response): Promise<Response> {
  if (response.ok) return response;
  const told = (await response.json().catch(() => null)) as { says?: string; hint?: string | null } | null;
  throw new Refused(told?.says ?? `${response.status} ${response.statusText}`, told?.hint ?? "");
}

/** Sends an order; throws `Refused` with the reason when it is not taken on. */
export async function post(path: string, body: unknown): Promise<Response> {
  return answer(await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-sokudo": "1" },
    body: JSON.stringify(body),
  }));
}

export async function get<T>(path: string): Promise<T> {
  return (await answer(await fetch(path))).json() as Promise<T>;
}

export interface Listener {
  snapshot(data: Snapshot): void;
  state(data: State): void;
  said(data: Said[]): void;
  samples(data: Samples): void;
  /** The line to the server is up, or down and tried again. */
  line(up: boolean): void;
}

/** Listens to the server for as long as the page is open. */
export function listen(to: Listener): void {
  const source = new EventSource("/api/events");
  const on = <T>(event: string, hear: (data: T) => void) =>
    source.addEventListener(event, (e) => hear(JSON.parse((e as MessageEvent<string>).data) as T));
  on("snapshot", to.snapshot);
  on("state", to.state);
  on("said", to.said);
  on("samples", to.samples);
  source.addEventListener("open", () => to.line(true));
  source.addEventListener("error", () => {
    to.line(false);
    // Refused for good, such as after a restart with another token: the browser does not try again.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(to), 3000);
  });
}
