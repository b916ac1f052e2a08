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

const seen = matrix(
  { pairs: numbers, duplex: parameter("duplex", ["half", "full"]) },
  ({ pairs: n, duplex, trial }) =>
    phase(
      `${n} pairs, ${duplex} duplex, trial ${trial}`,
      pairs(n).map(([one, other]) => sendreceive(one, other, size, times, { duplex: duplex === "full" })),
      { timeout: parameter("timeout", "10min"), labels: { pairs: n, duplex, trial } },
    ),
  { repeat: parameter("repeat", 2), order: "random" },
);

for (const { pairs: n, duplex, trial, result } of seen) {
  if (result.dead.length > 0) note(`${n} pairs, ${duplex} duplex, trial ${trial}: no result of ${result.dead.join(", ")}`);
}

// The verdict says which point carried most. Did the pairs share it, or did each have all that it wanted?
const share = ({ pairs: n, result }) => (result.bits_per_second ?? 0) / n;
const best = seen.reduce((a, b) => ((b.result.bits_per_second ?? 0) > (a.result.bits_per_second ?? 0) ? b : a));
const few = seen.filter((point) => point.duplex === best.duplex).reduce((a, b) => (b.pairs < a.pairs ? b : a));
if (few.pairs < best.pairs && share(few) > 0) {
  note(`with ${best.pairs} pairs each carried ${Math.round((100 * share(best)) / share(few))} % of what it carried with ${few.pairs}`);
}
