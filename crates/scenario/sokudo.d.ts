// What a scenario of `sokudo run FILE.js` can call. For editors: put
//   /// <reference path="sokudo.d.ts" />
// on the first line of the scenario. `sokudo scenario types` prints this file.
//
// A scenario is an ordinary program without clock, files, network or randomness of its own.
// Calls wait until what they ask for is over.

/** A host that takes part. */
interface Host {
  /** From 1. */
  number: number;
  name: string;
  address: string;
  os: string;
  cores: number;
  /** Its clock minus that of the host that gives the commands. */
  clock_offset_seconds: number;
  /** The offset is right within this. */
  clock_error_seconds: number;
}

/** A host, its number or its name. */
type AnyHost = Host | number | string;

/** Options of a workload as its command has them: `{size: "1MB", count: 1000, duplex: true}`. */
type Options = Record<string, string | number | boolean | (string | number)[] | undefined>;

/** Load that has not started. */
interface Load {
  word: string;
  from: string;
  to: string[];
  options: string[];
}

/** What one flow came to. */
interface Flow {
  from: string;
  to: string;
  /** False when an end has no numbers: it hung, or was lost. */
  complete: boolean;
  /** Payload that arrived; of requests and responses both ways together. */
  bytes: number | null;
  seconds: number | null;
  bits_per_second: number | null;
  /** Why it failed, when it did. */
  error: string | null;
  /** Catalogue name → value: `sokudo metrics` lists them. */
  metrics: Record<string, number>;
}

/** What a phase came to. */
interface Result {
  name: string;
  status: "ok" | "partial" | "failed";
  flows: Flow[];
  /** `FROM → TO` of the flows that are not complete. */
  dead: string[];
  /** Payload of all complete flows. Flows of several workloads do not add up: it is null, and so are the
   * three after it. */
  bytes: number | null;
  /** Mean time of a complete flow. */
  seconds: number | null;
  /** Payload of all complete flows over their mean time. */
  bits_per_second: number | null;
  /** Jain's fairness index of the flows' speeds: 1 when all are equal, 1/n when one has all. */
  fairness: number | null;
  /** Catalogue name → value over all flows. */
  summary: Record<string, number>;
}

/** All hosts, in order of their numbers. */
declare function hosts(): Host[];
/** `n` pairs: the first half of the hosts with the second half. */
declare function pairs(n?: number): [Host, Host][];
/** The same of a list of hosts. */
declare function pairs<H extends AnyHost>(list: H[], n?: number): [H, H][];
/** Each host of one list with one of the other. */
declare function pairs<H extends AnyHost>(left: H[], right: H[], n?: number): [H, H][];
/** Everybody with everybody else. */
declare function mesh<H extends AnyHost>(list?: H[]): [H, H][];
/** Each host with the next one. */
declare function ring<H extends AnyHost>(list?: H[]): [H, H][];

// Loads of one host with the same options in one phase are one load with several peers: a `rate` is
// then what the host offers to all of them together.

/** Load by the name of its workload. */
declare function load(word: string, from: AnyHost, to: AnyHost | AnyHost[], options?: Options): Load;
/** Send `size` and get it back, `times` times; `{duplex: true}` both ways at once. */
declare function sendreceive(
  from: AnyHost,
  to: AnyHost | AnyHost[],
  size: string | number,
  times: number,
  options?: Options,
): Load;
/** Connect once, to take the time. */
declare function connect(from: AnyHost, to: AnyHost): Load;
/** `sokudo bus`: framed messages. */
declare function bus(from: AnyHost, to: AnyHost | AnyHost[], options?: Options): Load;
/** `sokudo crr`: connect, ask, be answered, hang up. */
declare function crr(from: AnyHost, to: AnyHost | AnyHost[], options?: Options): Load;
/** `sokudo datagram`: datagrams. */
declare function datagram(from: AnyHost, to: AnyHost | AnyHost[], options?: Options): Load;
/** `sokudo dbt1`: a web shop on a database; every host that does it gives the whole load. */
declare function dbt1(from: AnyHost, target: string, options?: Options): Load;
/** `sokudo dbt2`: order entry on a database; every host that does it gives the whole load. */
declare function dbt2(from: AnyHost, target: string, options?: Options): Load;
/** `sokudo dbt3`: decision support on a database; one host does all of it. */
declare function dbt3(from: AnyHost, target: string, options?: Options): Load;
/** `sokudo dns`: queries to a name server; every host that does it gives the whole load. */
declare function dns(from: AnyHost, server: string, options?: Options): Load;
/** `sokudo http`: requests to a web server; every host that does it gives the whole load. */
declare function http(from: AnyHost, url: string, options?: Options): Load;
/** `sokudo jmx run`: the users of a test plan of this host's files, on the host that gives the command. Options:
 * `property` (`["THREAD_NUMBER=25", "SUSTAIN=60"]`), `users` of each group, `duration`. */
declare function jmx(from: AnyHost, plan: string, options?: Options): Load;
/** `sokudo probe`: small datagrams at fixed intervals. */
declare function probe(from: AnyHost, to: AnyHost | AnyHost[], options?: Options): Load;
/** `sokudo rr`: ask and be answered. */
declare function rr(from: AnyHost, to: AnyHost | AnyHost[], options?: Options): Load;
/** `sokudo replicate`: trees of files; options `source` and `target` name their directories. */
declare function replicate(from: AnyHost, to: AnyHost | AnyHost[], options?: Options): Load;
/** `sokudo sqlmix`: transactions of your own on a database; option `file` holds a name and, after a line break, the text. */
declare function sqlmix(from: AnyHost, target: string, options?: Options): Load;
/** `sokudo stream`: bulk bytes. */
declare function stream(from: AnyHost, to: AnyHost | AnyHost[], options?: Options): Load;
/** `sokudo tpcb`: transfers on a database; every host that does it gives the whole load. */
declare function tpcb(from: AnyHost, target: string, options?: Options): Load;

/** Start all of these loads at the same moment and wait for their end, at most for `timeout`. */
declare function phase(
  name: string,
  loads: Load | (Load | Load[])[],
  settings?: { timeout?: string; labels?: Record<string, string | number> },
): Result;
/** Call `act` for every combination of the values, `repeat` times, in the given or a random order. */
declare function matrix<P extends Record<string, unknown>, R>(
  axes: { [K in keyof P]: P[K][] },
  act: (point: P & { trial: number }) => R,
  settings?: { repeat?: number; order?: "given" | "random" },
): (P & { trial: number; result: R })[];

/** The value of `--set NAME=VALUE`, or `usual`. A list is written with commas. */
declare function parameter<T extends string | number | boolean | (string | number)[]>(name: string, usual: T): T;
/** Take samples of all monitors this often: `{every: "100ms"}`. */
declare function monitor(settings?: { every?: string }): void;
/** Observe with this monitor, too, from now on: `"process:port=8080"`. `sokudo monitors` lists them. */
declare function monitor(monitor: string): void;
/** Change knobs of the `sokudo target` that runs until the scenario ends: `{"pool.max": 50}`. Without any: put
 * them back now. */
declare function knobs(changes?: Record<string, string | number | boolean>): void;
/** Measure a load with different settings of a PostgreSQL or MariaDB server in turns, and compare. Each round calls
 * `act` with every profile in force, with the first one twice, in an order that is drawn; the report tells first what
 * the first profile differs from itself, and no difference of the others that is as small. Six rounds are needed.
 * A setting that a profile does not name is as it was before, and afterwards all are. `sokudo run` needs
 * `--allow-unsafe` for settings with which a crash may lose commits. */
declare function profiles(
  target: string,
  named: Record<string, Record<string, string | number | boolean>>,
  act: (turn: { profile: string; round: number; again: boolean }) => unknown,
  settings?: { rounds?: number; minEffect?: string | number },
): void;
/** Compare the clocks of all hosts again. */
declare function syncTime(): void;
/** Do nothing for so long: `"500ms"`, or milliseconds. */
declare function sleep(time: string | number): void;
/** Tell the operator. */
declare function say(...words: unknown[]): void;
/** Put a sentence into the report. */
declare function note(text: string): void;

/** Seed of the run: the same seed gives the same random numbers. */
declare const seed: number;
/** From 0 to 1, from the seed. */
declare function random(): number;
/** The list in another order, from the seed. */
declare function shuffle<T>(list: T[]): T[];
