/// <reference path="../crates/scenario/sokudo.d.ts" />
// What can a switch really carry?
//
// Pairs of hosts on both sides of the switch send 1 MB to each other and back, 1000 times, all at the
// same moment: 1, 5, 10, 15 and 20 pairs, one way at a time and both ways at once, twice each, in an
// order drawn from the seed. The report shows throughput over the volume that was carried; a pair
// that hangs is named, and the others count.
//
//   sokudo run examples/switch.js lab
//   sokudo run examples/switch.js --local 4 --set pairs=1,2 --set size=100kB --set times=50
//
// After: T. Yamanoue and T. Toda, "Development of a Platform Independent Performance Measurement Tool
// for High Speed Network Equipment".

const size = parameter("size", "1MB");
const times = parameter("times", 1000);
const most = Math.floor(hosts().length / 2);
const numbers = parameter("pairs", [1, 5, 10, 15, 20]).filter((n) => n <= most);
if (numbers.length === 0) numbers.push(most);

syncTime();
phase("connect", pairs(Math.max(...numbers)).map(([one, other]) => connect(one, other)), { timeout: "60s" });

const name = ({ pairs: n, duplex, trial }) => `${n} ${n === 1 ? "pair" : "pairs"}, ${duplex} duplex, trial ${trial}`;

const seen = matrix(
  { pairs: numbers, duplex: parameter("duplex", ["half", "full"]) },
  ({ pairs: n, duplex, trial }) =>
    phase(
      name({ pairs: n, duplex, trial }),
      pairs(n).map(([one, other]) => sendreceive(one, other, size, times, { duplex: duplex === "full" })),
      { timeout: parameter("timeout", "10min"), labels: { pairs: n, duplex, trial } },
    ),
  { repeat: parameter("repeat", 2), order: "random" },
);

for (const point of seen) {
  if (point.result.dead.length > 0) note(`${name(point)}: no result of ${point.result.dead.join(", ")}`);
}

// The verdict says which point carried most. Did the pairs share it, or did each have all that it wanted?
// The best trials are compared: each trial may have been disturbed.
const carried = ({ result }) => result.bits_per_second ?? 0;
const more = (a, b) => (carried(b) > carried(a) ? b : a);
const best = seen.reduce(more);
const few = seen.filter((point) => point.duplex === best.duplex && point.pairs === Math.min(...numbers)).reduce(more);
if (few.pairs < best.pairs && carried(few) > 0) {
  const share = carried(best) / best.pairs / (carried(few) / few.pairs);
  note(`at best, with ${best.pairs} pairs each carried ${Math.round(100 * share)} % of what it carried with ${few.pairs}`);
}
