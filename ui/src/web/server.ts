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
  says: Words;
  hint: Words;
}

/** Failed requests of one reason; `flow` is the label of a plan or the server. */
export interface Failure {
  flow: string;
  code: string;
  message: string;
  count: number;
}

/** A label, a flow, or a kind of requests, which has a share of its mix. */
export interface MixRow {
  host: string;
  name: Words;
  share: number | null;
  rate: number | null;
  unit: string;
  p50: number | null;
  p99: number | null;
  failed: number | null;
}

/** A setting of the loaded database; `commits` where it decides whether acknowledged commits outlive a crash. */
export interface Setting {
  server: string;
  name: string;
  value: string;
  commits: "kept" | "at-risk" | null;
}

export interface PlanFile {
  name: string;
  text: string;
}

interface LoadWords {
  users: string;
  ramp: string;
  duration: string;
  slo: string;
  monitors: string[];
}

/** An order as it is given, and as its record keeps it. */
export type Order =
  | { order: "run"; language: "lines" | "javascript"; text: string }
  | ({ order: "http"; url: string; rate: string } & LoadWords)
  | ({ order: "plan"; files: PlanFile[]; properties: string[] } & LoadWords);

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
  failures: Failure[];
  mix: MixRow[];
  settings: Setting[];
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
  did: string;
  started: string;
  status: string;
  failed: number | null;
  has_report: boolean;
  has_order: boolean;
}

/** Why an order was refused, and what of it was wrong. */
export class Refused extends Error {
  constructor(readonly says: Words, readonly hint: Words, readonly field: string, readonly mistakes: Mistake[]) {
    super(typeof says === "string" ? says : says.en);
  }
}

async function answer(response: Response): Promise<Response> {
  if (response.ok) return response;
  const told = (await response.json().catch(() => null)) as { says?: Words; hint?: Words | null; field?: string; mistakes?: Mistake[] } | null;
  throw new Refused(told?.says ?? `${response.status} ${response.statusText}`, told?.hint ?? "", told?.field ?? "", told?.mistakes ?? []);
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
