/// <reference path="../crates/scenario/sokudo.d.ts" />
// How many messages per second do all hosts exchange, and how long do they take?
//
// Everybody sends to everybody else: first at a gentle rate for the latency, then as fast as the
// window allows for the throughput, both ways between each pair at once.
//
//   sokudo run examples/bus-mesh.js lab

const size = parameter("size", "4KiB");
const duration = parameter("duration", "10s");
const gentle = parameter("rate", "1k/s");
// Empty: as fast as the window allows.
const full = parameter("full", "");

syncTime();
const everybody = (name, options) =>
  phase(name, mesh().map(([one, other]) => bus(one, other, { size, duration, ...options })), { timeout: "2min" });

const quiet = everybody("gentle", { rate: gentle });
const busy = everybody("full speed", full ? { rate: full } : {});
const p99 = (result) => result.summary["bus.response_latency_seconds.p99"];
if (p99(quiet) && p99(busy)) {
  note(`99 % of the answers within ${(1e6 * p99(quiet)).toFixed(0)} µs at ${gentle} each, ${(1e6 * p99(busy)).toFixed(0)} µs at ${full || "full speed"}`);
}
const dead = [...quiet.dead, ...busy.dead];
if (dead.length > 0) note(`no result of ${dead.join(", ")}`);
