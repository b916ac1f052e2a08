/// <reference path="../../crates/scenario/sokudo.d.ts" />
// Which settings move files fastest: connections, compression level and batch, by size of the files?
//
// The matrix of a file mirroring product's tuning guide, over whatever link lies between the two hosts. Files
// are made while they are sent and dropped where they arrive, so that no disk takes part.
//
//   sokudo serve --path /srv/t                        on both hosts
//   sokudo run examples/replicate/seed-matrix.js hosta hostb

// Content of each cell: two seconds of the link without compression are enough.
const megabytes = Number(parameter("megabytes", "24"));
const content = parameter("content", "text");
const target = parameter("target", "null");
const trials = Number(parameter("trials", "1"));

const [from, to] = hosts();
const kilobytes = megabytes * 1000;
const sets = {
  "one file": `1x${megabytes}MB`,
  "1 MB": `${megabytes}x1MB`,
  "100 KB": `${kilobytes / 100}x100KB`,
  "10 KB": `${kilobytes / 10}x10KB`,
};

let number = 0;
const cells = matrix(
  { size: Object.keys(sets), level: ["none", "1", "3"], batch: ["1MiB", "0B"], connections: [1, 2, 8, 16] },
  ({ size, level, batch, connections, trial }) => {
    number += 1;
    const options = { source: `dataset:${sets[size]}`, target, content, level, batch, connections, durability: "none" };
    const labels = { size, level, batch, connections, trial };
    return phase(`${number} ${size} level ${level} batch ${batch} x${connections}`, replicate(from, to, options), { timeout: "2min", labels });
  },
  { repeat: trials, order: "random" },
);

// The best cell of each size of files.
const rate = (cell) => cell.result.summary["replicate.user_bytes_per_second"] || 0;
for (const size of Object.keys(sets)) {
  const own = cells.filter((cell) => cell.size === size);
  const best = own.reduce((a, b) => (rate(b) > rate(a) ? b : a));
  note(`${size}: best ${(rate(best) / 1e6).toFixed(1)} MB/s with level ${best.level}, ${best.connections} connections, batch ${best.batch}`);
}
