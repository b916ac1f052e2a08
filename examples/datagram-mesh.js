/// <reference path="../crates/scenario/sokudo.d.ts" />
// Do all paths among these hosts carry datagrams without loss, alone and all at once?
//
// First each pair in both directions by itself, then everybody to everybody at the same rate. A path
// that is clean alone and loses in the mesh shares something with the others.
//
//   sokudo run examples/datagram-mesh.js lab --set rate=100Mb/s

const rate = parameter("rate", "100Mb/s");
const duration = parameter("duration", "10s");
const tolerated = parameter("loss", 0.001);

syncTime();
const send = ([one, other]) => datagram(one, other, { ratePerPeer: rate, duration });
const loss = (flow) => {
  const { "datagram.sent_packets": sent, "datagram.missing_packets": missing } = flow.metrics;
  return sent > 0 ? (missing ?? 0) / sent : 1;
};

const alone = new Map();
const list = hosts();
for (const [index, one] of list.entries()) {
  for (const other of list.slice(index + 1)) {
    const result = phase(`${one.name} and ${other.name}`, [send([one, other]), send([other, one])]);
    for (const flow of result.flows) alone.set(`${flow.from} → ${flow.to}`, loss(flow));
  }
}
const all = phase("mesh", mesh().map(send), { timeout: "2min" });
for (const flow of all.flows) {
  const name = `${flow.from} → ${flow.to}`;
  if (loss(flow) > tolerated && (alone.get(name) ?? 1) <= tolerated) {
    note(`${name} loses ${(100 * loss(flow)).toFixed(2)} % in the mesh and none alone`);
  }
}
