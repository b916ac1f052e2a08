// What scenarios can call. Everything that leaves the engine goes through one function of the host
// program, `host(name, argument)`, which takes and gives JSON.
{
  const host = globalThis.__host;
  delete globalThis.__host;

  const call = (name, argument) => JSON.parse(host(name, JSON.stringify(argument ?? null)));

  // In a rehearsal nothing is carried out: a mistake is kept with the line that made it, and the script
  // goes on with `instead`, so that later lines are looked at, too.
  const rehearses = call("rehearses").value;
  const told = (what) => call("told", { what, stack: new Error().stack });

  const ask = (name, argument, instead) => {
    const answer = call(name, argument);
    if (answer.error) {
      if (rehearses) {
        told("refused");
        return instead;
      }
      const error = new Error(answer.error.says);
      error.hint = answer.error.hint;
      throw error;
    }
    return answer.value;
  };

  /** Refuses what was given here; the host program has the words. */
  const refuse = (what, instead) => ask("refuse", what, instead);

  const hosts = () => ask("hosts");

  /** Names that nothing has, by what stands for them in a rehearsal; each tells the mistake. */
  const unknown = new Map();

  const nameOf = (one) => {
    if (typeof one === "string") return one;
    if (Number.isInteger(one)) return String(one);
    if (one && typeof one.number === "number") return String(one.number);
    if (unknown.has(one)) return unknown.get(one)();
    return refuse({ host: { value: String(JSON.stringify(one)) } });
  };

  const listOf = (many) => (Array.isArray(many) ? many : [many]);

  /** `{size: "1MB", duplex: true}` as `--size=1MB --duplex`. */
  const typed = (options) =>
    Object.entries(options ?? {})
      .filter(([, value]) => value !== false && value !== undefined && value !== null)
      .flatMap(([name, value]) => {
        const flag = "--" + name.replace(/_/g, "-").replace(/[A-Z]/g, (c) => "-" + c.toLowerCase());
        return value === true ? [flag] : listOf(value).map((one) => `${flag}=${one}`);
      });

  const load = (word, from, to, options) => {
    const asked = { word, from: nameOf(from), to: listOf(to).map(nameOf), options: typed(options) };
    if (!rehearses) return asked;
    // Whoever could not be named has been told already.
    const isNamed = asked.from !== undefined && !asked.to.includes(undefined);
    return isNamed && ask("check", asked, false) ? asked : undefined;
  };

  const sendreceive = (from, to, size, times, options) =>
    load("rr", from, to, { size, count: times, ...options });

  const connect = (from, to) => load("crr", from, to, { count: 1 });

  const half = (count, wanted) => {
    const most = Math.floor(count / 2);
    if (wanted !== undefined && !(Number.isInteger(wanted) && wanted >= 1 && wanted <= most)) {
      return refuse({ pairs: { wanted: String(wanted), count, most } }, most);
    }
    return wanted ?? most;
  };

  /** The first n hosts with the n after them; or the hosts of two lists. */
  const pairs = (...given) => {
    if (Array.isArray(given[0]) && Array.isArray(given[1])) {
      const [left, right, wanted] = given;
      const n = half(2 * Math.min(left.length, right.length), wanted);
      return left.slice(0, n).map((one, index) => [one, right[index]]);
    }
    const [list, wanted] = Array.isArray(given[0]) ? given : [hosts(), given[0]];
    const n = half(list.length, wanted);
    const second = Math.floor(list.length / 2);
    return list.slice(0, n).map((one, index) => [one, list[second + index]]);
  };

  const mesh = (list = hosts()) =>
    list.flatMap((one, index) => list.filter((_, other) => other !== index).map((other) => [one, other]));

  const ring = (list = hosts()) => list.map((one, index) => [one, list[(index + 1) % list.length]]);

  const phase = (name, loads, settings) => {
    const given = listOf(loads).flat(Infinity);
    if (given.length === 0) refuse({ empty: { name: String(name) } });
    const list = rehearses ? given.filter(Boolean) : given;
    const asked = {
      name: String(name),
      loads: list,
      timeout: settings?.timeout,
      labels: Object.entries(settings?.labels ?? {}).map(([label, value]) => [label, String(value)]),
    };
    const nothing = { name: asked.name, status: "ok", flows: [], dead: [] };
    if (!rehearses) return ask("phase", asked);
    return imagined(list.length === 0 ? nothing : ask("phase", asked, nothing));
  };

  /** The result of a phase that was not carried out: everything came through, and every number is 1. */
  const imagined = ({ name, flows }) => {
    const read = (value) => (told("consulted"), value);
    const numbers = () => new Proxy({}, { get: (_, key) => (typeof key === "string" ? read(1) : undefined) });
    const measured = { bytes: 1, seconds: 1, bits_per_second: 1 };
    const watched = (known, results) =>
      new Proxy({ ...known, ...results }, {
        get: (all, key) => (key in results ? read(all[key]) : all[key]),
      });
    const flow = ({ from, to }) =>
      watched({ from, to, metrics: numbers() }, { complete: true, error: null, ...measured });
    const rest = { status: "ok", dead: [], fairness: 1, ...measured };
    return watched({ name, flows: flows.map(flow), summary: numbers() }, rest);
  };

  // Seeded, so that a run can be repeated (mulberry32).
  let state = ask("seed");
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  const shuffle = (list) => {
    const out = [...list];
    for (let last = out.length - 1; last > 0; last -= 1) {
      const other = Math.floor(random() * (last + 1));
      [out[last], out[other]] = [out[other], out[last]];
    }
    return out;
  };

  /** Every combination of the values, as often as asked for; each round in an order of its own. */
  const matrix = (axes, act, settings) => {
    let points = [{}];
    for (const [name, values] of Object.entries(axes)) {
      points = points.flatMap((point) => listOf(values).map((value) => ({ ...point, [name]: value })));
    }
    const rounds = settings?.repeat ?? 1;
    const out = [];
    for (let trial = 1; trial <= rounds; trial += 1) {
      const order = settings?.order === "random" ? shuffle(points) : points;
      for (const point of order) out.push({ ...point, trial, result: act({ ...point, trial }) });
    }
    return out;
  };

  /** What `--set NAME=VALUE` says, of the same kind as the value that holds without it. */
  const parameter = (name, usual) => {
    const given = ask("parameter", String(name));
    if (given === null) return usual;
    const like = (text, sample) => {
      if (typeof sample !== "number") return text;
      const number = Number(text);
      if (Number.isFinite(number)) return number;
      return refuse({ number: { name: String(name), given, text } }, sample);
    };
    if (typeof usual === "boolean") return given === "true";
    return Array.isArray(usual) ? given.split(",").map((text) => like(text, usual[0])) : like(given, usual);
  };

  /** Every profile in each round, the first one twice, in an order that is drawn. */
  const profiles = (target, named, act, settings) => {
    const places = Object.entries(named ?? {}).map(([name, values]) => ({
      name,
      settings: Object.entries(values ?? {}).map(([setting, value]) => [
        setting,
        typeof value === "boolean" ? (value ? "on" : "off") : String(value),
      ]),
    }));
    if (places.length < 2) refuse({ profiles: {} });
    const sides = [places[0], ...places].map((one, side) => ({ name: one.name, side, place: Math.max(side - 1, 0) }));
    const least = String(settings?.minEffect ?? "5%");
    const rounds = settings?.rounds ?? 6;
    ask("hold", { target: String(target), profiles: places });
    try {
      for (let round = 1; round <= rounds; round += 1) {
        for (const side of shuffle(sides)) {
          ask("turn", { ...side, round, least });
          act({ profile: side.name, round, again: side.side === 1 });
        }
      }
    } finally {
      ask("release");
    }
  };

  const api = {
    parameter,
    hosts,
    pairs,
    mesh,
    ring,
    load,
    sendreceive,
    connect,
    phase,
    matrix,
    profiles,
    random,
    shuffle,
    monitor: (what) => (typeof what === "string" ? ask("observe", what) : ask("monitor", what?.every ?? "250ms")),
    knobs: (changes) => ask("knobs", Object.entries(changes ?? {}).map(([key, value]) => [key, String(value)])),
    syncTime: () => ask("syncTime"),
    sleep: (time) => ask("sleep", typeof time === "number" ? `${time}ms` : time),
    say: (...words) =>
      ask("say", words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" ")),
    note: (text) => ask("note", String(text)),
    seed: ask("seed"),
  };
  for (const word of ask("words")) {
    api[word] = (from, to, options) => load(word, from, to, options);
  }
  Math.random = random;
  for (const [name, value] of Object.entries(api)) {
    if (typeof value === "function") Object.freeze(value);
    Object.defineProperty(globalThis, name, { value, enumerable: true });
  }

  if (rehearses) {
    // A name that nothing has is a mistake where it is used; asking for its type is none.
    const stand = (name) => {
      const tell = () => told({ name });
      const stands = new Proxy(() => undefined, {
        apply: () => void tell(),
        construct: () => (tell(), {}),
      });
      unknown.set(stands, () => void tell());
      return stands;
    };
    const plain = Object.getPrototypeOf(globalThis);
    const guess = (_, name, receiver) =>
      typeof name === "symbol" || name in plain ? Reflect.get(plain, name, receiver) : stand(name);
    Object.setPrototypeOf(globalThis, new Proxy(plain, { get: guess }));
  }
}
