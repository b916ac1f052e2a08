/// <reference path="../crates/scenario/sokudo.d.ts" />
// How fast, and how steady, is a wireless link?
//
// One host connects to another, sends 1 MB and gets it back, ten times; once waiting for the echo, and
// once with both directions at the same time, which a shared medium takes badly. Every round trip is
// kept: `sokudo export --to csv` has one line for each.
//
//   sokudo run examples/wireless-echo.js lab/laptop lab/desk

const [near, far] = hosts();
const size = parameter("size", "1MB");
const times = parameter("times", 10);

syncTime();
phase("connect", connect(near, far), { timeout: "30s" });
const echo = (name, duplex) =>
  phase(name, sendreceive(near, far, size, times, { duplex, keep: times }), { timeout: "10min" });
const one = echo("one way at a time", false);
const both = echo("both ways at once", true);
if (one.bits_per_second && both.bits_per_second) {
  const change = 100 * (both.bits_per_second / one.bits_per_second - 1);
  note(`both ways at once: ${change.toFixed(0)} % against one way at a time; above 0 the link is full duplex`);
}
