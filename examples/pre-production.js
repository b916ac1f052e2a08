/// <reference path="../crates/scenario/sokudo.d.ts" />
// Is the network between these hosts fit for a cluster that sends datagrams and messages?
//
// The classic test before production: datagrams and a message bus, each between two hosts one way, then
// both ways, then everybody to everybody. The distributed test must not lose what two hosts alone do not.
//
//   sokudo run examples/pre-production.js lab
//   sokudo run examples/pre-production.js lab --set rate=100MB/s --set duration=60s

const rate = parameter("rate", "100MB/s");
const size = parameter("size", "1468");
const message = parameter("message", "4KiB");
const duration = parameter("duration", "10s");
const tolerated = parameter("loss", 0.001);
// Empty: as many messages as the window allows.
const messages = parameter("messages", "");

const [first, second, ...others] = hosts();
const there = [first, second];
const both = [there, [second, first]];
const lines = [];

const lost = (result) => {
  const total = (name) => result.flows.reduce((sum, flow) => sum + (flow.metrics[name] ?? 0), 0);
  const sent = total("datagram.sent_packets");
  return sent > 0 ? total("datagram.missing_packets") / sent : 1;
};

syncTime();

const datagrams = (name, who) => {
  const send = ([one, other]) => datagram(one, other, { ratePerPeer: rate, size, duration });
  const result = phase(`datagrams, ${name}`, who.map(send), { timeout: "5min" });
  const share = lost(result);
  lines.push(`datagrams, ${name}: ${(100 * share).toFixed(3)} % lost${share > tolerated ? ", too much" : ""}`);
  return result.dead;
};

const bussing = (name, who) => {
  const options = messages ? { size: message, duration, rate: messages } : { size: message, duration };
  const result = phase(`messages, ${name}`, who.map(([one, other]) => bus(one, other, options)), { timeout: "5min" });
  const total = result.flows.reduce((sum, flow) => sum + (flow.metrics["bus.messages_per_second"] ?? 0), 0);
  lines.push(`messages, ${name}: ${Math.round(total)} per second`);
  return result.dead;
};

const dead = [];
for (const test of [datagrams, bussing]) {
  dead.push(...test("one way", [there]));
  dead.push(...test("both ways", both));
  if (others.length > 0) dead.push(...test("everybody to everybody", mesh()));
}
for (const line of lines) note(line);
if (dead.length > 0) note(`no result of ${dead.join(", ")}`);
