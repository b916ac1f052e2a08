
  // --- Members of classes ---------------------------------------------------------------------------------------------
  const zones = (name) => name ?? "";
  const date = (ms) => object("Date", { ms });
  const time = (what, fields) => {
    const told = JSON.parse(host("time", what, JSON.stringify(fields)) ?? '{"fault":"this date"}');
    if (told.fault !== undefined) unsupported(told.fault);
    return told.error === undefined ? told.value : null;
  };
  const now = () => Number(host("now", "", ""));
  const formatDate = (pattern, ms, zone) => time("format", { pattern, ms, zone: zones(zone) });
  const random = () => Number(host("random", "", ""));
  const randomBelow = (bound) => Math.floor(random() * bound);
  const texts = {
    Date: (v) => formatDate("EEE MMM dd HH:mm:ss zzz yyyy", v.ms),
    UUID: (v) => v.s,
    StringBuilder: (v) => v.s,
    StringBuffer: (v) => v.s,
    Pattern: (v) => v.source,
    Encoded: (v) => v.s,
    AtomicInteger: (v) => String(v.v),
    AtomicLong: (v) => String(v.v),
    JsonBuilder: (v) => toJson(v.content),
    AtomicBoolean: (v) => String(v.v),
    AtomicReference: (v) => javaText(v.v),
    Timestamp: (v) => formatDate("yyyy-MM-dd HH:mm:ss.SSS", v.ms).replace(/0{1,2}$/, ""),
    RoundingMode: (v) => v.name,
    Charset: (v) => v.name,
    URI: (v) => v.s,
    URL: (v) => v.s,
    ...Object.fromEntries(["NodeChild", "NodeChildren", "NoChildren", "Attributes", "Attribute"].map((name) => [name, pathText])),
    File: (v) => v.path,
    Path: (v) => v.path,
    Header: (v) => methods.Header.toString(v),
    Instant: (v) => time("instant", { ms: v.ms }),
    LocalDateTime: (v) => localText(v.at),
    LocalDate: (v) => v.at.slice(0, 10),
    LocalTime: (v) => localText(v.at).slice(11),
    ZonedDateTime: (v) => zonedText(v),
    OffsetDateTime: (v) => zonedText(v),
    ZoneId: (v) => methods.ZoneId.getId(v),
    ZoneOffset: (v) => v.id,
    DayOfWeek: (v) => v.name,
    Month: (v) => v.name,
    TimeUnit: (v) => v.name,
    Locale: (v) => v.id,
    HmacAlgorithms: (v) => v.name,
    Class: (v) => `class ${v.name}`,
  };
  const bounds = (ok, $c = "StringIndexOutOfBoundsException", said = UNTOLD) => ok || fail($c, said);
  const substring = (s, from, to = s.length) => {
    bounds(from >= 0 && to <= s.length && from <= to, "StringIndexOutOfBoundsException", `begin ${from}, end ${to}, length ${s.length}`);
    return s.slice(from, to);
  };
  const isSpace = (c) => c <= " ";
  const trim = (s) => {
    let [a, b] = [0, s.length];
    while (a < b && isSpace(s[a])) a += 1;
    while (b > a && isSpace(s[b - 1])) b -= 1;
    return s.slice(a, b);
  };
  const groovyNumber = (s, parse) => parse(trim(s));
  const isParsed = (parse) => (s) => {
    try {
      parse(trim(s));
      return true;
    } catch (error) {
      if (error instanceof Thrown) return false;
      throw error;
    }
  };
  const padding = (s, size, pad) => {
    if (pad === "") unsupported("an empty padding");
    return repeat(pad, Math.max(0, Math.ceil((toInt(size) - s.length) / pad.length))).slice(0, Math.max(0, toInt(size) - s.length));
  };
  const lines = (s) => {
    const all = s.split(/\r\n|\n|\r/);
    if (all.at(-1) === "") all.pop();
    return all;
  };
  const ascii = (act) => (s) => {
    // Letters outside of ASCII follow the same rules in both, but for a few that depend on the language.
    if (/[ıİſKŉǰΐΰßẖ-ẞἀ-῿ﬀ-ﬗΣ]/.test(s)) unsupported("the case of these letters");
    return act(s);
  };
  const lower = ascii((s) => s.toLowerCase());
  const upper = ascii((s) => s.toUpperCase());
  const group = (s, find) => {
    if (!find) return s;
    return s.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  };
  const badFormat = (kind, v) => fail("IllegalFormatConversionException", `${kind} != ${classes[classOf(v)]?.qualified}`);
  const formatOne = (flags, width, digits, kind, v) => {
    v ??= null;
    let out;
    switch (kind) {
      case "s":
      case "S":
        out = javaText(v);
        if (digits !== undefined) out = out.slice(0, digits);
        if (kind === "S") out = upper(out);
        break;
      case "b":
        out = String(v === null ? false : typeof v === "boolean" ? v : true);
        break;
      case "c":
        out = v === null ? "null" : v instanceof Character ? v.s : typeof v === "number" ? String.fromCodePoint(v) : fail("IllegalArgumentException");
        break;
      case "d": {
        if (v === null) {
          out = "null";
          break;
        }
        if (!isWhole(operand(v)) && !(v instanceof BigInteger)) return badFormat(kind, v);
        const value = toBig(operand(v));
        out = group(String(value < 0n ? -value : value), flags.includes(","));
        return signs(flags, width, out, value < 0n);
      }
      case "x":
      case "X": {
        if (!isWhole(v) && !(v instanceof Byte)) return badFormat(kind, v);
        const value = unsigned(v instanceof Byte ? 8 : typeof v === "number" ? 32 : 64, operand(v));
        out = value.toString(16);
        if (kind === "X") out = out.toUpperCase();
        if (flags.includes("0")) out = out.padStart(width, "0");
        break;
      }
      case "f": {
        if (v === null) {
          out = "null";
          break;
        }
        if (!(v instanceof Double) && !(v instanceof BigDecimal)) return badFormat(kind, v);
        if (v instanceof Double && !Number.isFinite(v.v)) return unsupported("a format of this number");
        const value = setScale(toDecimal(v), digits ?? 6, "HALF_UP");
        const [whole, rest] = plainText(value.u < 0n ? new BigDecimal(-value.u, value.scale) : value).split(".");
        out = group(whole, flags.includes(",")) + (rest === undefined ? "" : `.${rest}`);
        return signs(flags, width, out, value.u < 0n || (v instanceof Double && v.v < 0));
      }
      default:
        return unsupported(`%${kind}`);
    }
    return flags.includes("-") ? out.padEnd(width) : out.padStart(width);
  };
  const signs = (flags, width, digits, negative) => {
    const sign = negative ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
    if (flags.includes("(")) return unsupported("%(");
    if (flags.includes("0")) return sign + digits.padStart(width - sign.length, "0");
    return flags.includes("-") ? (sign + digits).padEnd(width) : (sign + digits).padStart(width);
  };
  const format = (pattern, ...args) => {
    if (args.length === 1 && isArray(args[0]) && args[0].item !== "byte") args = args[0];
    let nextOne = 0;
    return pattern.replace(/%(\d+\$)?([-#+ 0,(]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])|%/g, (all, index, flags, width, digits, kind) => {
      if (kind === undefined) return fail("IllegalArgumentException");
      if (kind === "n") return "\n";
      if (kind === "%") return "%".padStart(Number(width ?? 0));
      if (Number(width ?? 0) > 10_000 || Number(digits ?? 0) > 1_000) unsupported("a format of this width");
      const at = index === undefined ? nextOne++ : parseInt(index, 10) - 1;
      if (at >= args.length) return fail("IllegalArgumentException", `Format specifier '${all}'`);
      return formatOne(flags, Number(width ?? 0), digits === undefined ? undefined : Number(digits), kind, args[at]);
    });
  };
  const javaUrl = (s, safe) => {
    let out = "";
    for (const byte of encodeUtf8(s)) {
      const c = String.fromCharCode(byte);
      if (/[a-zA-Z0-9.\-*_]/.test(c)) out += c;
      else if (c === " ") out += "+";
      else out += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    }
    return out;
  };
  const urlDecoded = (s) => {
    const bytes = [];
    for (let i = 0; i < s.length; i += 1) {
      const c = s[i];
      if (c === "+") bytes.push(32);
      else if (c === "%") {
        const pair = s.slice(i + 1, i + 3);
        if (!/^[0-9a-fA-F]{2}$/.test(pair)) fail("IllegalArgumentException");
        bytes.push(parseInt(pair, 16));
        i += 2;
      } else bytes.push(...encodeUtf8(s.codePointAt(i) > 0xffff ? s.slice(i, ++i + 1) : c));
    }
    return decode(bytes);
  };
  const onlyUtf8 = (charset) => (charset === "UTF-8" ? charset : unsupported(`the encoding ${charset}`));
  const builder = ($c, s) => object($c, { s });
  const edit = (change) => (b, ...args) => {
    b.s = change(b.s, ...args);
    if (b.s.length > mostText) unsupported("a text of this size");
    return b;
  };
  const uuid = (s) => object("UUID", { s });
  const grouped = (digits) => [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-");
  const randomUuid = () => {
    let digits = "";
    for (let i = 0; i < 32; i += 1) digits += i === 12 ? "4" : i === 16 ? "89ab"[randomBelow(4)] : randomBelow(16).toString(16);
    return uuid(grouped(digits));
  };
  const nameUuid = (bytes) => {
    const hashed = digest("MD5", bytes);
    hashed[6] = (hashed[6] & 15) | 0x30;
    hashed[8] = (hashed[8] & 63) | 0x80;
    return uuid(grouped(hex(hashed)));
  };

  // Closures that get an item, a pair of key and value, or an entry.
  const withEntry = (run, entry) => (run.count === 2 ? callClosure(run, [entry.key, entry.value]) : callClosure(run, [entry]));
  const test = (run, item) => truth(callClosure(run, [item]));
  const testEntry = (run, entry) => truth(withEntry(run, entry));
  const sameKind = (of, items) => (of instanceof JavaSet ? set(items, of.kind === "hash" ? "hash" : of.kind) : [...items]);
  const ordered = (items, run) => {
    const copy = [...items];
    if (run === undefined) return copy.sort(cmp);
    if (run.count === 2) return copy.sort((a, b) => toInt(callClosure(run, [a, b])));
    return copy.sort((a, b) => cmp(callClosure(run, [a]), callClosure(run, [b])));
  };
  const QUEUES = ["ConcurrentLinkedQueue", "ConcurrentLinkedDeque", "ArrayDeque", "LinkedBlockingQueue"];
  const isQueue = (of) => QUEUES.includes(of.kind);
  const into = (list, items) => {
    if (list.isSealed) return fail("UnsupportedOperationException");
    if (list instanceof JavaSet) ownOnly(list).held = set(items, list.kind).held;
    else list.splice(0, list.length, ...items);
    return list;
  };
  const ownOnly = (of) => (of.isView ? unsupported("a change of a part of a collection") : of);
  const changeable = (list) => {
    if (list instanceof Range || isArray(list) || list.isSealed) return fail("UnsupportedOperationException");
    ownOnly(list);
    if (list.length > mostItems) unsupported("a list of this size");
    return list;
  };
  const fixedSize = (list) => (list.isFixed ? fail("UnsupportedOperationException") : changeable(list));
  const addItem = (of, item) => {
    if (of instanceof JavaSet) {
      const known = ownOnly(of).held.has(item);
      if (!known) of.held.set(item, true);
      return !known;
    }
    if (isQueue(of) && item === null) return noPointer();
    fixedSize(of).push(item);
    return true;
  };
  const removeItem = (of, item) => {
    if (of instanceof JavaSet) {
      const known = ownOnly(of).held.has(item);
      of.held.delete(item);
      return known;
    }
    const found = fixedSize(of).findIndex((one) => same(one, item));
    if (found >= 0) of.splice(found, 1);
    return found >= 0;
  };
  const removeAt = (list, index) => {
    bounds(index >= 0 && index < list.length, "IndexOutOfBoundsException", `Index ${index} out of bounds for length ${list.length}`);
    return fixedSize(list).splice(index, 1)[0];
  };
  const getItem = (list, index) => {
    const items = each(list);
    const said = `Index ${index} out of bounds for length ${items.length}`;
    bounds(index >= 0 && index < items.length, "IndexOutOfBoundsException", said);
    return items[index];
  };
  const firstOf = (items) => (items.length === 0 ? fail("NoSuchElementException") : items[0]);
  const best = (items, run, sign) => {
    let found = null;
    for (const item of items) {
      if (run === undefined && item === null) continue;
      if (found === null) found = { item };
      else {
        const order = run === undefined ? cmp(item, found.item) : run.count === 2 ? toInt(callClosure(run, [item, found.item])) : cmp(callClosure(run, [item]), callClosure(run, [found.item]));
        if (order * sign > 0) found = { item };
      }
    }
    return found === null ? null : found.item;
  };
  const total = (items, begin) => {
    let sum = begin;
    for (const item of items) sum = sum === undefined ? item : add(sum, item);
    return sum ?? null;
  };
  const flat = (items) => items.flatMap((item) => (isCollection(item) || isArray(item) ? flat(each(item)) : [item]));
  const unique = (items) => {
    const kept = [];
    const seen = new Map();
    for (const item of items) {
      // Numbers of different types may be equal, so that keys find only what is surely the same.
      const key = isText(item) ? `s${plain(item)}` : null;
      if (key !== null && seen.has(key)) continue;
      if (key === null && kept.some((one) => equal(one, item))) continue;
      if (key !== null) seen.set(key, true);
      kept.push(item);
    }
    return kept;
  };
  // The first of the items for which a closure gives the same, or that it takes for equal.
  const uniqueBy = (items, run) => {
    const kept = [];
    const keyFor = (item) => (run.count === 2 ? item : callClosure(run, [item]));
    const isSame = (a, b) => (run.count === 2 ? toInt(callClosure(run, [a, b])) === 0 : equal(a, b));
    for (const item of items) {
      const key = keyFor(item);
      if (!kept.some((one) => isSame(one.key, key))) kept.push({ item, key });
    }
    return kept.map((one) => one.item);
  };
  const shuffle = (list, below = randomBelow) => {
    fixedSizeless(list);
    for (let i = list.length; i > 1; i -= 1) {
      const other = below(i);
      [list[i - 1], list[other]] = [list[other], list[i - 1]];
    }
  };
  const fixedSizeless = (list) => changeable(list);
  const pairOf = (made) => {
    if (made instanceof JavaMap) return made.pairs();
    if (Array.isArray(made)) return [[made[0] ?? null, made[1] ?? null]];
    if (made instanceof Entry) return [[made.key, made.value]];
    return unsupported("this entry of collectEntries");
  };
  const grouping = (entries, keyFor) => {
    const made = map([]);
    for (const item of entries) {
      const key = plain(keyFor(item));
      made.has(key) ? made.get(key).push(item) : made.set(key, [item]);
    }
    return made;
  };
  const chunks = (items, size, step, keeps) => {
    if (size <= 0 || step <= 0) unsupported("collate with this size");
    const out = [];
    for (let i = 0; i < items.length; i += step) if (keeps || i + size <= items.length) out.push(items.slice(i, i + size));
    return out;
  };
  const times = (count, run) => {
    for (let i = 0; i < count; i += 1) callClosure(run, [i]);
  };
  const counting = (from, to, run, by) => {
    const steps = by > 0 ? (v) => v <= to : (v) => v >= to;
    for (let i = from; steps(i); i += by) callClosure(run, [i]);
  };
  const smallWhole = (v) => (typeof v === "number" ? v : unsupported("a loop with these numbers"));
  const withTail = (s, size) => (size >= 0 ? s.slice(0, size) : "");

  const likeMap = (v, pairs) => map(pairs, v.kind === "tree" ? "tree" : "linked");
  const MAP_BY = { linked: (pairs) => map(pairs), hash: (pairs) => map(pairs, "hash"), tree: (pairs) => map(pairs, "tree"), concurrent: () => unsupported("this method of a ConcurrentHashMap") };
  const jdkRandom = (seed) => object("Random", { seed: (BigInt(seed) ^ 0x5deece66dn) & ((1n << 48n) - 1n), spare: null });
  const bits = (r, count) => {
    r.seed = (r.seed * 0x5deece66dn + 0xbn) & ((1n << 48n) - 1n);
    return Number(wrapped(32, r.seed >> BigInt(48 - count)));
  };
  const badBound = () => fail("IllegalArgumentException", "bound must be positive");
  const nextInt = (r, bound) => {
    if (bound <= 0) return badBound();
    if (r.seed === undefined) return randomBelow(bound);
    if ((bound & -bound) === bound) return Number((BigInt(bound) * BigInt(bits(r, 31))) >> 31n);
    for (;;) {
      const drawn = bits(r, 31);
      const value = drawn % bound;
      if (drawn - value + (bound - 1) <= 0x7fffffff) return value;
    }
  };
  const nextDouble = (r) => (r.seed === undefined ? random() : (bits(r, 26) * 2 ** 27 + bits(r, 27)) * 2 ** -53);
  const gaussian = (r) => {
    if (r.spare !== null && r.spare !== undefined) {
      const value = r.spare;
      r.spare = null;
      return value;
    }
    for (;;) {
      const [a, b] = [2 * nextDouble(r) - 1, 2 * nextDouble(r) - 1];
      const s = a * a + b * b;
      if (s >= 1 || s === 0) continue;
      const by = Math.sqrt((-2 * Math.log(s)) / s);
      r.spare = b * by;
      return a * by;
    }
  };
  const between = (from, to) => (from < to ? from + randomBelow(to - from) : fail("IllegalArgumentException", "bound must be greater than origin"));
  const randomBits = (count) => Number(wrapped(count, BigInt(Math.floor(random() * 2 ** count))));
  const letters = (count, alphabet) => {
    if (count < 0) fail("IllegalArgumentException");
    if (count > mostText) unsupported("a text of this size");
    let out = "";
    for (let i = 0; i < count; i += 1) out += alphabet[randomBelow(alphabet.length)];
    return out;
  };
  const LOWER = "abcdefghijklmnopqrstuvwxyz";
  const LETTERS = LOWER.toUpperCase() + LOWER;
  const DIGITS = "0123456789";
  const wholeRadix = (v, radix) => (radix < 2 || radix > 36 ? v.toString(10) : v.toString(radix));
  const rounding = (name) => object("RoundingMode", { name });
  const ROUND = ["UP", "DOWN", "CEILING", "FLOOR", "HALF_UP", "HALF_DOWN", "HALF_EVEN"];
  const divideTo = (a, b, scale, mode) => {
    if (b.u === 0n) fail("ArithmeticException", a.u === 0n ? "Division undefined" : "Division by zero");
    const shift = scale - a.scale + b.scale;
    const [u, d] = shift >= 0 ? [a.u * ten(shift), b.u] : [a.u, b.u * ten(-shift)];
    return new BigDecimal(rounded(u, d, mode), scale);
  };
  // The quotient with as many decimals as it has, and no fewer than those of the dividend exceed those of the divisor.
  const divideExactly = (a, b) => {
    if (b.u === 0n) return fail("ArithmeticException", a.u === 0n ? "Division undefined" : "Division by zero");
    let [dividend, divisor, scale] = [a.u, b.u, a.scale - b.scale];
    let [common, rest] = [dividend < 0n ? -dividend : dividend, divisor < 0n ? -divisor : divisor];
    while (rest !== 0n) [common, rest] = [rest, common % rest];
    let left = divisor / common;
    for (const factor of [2n, 5n]) while (left % factor === 0n) left /= factor;
    if (left !== 1n && left !== -1n) return fail("ArithmeticException", "Non-terminating decimal expansion; no exact representable decimal result.");
    for (; dividend % divisor !== 0n; scale += 1) dividend *= 10n;
    return new BigDecimal(dividend / divisor, scale);
  };
  const asciiChar = (act) => (c) => (c.s > "\x7f" ? unsupported("this character") : act(c.s));

  const LIST = {
    toString: (v) => (isGroovy ? groovyText(v) : javaText(v)),
    size: (v) => (v instanceof JavaSet ? v.held.size : each(v).length),
    isEmpty: (v) => each(v).length === 0,
    contains: (v, item) => (v instanceof JavaSet ? v.held.has(item) : each(v).some((one) => (isArray(v) ? equal : same)(one, item))),
    containsAll: (v, all) => each(all).every((item) => LIST.contains(v, item)),
    add(v, a, b) {
      if (b === undefined) return addItem(v, a);
      bounds(a >= 0 && a <= v.length, "IndexOutOfBoundsException", `Index: ${a}, Size: ${v.length}`);
      fixedSize(v).splice(a, 0, b);
      return null;
    },
    addAll(v, a, b) {
      if (b !== undefined) {
        bounds(a >= 0 && a <= v.length, "IndexOutOfBoundsException");
        fixedSize(v).splice(a, 0, ...each(b));
        return each(b).length > 0;
      }
      let changed = false;
      for (const item of [...each(a)]) changed = addItem(v, item) || changed;
      return changed;
    },
    remove(v, ...which) {
      if (which.length === 0) return v.length === 0 ? fail("NoSuchElementException") : fixedSize(v).shift();
      const [item] = which;
      return isList(v) && !isQueue(v) && typeof item === "number" ? removeAt(v, item) : removeItem(v, item);
    },
    removeAt,
    removeElement: removeItem,
    removeAll(v, all) {
      const before = LIST.size(v);
      const goes = typeof all === "function" ? (item) => test(all, item) : (item) => each(all).some((one) => same(one, item));
      into(v instanceof JavaSet ? v : fixedSize(v), each(v).filter((item) => !goes(item)));
      return LIST.size(v) !== before;
    },
    retainAll(v, all) {
      const before = LIST.size(v);
      const stays = typeof all === "function" ? (item) => test(all, item) : (item) => each(all).some((one) => same(one, item));
      into(v instanceof JavaSet ? v : fixedSize(v), each(v).filter(stays));
      return LIST.size(v) !== before;
    },
    clear: (v) => void into(fixedSize(v), []),
    iterator: (v) => object("Iterator", { items: [...each(v)], at: 0, of: v, gone: 0 }),
    stream: (v) => streamOf(each(v)),
    toArray: (v, like) => array(like === undefined ? "Object" : isArray(like) ? like.item : unsupported("toArray with this argument"), each(v)),
    get: getItem,
    set(v, index, item) {
      const before = getItem(v, index);
      changeable(v)[index] = item;
      return before;
    },
    indexOf: (v, item) => each(v).findIndex((one) => same(one, item)),
    lastIndexOf: (v, item) => each(v).findLastIndex((one) => same(one, item)),
    subList(v, from, to) {
      bounds(from >= 0 && to <= each(v).length, "IndexOutOfBoundsException");
      bounds(from <= to, "IllegalArgumentException");
      return view(each(v).slice(from, to), "list");
    },
    push(v, item) {
      fixedSize(v).unshift(item);
      return true;
    },
    pop: (v) => (v.length === 0 ? fail("NoSuchElementException") : fixedSize(v).shift()),
    swap(v, a, b) {
      [v[a], v[b]] = [getItem(v, b), getItem(v, a)];
      return v;
    },
    shuffle: (v, r) => shuffle(v, r && ((bound) => nextInt(r, bound))),
    shuffled(v, r) {
      const copy = [...each(v)];
      shuffle(copy, r && ((bound) => nextInt(r, bound)));
      return copy;
    },
    getAt: (v, index) => at(v, index),
    putAt: (v, index, item) => void setAt(v, index, () => item),
    each(v, run) {
      for (const item of each(v)) callClosure(run, [item]);
      return v;
    },
    forEach: (v, run) => void LIST.each(v, run),
    reverseEach(v, run) {
      for (const item of [...each(v)].reverse()) callClosure(run, [item]);
      return v;
    },
    eachWithIndex(v, run) {
      let index = 0;
      for (const item of each(v)) callClosure(run, [item, index++]);
      return v;
    },
    collect(v, a, b) {
      if (b === undefined) return each(v).map((item) => (a ? callClosure(a, [item]) : item));
      for (const item of each(v)) addItem(a, callClosure(b, [item]));
      return a;
    },
    collectMany: (v, run) => each(v).flatMap((item) => each(callClosure(run, [item]))),
    collectEntries: (v, run) => map(each(v).flatMap((item) => pairOf(run ? callClosure(run, [item]) : item))),
    find: (v, run) => each(v).find((item) => (run ? test(run, item) : truth(item))) ?? null,
    findAll: (v, run) => sameKind(v, each(v).filter((item) => (run ? test(run, item) : truth(item)))),
    findResult(v, run) {
      for (const item of each(v)) {
        const found = callClosure(run, [item]);
        if (found !== null) return found;
      }
      return null;
    },
    findResults: (v, run) => each(v).map((item) => callClosure(run, [item])).filter((found) => found !== null),
    findIndexOf: (v, run) => each(v).findIndex((item) => test(run, item)),
    findLastIndexOf: (v, run) => each(v).findLastIndex((item) => test(run, item)),
    any: (v, run) => each(v).some((item) => (run ? test(run, item) : truth(item))),
    every: (v, run) => each(v).every((item) => (run ? test(run, item) : truth(item))),
    inject(v, a, b) {
      const items = each(v);
      if (b !== undefined) return items.reduce((sum, item) => callClosure(b, [sum, item]), a);
      if (items.length === 0) return fail("NoSuchElementException");
      return items.slice(1).reduce((sum, item) => callClosure(a, [sum, item]), items[0]);
    },
    join: (v, by = "") => each(v).map((item) => groovyText(item)).join(by),
    sum: (v, a) => (typeof a === "function" ? total(each(v).map((item) => callClosure(a, [item]))) : total(each(v), a)),
    min: (v, run) => best(each(v), run, -1),
    max: (v, run) => best(each(v), run, 1),
    count: (v, what) => each(v).filter((item) => (typeof what === "function" ? test(what, item) : equal(item, what))).length,
    groupBy: (v, run) => grouping(each(v), (item) => callClosure(run, [item])),
    countBy: (v, run) => map(grouping(each(v), (item) => callClosure(run, [item])).pairs().map(([key, items]) => [key, items.length])),
    sort(v, a, b) {
      const run = typeof a === "function" ? a : b;
      const sorted = ordered(each(v), run);
      return a === false || !isList(v) || v.isView ? (isArray(v) ? unsupported("sort of an array") : sorted) : into(v, sorted);
    },
    toSorted: (v, run) => ordered(each(v), run),
    unique(v, a, b) {
      const run = typeof a === "function" ? a : b;
      const kept = run === undefined ? unique(each(v)) : uniqueBy(each(v), run);
      if (a === false) return v instanceof JavaSet ? set(kept, v.kind) : kept;
      return v instanceof JavaSet && run === undefined ? v : into(v instanceof JavaSet ? v : changeable(v), kept);
    },
    toUnique: (v, run) => (run === undefined ? unique(each(v)) : uniqueBy(each(v), run)),
    grep: (v, what) => each(v).filter((item) => (what === undefined ? truth(item) : $.isCase(what, item))),
    removeIf(v, run) {
      const before = LIST.size(v);
      into(v instanceof JavaSet ? v : fixedSize(v), each(v).filter((item) => !test(run, item)));
      return LIST.size(v) !== before;
    },
    findIndexValues: (v, run) => each(v).flatMap((item, i) => (test(run, item) ? [BigInt(i)] : [])),
    combinations(v) {
      const parts = each(v).map((part) => (isCollection(part) || isArray(part) ? each(part) : [part]));
      if (parts.reduce((size, part) => size * part.length, 1) > mostItems) unsupported("a list of this size");
      // The first part changes first.
      return parts.reduce((made, part) => part.flatMap((item) => made.map((before) => [...before, item])), [[]]);
    },
    toList: (v) => [...each(v)],
    asList: (v) => (isList(v) ? v : [...each(v)]),
    toSet: (v) => set(each(v), "hash"),
    first: (v) => firstOf(each(v)),
    head: (v) => firstOf(each(v)),
    last: (v) => firstOf([...each(v)].reverse()),
    tail: (v) => (each(v).length === 0 ? fail("NoSuchElementException") : each(v).slice(1)),
    init: (v) => (each(v).length === 0 ? fail("NoSuchElementException") : each(v).slice(0, -1)),
    take(v, n) {
      if (n !== undefined) return each(v).slice(0, Math.max(0, n));
      return v.length === 0 ? unsupported("take of an empty queue") : v.shift();
    },
    drop: (v, n) => each(v).slice(Math.max(0, n)),
    takeRight: (v, n) => (n <= 0 ? [] : each(v).slice(-n)),
    dropRight: (v, n) => (n <= 0 ? [...each(v)] : each(v).slice(0, -n)),
    takeWhile(v, run) {
      const end = each(v).findIndex((item) => !test(run, item));
      return end < 0 ? [...each(v)] : each(v).slice(0, end);
    },
    dropWhile(v, run) {
      const end = each(v).findIndex((item) => !test(run, item));
      return end < 0 ? [] : each(v).slice(end);
    },
    reverse: (v, inPlace) => (inPlace ? into(v, [...each(v)].reverse()) : [...each(v)].reverse()),
    flatten: (v) => flat(each(v)),
    intersect: (v, other) => each(v).filter((item) => each(other).some((one) => equal(one, item))),
    disjoint: (v, other) => !each(v).some((item) => each(other).some((one) => equal(one, item))),
    plus: (v, other) => add(v, other),
    minus: (v, other) => objects("minus", v, other),
    multiply: (v, n) => multiply(v, n),
    leftShift(v, item) {
      addItem(v, item);
      return v;
    },
    collate(v, size, a, b) {
      const [step, keeps] = typeof a === "boolean" ? [size, a] : [a ?? size, b ?? true];
      return chunks([...each(v)], size, step, keeps);
    },
    indexed: (v, from = 0) => map(each(v).map((item, i) => [from + i, item])),
    withIndex: (v, from = 0) => each(v).map((item, i) => [item, from + i]),
    asImmutable: (v) => (Array.isArray(v) ? sealed([...v]) : unsupported("asImmutable of this value")),
    split: (v, run) => [each(v).filter((item) => test(run, item)), each(v).filter((item) => !test(run, item))],
    getIndices: (v) => range(0, each(v).length, false),
    transpose(v) {
      const rows = each(v).map((row) => (isCollection(row) || isArray(row) ? each(row) : unsupported("transpose of this list")));
      const width = Math.min(...rows.map((row) => row.length));
      return Array.from({ length: rows.length === 0 ? 0 : width }, (_, i) => rows.map((row) => row[i] ?? null));
    },
    equals: (v, other) => same(v, other),
    hashCode: (v) => hash(isCollection(v) ? [...each(v)] : v),
    addFirst: (v, item) => void (isQueue(v) && item === null ? noPointer() : v.unshift(item)),
    addLast: (v, item) => void addItem(v, item),
    offerFirst: (v, item) => (LIST.addFirst(v, item), true),
    offerLast: (v, item) => addItem(v, item),
    element: (v) => firstOf(v),
    pollFirst: (v) => v.shift() ?? null,
    pollLast: (v) => v.pop() ?? null,
    peekFirst: (v) => v[0] ?? null,
    peekLast: (v) => v.at(-1) ?? null,
    getFirst: (v) => firstOf(v),
    getLast: (v) => firstOf([...v].reverse()),
    removeFirst: (v) => (v.length === 0 ? fail("NoSuchElementException") : v.shift()),
    removeLast: (v) => (v.length === 0 ? fail("NoSuchElementException") : fixedSize(v).pop()),
    // Nobody else can fill a queue while its script runs.
    poll: (v) => v.shift() ?? null,
    peek: (v) => v[0] ?? null,
    offer: (v, item) => addItem(v, item),
    put: (v, item) => void addItem(v, item),
    drainTo(v, to, most = v.length) {
      const moved = v.splice(0, Math.max(0, most));
      moved.forEach((item) => addItem(to, item));
      return moved.length;
    },
    addElement: (v, item) => void addItem(v, item),
    elementAt: getItem,
    firstElement: (v) => firstOf(v),
    lastElement: (v) => firstOf([...v].reverse()),
    encodeBase64: (v) => object("Encoded", { s: toBase64(v, BASE64, true) }),
    encodeHex: (v) => object("Encoded", { s: hex(v) }),
    clone: (v) => (isArray(v) ? array(v.item, v) : unsupported("clone")),
  };
  const spelled = (chars, s) => chars.map((c) => c.s).join("") + (s ?? "");
  const STRING = {
    toString: (s) => plain(s),
    equals: (s, other) => (s instanceof GString ? false : s === other),
    hashCode: hash,
    length: (s) => s.length,
    size: (s) => s.length,
    isEmpty: (s) => s.length === 0,
    isBlank: (s) => s.trim() === "",
    isAllWhitespace: (s) => s.trim() === "",
    charAt: (s, i) => (i < 0 || i >= s.length ? fail("StringIndexOutOfBoundsException", `String index out of range: ${i}`) : char(s[i])),
    substring,
    subSequence: substring,
    indexOf: (s, what, from = 0) => s.indexOf(plain(what.s ?? what), from),
    lastIndexOf: (s, what, from = Infinity) => (from < 0 ? -1 : s.lastIndexOf(plain(what.s ?? what), from)),
    contains: (s, what) => s.includes(what),
    startsWith: (s, what, from = 0) => from >= 0 && s.startsWith(what, from),
    endsWith: (s, what) => s.endsWith(what),
    equalsIgnoreCase: (s, other) => other !== null && s.length === other.length && lower(upper(s)) === lower(upper(other)),
    contentEquals: (s, other) => s === other,
    compareTo: compareTexts,
    compareToIgnoreCase: (s, other) => compareTexts(lower(upper(s)), lower(upper(other))),
    concat: (s, other) => joined(s, other),
    trim,
    strip: (s) => s.trim(),
    stripLeading: (s) => s.trimStart(),
    stripTrailing: (s) => s.trimEnd(),
    codePointAt: (s, i) => (i < 0 || i >= s.length ? fail("StringIndexOutOfBoundsException") : s.codePointAt(i)),
    toLowerCase: lower,
    toUpperCase: upper,
    replace: (s, from, to) => s.split(from.s ?? from).join(to.s ?? to),
    replaceAll(s, from, to) {
      const m = matcher(asPattern(from), s);
      if (typeof to !== "function") return replaceMatches(m, false, to);
      return replaceMatches(m, false, (found) => groovyText(callClosure(to, replaceArguments(m, found, to))));
    },
    replaceFirst: (s, from, to) => replaceMatches(matcher(asPattern(from), s), true, to),
    matches: (s, of) => matchesWhole(asPattern(of), s),
    split(s, by, limit = 0) {
      if (by === undefined) return array("String", STRING.tokenize(s));
      return array("String", s === "" ? [""] : splitBy(pattern(by), s, limit));
    },
    repeat,
    multiply: (s, n) => repeat(s, toInt(n)),
    toCharArray: (s) => array("char", s.split("").map(char)),
    getBytes: (s, charset) => encode(s, charset === undefined ? "UTF-8" : typeof charset === "string" ? charsetOf(charset) : charset.name),
    intern: (s) => s,
    toInteger: (s) => groovyNumber(s, (t) => parseWhole(t, 32)),
    toLong: (s) => groovyNumber(s, (t) => parseWhole(t, 64)),
    toDouble: (s) => groovyNumber(s, parseDouble),
    toFloat: (s) => float(groovyNumber(s, parseDouble).v),
    toBigDecimal: (s) => groovyNumber(s, decimal),
    toBigInteger: (s) => groovyNumber(s, (t) => (wholeText.test(t) ? bigInteger(t.replace(/^\+/, "")) : notNumber(t))),
    toBoolean: (s) => ["y", "true", "1"].includes(trim(s).toLowerCase()),
    isInteger: isParsed((s) => parseWhole(s, 32)),
    isLong: isParsed((s) => parseWhole(s, 64)),
    isNumber: isParsed(decimal),
    isBigDecimal: isParsed(decimal),
    isDouble: isParsed(parseDouble),
    isFloat: isParsed(parseDouble),
    isBigInteger: isParsed((s) => (wholeText.test(s) ? s : notNumber(s))),
    capitalize: (s) => upper(s.slice(0, 1)) + s.slice(1),
    uncapitalize: (s) => lower(s.slice(0, 1)) + s.slice(1),
    reverse: (s) => (/[\ud800-\udfff]/.test(s) ? unsupported("reverse of this text") : s.split("").reverse().join("")),
    padLeft: (s, size, pad = " ") => padding(s, size, pad) + s,
    padRight: (s, size, pad = " ") => s + padding(s, size, pad),
    center(s, size) {
      const more = toInt(size) - s.length;
      return more <= 0 ? s : " ".repeat(Math.floor(more / 2)) + s + " ".repeat(Math.ceil(more / 2));
    },
    tokenize: (s, by = " \t\n\r\f") => {
      const out = [];
      let word = "";
      for (const c of s.split("")) {
        if (!by.includes(c)) word += c;
        else if (word !== "") {
          out.push(word);
          word = "";
        }
      }
      if (word !== "") out.push(word);
      return out;
    },
    readLines: lines,
    toList: (s) => s.split(""),
    stripMargin(s) {
      const written = lines(s).map((line) => line.replace(/^[\x00-\x20]*\|/, ""));
      return written.join("\n") + (s.endsWith("\n") ? "\n" : "");
    },
    eachLine(s, run) {
      let last = null;
      lines(s).forEach((line, i) => (last = callClosure(run, run.count === 2 ? [line, i] : [line])));
      return last;
    },
    each(s, run) {
      for (const c of each(s)) callClosure(run, [c]);
      return s;
    },
    collect: (s, run) => each(s).map((c) => callClosure(run, [c])),
    any: (s, run) => s.split("").some((c) => test(run, c)),
    every: (s, run) => s.split("").every((c) => test(run, c)),
    inject: (s, begin, run) => s.split("").reduce((sum, c) => callClosure(run, [sum, c]), begin),
    eachWithIndex(s, run) {
      s.split("").forEach((c, i) => callClosure(run, [c, i]));
      return s;
    },
    lines: (s) => streamOf(lines(s)),
    chars: (s) => streamOf(s.split("").map((c) => c.charCodeAt(0)), "IntStream"),
    find(s, of, run) {
      const m = matcher(asPattern(of), s);
      const found = matcherFound(m)[0];
      if (found === undefined) return null;
      return run === undefined ? groupOf(m, found, 0) : callClosure(run, replaceArguments(m, found, run));
    },
    findAll(s, of, run) {
      const m = matcher(asPattern(of), s);
      return matcherFound(m).map((found) => (run === undefined ? groupOf(m, found, 0) : callClosure(run, replaceArguments(m, found, run))));
    },
    plus: (s, other) => add(s, other),
    minus: (s, other) => objects("minus", s, other),
    take: (s, n) => withTail(s, n),
    drop: (s, n) => s.slice(Math.max(0, n)),
    takeRight: (s, n) => (n < 0 ? unsupported("takeRight of this size") : s.slice(Math.max(0, s.length - n))),
    dropRight: (s, n) => (n < 0 ? unsupported("dropRight of this size") : s.slice(0, Math.max(0, s.length - n))),
    eachMatch(s, of, run) {
      methods.Matcher.each(matcher(asPattern(of), s), run);
      return s;
    },
    count: (s, what) => (what === "" ? unsupported("count of an empty text") : s.split(what).length - 1),
    md5: (s) => hex(digest("MD5", encode(s))),
    // As Java 15 and later: without the least indent, and without blanks behind. A blank last line counts, too.
    stripIndent(s) {
      if (/[^\n -~]/.test(s)) return unsupported("stripIndent of this text");
      const ends = s.endsWith("\n");
      const all = (ends ? s.slice(0, -1) : s).split("\n");
      const isBlankLine = (line) => line.trim() === "";
      const lead = (line) => line.length - line.trimStart().length;
      const counted = all.filter((line, i) => !isBlankLine(line) || i === all.length - 1).map(lead);
      const indent = ends ? 0 : Math.min(...counted);
      return all.map((line) => (isBlankLine(line) ? "" : line.slice(indent).trimEnd())).join("\n") + (ends ? "\n" : "");
    },
    formatted: (s, ...args) => format(s, ...args),
    normalize: (s) => s.replace(/\r\n?/g, "\n"),
    sha256: (s) => hex(digest("SHA-256", encode(s))),
    digest: (s, algorithm) => hex(digest(algorithm, encode(s))),
    decodeBase64: (s) => fromBase64(s.replace(/\s/g, ""), BASE64),
    getAt: (s, index) => at(s, index),
  };
  // A closure gets the match and its groups; one without or with one parameter gets the match alone.
  const replaceArguments = (m, found, run) => {
    const groups = groupCount(m);
    if (groups === 0 || (run.count <= 1 && run.count !== -1)) return run.count <= 1 && groups > 0 ? unsupported("this closure for a pattern with groups") : [groupOf(m, found, 0)];
    if (run.count === -1) return unsupported("`it` for a pattern with groups");
    return Array.from({ length: groups + 1 }, (_, i) => groupOf(m, found, i));
  };
  const NUMBER = {
    toString: (v) => text(v),
    equals: (v, other) => same(v, other),
    hashCode: hash,
    intValue: toInt,
    longValue: toLong,
    doubleValue: (v) => double(toDouble(v)),
    floatValue: (v) => float(toDouble(v)),
    toFloat: (v) => float(toDouble(v)),
    compareTo: (v, other) => (isGroovy || classOf(v) === classOf(other) ? Math.sign(compareNumbers(v, other)) : noMethod(v)),
    toInteger: toInt,
    toLong,
    toDouble: (v) => double(toDouble(v)),
    toBigDecimal: toDecimal,
    toBigInteger: (v) => new BigInteger(truncated(v)),
    abs: (v) => (compareNumbers(v, 0) < 0 ? negative(v) : v),
    plus: add,
    minus: subtract,
    multiply,
    div: divide,
    mod: remainder,
    power,
    intdiv: wholeOnly(quotient),
    times: (v, run) => times(smallWhole(v), run),
    upto: (v, to, run) => counting(smallWhole(v), smallWhole(to), run, 1),
    downto: (v, to, run) => counting(smallWhole(v), smallWhole(to), run, -1),
    step: (v, to, by, run) => {
      const [from, end, size] = [smallWhole(v), smallWhole(to), smallWhole(by)];
      if (size === 0) fail("GroovyRuntimeException");
      for (let i = from; size > 0 ? i < end : i > end; i += size) callClosure(run, [i]);
    },
    next: (v) => next(v),
    previous: (v) => next(v, -1),
  };
  const negative = (v) => {
    const of = operand(v);
    return isNumber(of) ? multiply(of, -1) : noMethod(v, "negative");
  };
  const exchanged = (v, value) => {
    const before = v.v;
    v.v = value;
    return before;
  };
  const exchanges = (fitted) => ({
    getAndSet: exchanged,
    compareAndSet(v, from, to) {
      const fits = v.v === from;
      if (fits) v.v = to;
      return fits;
    },
    updateAndGet: (v, run) => (v.v = fitted(callClosure(run, [v.v]))),
    getAndUpdate: (v, run) => exchanged(v, fitted(callClosure(run, [v.v]))),
  });
  const calendarGet = (v, field) => time("calendarGet", { ms: v.ms, field, zone: v.zone });
  const TIME_UNITS = { NANOSECONDS: 1n, MICROSECONDS: 1000n, MILLISECONDS: 1_000_000n, SECONDS: 1_000_000_000n, MINUTES: 60_000_000_000n, HOURS: 3_600_000_000_000n, DAYS: 86_400_000_000_000n };
  // Classes whose values are made by one class of Java.
  const ITSELF = ["String", "Integer", "Long", "Double", "Float", "Boolean", "Character", "BigDecimal", "BigInteger", "StringBuilder", "StringBuffer", "Date", "UUID", "Random"];
  const javaClass = (v) => {
    const of = classOf(v);
    const isKnown = ITSELF.includes(of) || v instanceof Thrown;
    if (ownClasses[of] !== undefined) return object("Class", { name: of });
    return isKnown && classes[of] !== undefined ? object("Class", { name: classes[of].qualified }) : unsupported(`the class of this ${of}`);
  };
  const methods = {
    Object: {
      toString: (v) => text(v),
      equals: (v, other) => same(v, other),
      hashCode: hash,
      getClass: (v) => javaClass(v),
      is: (v, other) => v === other,
    },
    Class: { getName: (v) => v.name, getSimpleName: (v) => v.name.slice(v.name.lastIndexOf(".") + 1) },
    String: STRING,
    GString: Object.fromEntries(Object.entries(STRING).map(([name, act]) => [name, (s, ...args) => act(name === "equals" || name === "hashCode" ? s : plain(s), ...args)])),
    StringBuilder: {
      toString: (b) => b.s,
      append: edit((s, v) => s + (isArray(v) ? spelled(v) : javaText(v))),
      insert: edit((s, i, v) => (i < 0 || i > s.length ? fail("StringIndexOutOfBoundsException") : s.slice(0, i) + javaText(v) + s.slice(i))),
      length: (b) => b.s.length,
      size: (b) => b.s.length,
      charAt: (b, i) => STRING.charAt(b.s, i),
      deleteCharAt: edit((s, i) => (i < 0 || i >= s.length ? fail("StringIndexOutOfBoundsException") : s.slice(0, i) + s.slice(i + 1))),
      delete: edit((s, a, b) => (a < 0 || a > s.length || a > b ? fail("StringIndexOutOfBoundsException") : s.slice(0, a) + s.slice(b))),
      reverse: edit((s) => STRING.reverse(s)),
      replace: edit((s, a, b, t) => (a < 0 || a > s.length || a > b ? fail("StringIndexOutOfBoundsException") : s.slice(0, a) + t + s.slice(b))),
      setLength: (b, n) => void (b.s = n < 0 ? fail("StringIndexOutOfBoundsException") : b.s.slice(0, n).padEnd(Math.min(n, mostText), "\0")),
      setCharAt: (b, i, c) => void (b.s = i < 0 || i >= b.s.length ? fail("StringIndexOutOfBoundsException") : b.s.slice(0, i) + c.s + b.s.slice(i + 1)),
      indexOf: (b, t) => b.s.indexOf(t),
      lastIndexOf: (b, t) => b.s.lastIndexOf(t),
      substring: (b, from, to) => substring(b.s, from, to),
      leftShift: edit((s, v) => s + groovyText(v)),
    },
    Number: NUMBER,
    Double: {
      isNaN: (v) => Number.isNaN(v.v),
      isInfinite: (v) => Math.abs(v.v) === Infinity,
      round: (v, digits) => (digits === undefined ? statics.Math.round(v) : double(Math.floor(v.v * 10 ** digits + 0.5) / 10 ** digits)),
      trunc: (v) => double(Math.trunc(v.v)),
    },
    Float: {
      isNaN: (v) => Number.isNaN(v.v),
      isInfinite: (v) => Math.abs(v.v) === Infinity,
      round: (v, digits) => (digits === undefined ? statics.Math.round(v) : float(Math.floor(v.v * 10 ** digits + 0.5) / 10 ** digits)),
    },
    BigDecimal: {
      add,
      subtract,
      multiply,
      negate: (v) => new BigDecimal(-v.u, v.scale),
      abs: (v) => new BigDecimal(v.u < 0n ? -v.u : v.u, v.scale),
      scale: (v) => v.scale,
      precision: (v) => precision(v),
      signum: (v) => (v.u < 0n ? -1 : v.u > 0n ? 1 : 0),
      setScale(v, scale, mode) {
        if (mode !== undefined) return setScale(v, scale, mode.name ?? ROUND[mode] ?? unsupported("this rounding"));
        const made = setScale(v, scale, "DOWN");
        return compareNumbers(made, v) === 0 ? made : fail("ArithmeticException", "Rounding necessary");
      },
      divide: (a, b, c, d) => (c === undefined ? divideExactly(a, b) : d === undefined ? divideTo(a, b, a.scale, c.name) : divideTo(a, b, c, d.name ?? ROUND[d] ?? unsupported("this rounding"))),
      pow: (v, n) => (n < 0 || n > 999_999_999 ? fail("ArithmeticException", "Invalid operation") : n > 10_000 ? unsupported("this exponent") : new BigDecimal(v.u ** BigInt(n), v.scale * n)),
      stripTrailingZeros: (v) => (v.u === 0n ? new BigDecimal(0n, 0) : stripped(v, -10_000)),
      toPlainString: plainText,
      max: (a, b) => (compareNumbers(a, b) >= 0 ? a : b),
      min: (a, b) => (compareNumbers(a, b) <= 0 ? a : b),
      round: (v, digits = 0) => setScale(v, digits, "HALF_UP"),
    },
    BigInteger: {
      add,
      subtract,
      multiply,
      divide: (a, b) => new BigInteger(quotient(a.v, b.v)),
      mod: (a, b) => (b.v <= 0n ? fail("ArithmeticException", "BigInteger: modulus not positive") : new BigInteger(((a.v % b.v) + b.v) % b.v)),
      pow: (a, n) => (n < 0 ? fail("ArithmeticException", "Negative exponent") : n > 10_000 ? unsupported("this exponent") : new BigInteger(a.v ** BigInt(n))),
      negate: (v) => new BigInteger(-v.v),
      abs: (v) => new BigInteger(v.v < 0n ? -v.v : v.v),
      signum: (v) => (v.v < 0n ? -1 : v.v > 0n ? 1 : 0),
      toString: (v, radix) => (radix === undefined ? String(v.v) : wholeRadix(v.v, radix)),
    },
    Boolean: { booleanValue: (v) => v },
    Character: { charValue: (v) => v, compareTo: (a, b) => charCode(a) - charCode(b) },
    Collection: LIST,
    Stack: {
      push(v, item) {
        addItem(v, item);
        return item;
      },
      pop: (v) => (v.length === 0 ? fail("RuntimeException") : v.pop()),
      peek: (v) => (v.length === 0 ? fail("RuntimeException") : v.at(-1)),
      empty: (v) => v.length === 0,
    },
    Deque: {
      push: (v, item) => LIST.addFirst(v, item),
      pop: (v) => LIST.remove(v),
    },
    Range: { getFrom: (v) => v.from, getTo: (v) => v.to, containsWithinBounds: (v, x) => cmp(v.from, x) <= 0 && cmp(x, v.to) <= 0, step: (v, by, run) => {
      if (by <= 0) unsupported("a step of this size");
      const items = v.items.filter((_, i) => i % by === 0);
      if (run === undefined) return items;
      for (const item of items) callClosure(run, [item]);
      return null;
    } },
    Map: {
      toString: (v) => (isGroovy ? groovyText(v) : javaText(v)),
      get: (v, key, otherwise) => (otherwise === undefined ? mapGet(v, key) : v.has(key) ? v.get(key) : (v.set(key, otherwise), otherwise)),
      getOrDefault: (v, key, otherwise) => (v.has(key) ? v.get(key) : otherwise),
      put(v, key, value) {
        const before = v.get(key) ?? null;
        v.set(key, value);
        return before;
      },
      putIfAbsent(v, key, value) {
        const before = v.get(key) ?? null;
        if (before === null) v.set(key, value);
        return before;
      },
      putAll: (v, other) => void (v.kind === "concurrent" && other.size > 5 ? unsupported("putAll of a ConcurrentHashMap with a map of this size") : other).pairs().forEach(([key, value]) => v.set(key, value)),
      containsKey: (v, key) => v.has(key),
      containsValue: (v, value) => v.values().some((one) => same(one, value)),
      remove(v, key, ...value) {
        if (value.length === 0) return v.delete(key);
        const goes = v.has(key) && same(v.get(key), value[0]);
        if (goes) v.delete(key);
        return goes;
      },
      replace: (v, key, value) => (v.has(key) ? methods.Map.put(v, key, value) : null),
      // As in Java, a function that gives null leaves no entry behind.
      compute(v, key, run) {
        const made = callClosure(run, [key, v.get(key) ?? null]);
        made === null ? v.delete(key) : v.set(key, made);
        return made;
      },
      computeIfAbsent(v, key, run) {
        const before = v.get(key) ?? null;
        if (before !== null) return before;
        const made = callClosure(run, [key]);
        if (made !== null) v.set(key, made);
        return made;
      },
      computeIfPresent: (v, key, run) => ((v.get(key) ?? null) === null ? null : methods.Map.compute(v, key, run)),
      merge(v, key, value, run) {
        if (value === null) return noPointer();
        const before = v.get(key) ?? null;
        const made = before === null ? value : callClosure(run, [before, value]);
        made === null ? v.delete(key) : v.set(key, made);
        return made;
      },
      replaceAll: (v, run) => v.pairs().forEach(([key, value]) => v.set(key, callClosure(run, [key, value]))),
      toSorted: (v, run) => methods.Map.sort(v, run ?? closure(1, 1, (entry) => entry.value)),
      take: (v, n) => likeMap(v, v.pairs().slice(0, Math.max(0, n))),
      drop: (v, n) => likeMap(v, v.pairs().slice(Math.max(0, n))),
      reverseEach(v, run) {
        for (const entry of v.entries().reverse()) withEntry(run, entry);
        return v;
      },
      countBy: (v, run) => map(grouping(v.entries(), (entry) => withEntry(run, entry)).pairs().map(([key, items]) => [key, items.length])),
      minus: (v, other) => likeMap(v, v.pairs().filter(([key, value]) => !(other.has(key) && equal(other.get(key), value)))),
      intersect: (v, other) => likeMap(v, v.pairs().filter(([key, value]) => other.has(key) && equal(other.get(key), value))),
      removeAll: (v, run) => methods.Map.keepOnly(v, (entry) => !testEntry(run, entry)),
      retainAll: (v, run) => methods.Map.keepOnly(v, (entry) => testEntry(run, entry)),
      keepOnly(v, stays) {
        const gone = v.entries().filter((entry) => !stays(entry));
        gone.forEach((entry) => v.delete(entry.key));
        return gone.length > 0;
      },
      size: (v) => v.size,
      isEmpty: (v) => v.size === 0,
      clear: (v) => void v.clear(),
      keySet: (v) => view(set(v.keys())),
      values: (v) => view(v.values()),
      entrySet: (v) => view(v.entries()),
      each(v, run) {
        for (const entry of v.entries()) withEntry(run, entry);
        return v;
      },
      eachWithIndex(v, run) {
        v.entries().forEach((entry, i) => callClosure(run, run.count === 3 ? [entry.key, entry.value, i] : [entry, i]));
        return v;
      },
      forEach: (v, run) => v.entries().forEach((entry) => callClosure(run, [entry.key, entry.value])),
      collect: (v, run) => v.entries().map((entry) => withEntry(run, entry)),
      collectMany: (v, run) => v.entries().flatMap((entry) => each(withEntry(run, entry))),
      collectEntries: (v, run) => map(v.entries().flatMap((entry) => pairOf(withEntry(run, entry)))),
      find: (v, run) => v.entries().find((entry) => testEntry(run, entry)) ?? null,
      findAll: (v, run) => MAP_BY[v.kind](v.entries().filter((entry) => testEntry(run, entry)).map((entry) => [entry.key, entry.value])),
      findResult(v, run) {
        for (const entry of v.entries()) {
          const found = withEntry(run, entry);
          if (found !== null) return found;
        }
        return null;
      },
      any: (v, run) => v.entries().some((entry) => testEntry(run, entry)),
      every: (v, run) => v.entries().every((entry) => testEntry(run, entry)),
      inject: (v, begin, run) => v.entries().reduce((sum, entry) => callClosure(run, run.count === 3 ? [sum, entry.key, entry.value] : [sum, entry]), begin),
      sort(v, run) {
        if (run === undefined) return map(v.pairs(), "tree");
        return map(ordered(v.entries(), run).map((entry) => [entry.key, entry.value]));
      },
      count: (v, run) => v.entries().filter((entry) => testEntry(run, entry)).length,
      sum: (v, run) => total(v.entries().map((entry) => withEntry(run, entry))),
      min: (v, run) => best(v.entries(), run, -1),
      max: (v, run) => best(v.entries(), run, 1),
      groupBy(v, run) {
        const groups = grouping(v.entries(), (entry) => withEntry(run, entry));
        return map(groups.pairs().map(([key, entries]) => [key, map(entries.map((entry) => [entry.key, entry.value]))]));
      },
      plus: (v, other) => add(v, other),
      subMap: (v, keys) => map(each(keys).filter((key) => v.has(key)).map((key) => [key, v.get(key)])),
      getAt: mapGet,
      putAt: (v, key, value) => void v.set(key, value),
      toMapString: (v) => groovyText(v),
      withDefault(v, run) {
        v.otherwise = run;
        return v;
      },
      firstKey: (v) => firstOf(v.keys()),
      lastKey: (v) => firstOf(v.keys().reverse()),
      equals: (v, other) => same(v, other),
      hashCode: () => unsupported("the hash code of a map"),
    },
    Entry: {
      getKey: (v) => v.key,
      getValue: (v) => v.value,
      setValue(v, value) {
        const before = v.value;
        v.map === null ? unsupported("setValue of this entry") : v.map.set(v.key, value);
        v.held = value;
        return before;
      },
    },
    Random: {
      nextInt(r, a, b) {
        if (b !== undefined) return r.seed === undefined ? between(a, b) : unsupported("nextInt(2) of a seeded Random");
        if (a !== undefined) return nextInt(r, a);
        return r.seed === undefined ? randomBits(32) : bits(r, 32);
      },
      nextLong: (r) => (r.seed === undefined ? long((BigInt(randomBits(32)) << 32n) + BigInt(randomBits(32))) : long((BigInt(bits(r, 32)) << 32n) + BigInt(bits(r, 32)))),
      nextDouble: (r) => double(nextDouble(r)),
      nextFloat: (r) => float((r.seed === undefined ? Math.floor(random() * 2 ** 24) : bits(r, 24)) / 2 ** 24),
      nextBytes(r, bytes) {
        let word = 0;
        for (let i = 0; i < bytes.length; i += 1, word >>= 8) {
          if (i % 4 === 0) word = r.seed === undefined ? randomBits(32) : bits(r, 32);
          bytes[i] = (word << 24) >> 24;
        }
        return null;
      },
      nextBoolean: (r) => (r.seed === undefined ? random() < 0.5 : bits(r, 1) !== 0),
      nextGaussian: (r) => double(gaussian(r)),
    },
    ThreadLocalRandom: {
      nextLong: (r, a, b) => (a === undefined ? methods.Random.nextLong(r) : BigInt(b === undefined ? between(0, Number(a)) : between(Number(a), Number(b)))),
      nextDouble: (r, a, b) => double(a === undefined ? random() : b === undefined ? random() * a.v : a.v + random() * (b.v - a.v)),
    },
    StringTokenizer: {
      hasMoreTokens: (v) => v.at < v.items.length,
      hasMoreElements: (v) => v.at < v.items.length,
      nextToken: (v) => (v.at < v.items.length ? v.items[(v.at += 1) - 1] : fail("NoSuchElementException", null)),
      nextElement: (v) => methods.StringTokenizer.nextToken(v),
      countTokens: (v) => v.items.length - v.at,
    },
    Pattern: {
      matcher: (v, s) => matcher(v, s),
      pattern: (v) => v.source,
      split: (v, s) => array("String", s === "" ? [""] : splitBy(v, s, 0)),
    },
    Matcher: {
      find(m, from) {
        if (from !== undefined) return from === 0 ? ((m.at = -1), matcherFinds(m)) : unsupported("find(int)");
        return matcherFinds(m);
      },
      matches(m) {
        m.now = search(m.of, m.s, "m").matches[0] ?? null;
        m.at = m.now === null ? m.at : matcherFound(m).length;
        return m.now !== null;
      },
      lookingAt(m) {
        // What begins at the beginning is found first.
        const first = matcherFound(m)[0] ?? null;
        const begins = first !== null && first[0] === 0;
        m.at = begins ? 0 : m.at;
        m.now = begins ? first : null;
        return begins;
      },
      group(m, which = 0) {
        const found = nowOf(m);
        const index = typeof which === "string" ? ((m.all ??= search(m.of, m.s, "f")).names.indexOf(which) + 1 || fail("IllegalArgumentException", `No group with name <${which}>`)) : which;
        if (index < 0 || index > groupCount(m)) fail("IndexOutOfBoundsException", `No group ${index}`);
        return groupOf(m, found, index);
      },
      groupCount,
      start: (m, which = 0) => nowOf(m)[2 * which] ?? fail("IndexOutOfBoundsException"),
      end: (m, which = 0) => nowOf(m)[2 * which + 1] ?? fail("IndexOutOfBoundsException"),
      reset(m) {
        m.at = -1;
        m.now = null;
        return m;
      },
      replaceAll: (m, t) => replaceMatches(m, false, t),
      replaceFirst: (m, t) => replaceMatches(m, true, t),
      getCount: (m) => matcherFound(m).length,
      size: (m) => BigInt(matcherFound(m).length),
      hasGroup: (m) => groupCount(m) > 0,
      getAt: matcherAt,
      each(m, run) {
        for (const item of matcherAll(m)) callClosure(run, Array.isArray(item) && run.count > 1 ? item : [item]);
        return m;
      },
      collect: (m, run) => matcherAll(m).map((item) => callClosure(run, [item])),
      findAll: (m) => matcherAll(m),
    },
    Encoder: {
      encodeToString: (v, bytes) => toBase64(bytes, v.alphabet, v.pads),
      encode: (v, bytes) => encode(toBase64(bytes, v.alphabet, v.pads)),
      withoutPadding: (v) => object("Encoder", { alphabet: v.alphabet, pads: false }),
    },
    Decoder: { decode: (v, s) => fromBase64(typeof s === "string" ? s : decode(s, "ISO-8859-1"), v.alphabet) },
    MessageDigest: {
      update: (v, bytes) => void v.bytes.push(...bytes),
      digest(v, bytes = []) {
        const made = digest(v.algorithm, [...v.bytes, ...bytes]);
        v.bytes = [];
        return made;
      },
    },
    JsonSlurper: {
      parseText: (v, s) => (s === null || s === "" ? fail("IllegalArgumentException", "Text must not be null or empty") : parseJson(s)),
      parse: (v, of, charset) => parseJson(isArray(of) ? decode(of) : of.$c === "File" ? fileText(of.path, charset) : readRest(of)),
    },
    JsonSlurperClassic: { parseText: (v, s) => (s === null || s === "" ? fail("IllegalArgumentException") : parseJson(s, "hash")) },
    JsonBuilder: {
      toPrettyString: (v) => prettyJson(toJson(v.content)),
      getContent: (v) => v.content,
      call: (v, ...content) => {
        const [one] = content;
        if (content.length === 1) return (v.content = one instanceof JavaMap || isList(one) ? one : unsupported("this content of a JsonBuilder"));
        return (v.content = content);
      },
    },
    AtomicInteger: {
      get: (v) => v.v,
      set: (v, n) => void (v.v = n),
      incrementAndGet: (v) => (v.v = (v.v + 1) | 0),
      getAndIncrement: (v) => ((v.v = (v.v + 1) | 0) - 1) | 0,
      decrementAndGet: (v) => (v.v = (v.v - 1) | 0),
      addAndGet: (v, n) => (v.v = (v.v + n) | 0),
      getAndDecrement: (v) => exchanged(v, (v.v - 1) | 0),
      getAndAdd: (v, n) => exchanged(v, (v.v + n) | 0),
      ...exchanges((n) => cast("int", n)),
      intValue: (v) => v.v,
      toInteger: (v) => v.v,
    },
    AtomicLong: {
      get: (v) => v.v,
      set: (v, n) => void (v.v = n),
      incrementAndGet: (v) => (v.v = long(v.v + 1n)),
      getAndIncrement: (v) => long((v.v = long(v.v + 1n)) - 1n),
      decrementAndGet: (v) => (v.v = long(v.v - 1n)),
      addAndGet: (v, n) => (v.v = long(v.v + n)),
      getAndDecrement: (v) => exchanged(v, long(v.v - 1n)),
      getAndAdd: (v, n) => exchanged(v, long(v.v + n)),
      ...exchanges((n) => cast("long", n)),
      longValue: (v) => v.v,
    },
    AtomicBoolean: { get: (v) => v.v, set: (v, n) => void (v.v = n), ...exchanges((n) => n) },
    AtomicReference: { get: (v) => v.v, set: (v, n) => void (v.v = n), ...exchanges((n) => n) },
    Date: {
      getTime: (v) => BigInt(v.ms),
      setTime: (v, ms) => void (v.ms = Number(ms)),
      before: (v, other) => v.ms < other.ms,
      after: (v, other) => v.ms > other.ms,
      compareTo: (v, other) => Math.sign(v.ms - other.ms),
      getYear: (v) => calendarGet(v, 1) - 1900,
      getMonth: (v) => calendarGet(v, 2),
      getDate: (v) => calendarGet(v, 5),
      getDay: (v) => calendarGet(v, 7) - 1,
      getHours: (v) => calendarGet(v, 11),
      getMinutes: (v) => calendarGet(v, 12),
      getSeconds: (v) => calendarGet(v, 13),
      toInstant: (v) => instant(v.ms),
      format: (v, of, zone) => formatDate(of, v.ms, zone?.id),
      plus: (v, days) => add(v, days),
      minus: (v, days) => objects("minus", v, days),
      next: (v) => next(v),
      previous: (v) => next(v, -1),
    },
    DateFormat: {
      format: (v, of) => formatDate(v.pattern, typeof of === "bigint" ? Number(of) : of.ms, v.zone),
      parse(v, s) {
        const ms = time("parse", { pattern: v.pattern, text: s, zone: zones(v.zone) });
        return ms === null ? fail("ParseException") : date(ms);
      },
      setTimeZone: (v, zone) => void (v.zone = zone.id),
      setLenient: (v, lenient) => void (lenient && unsupported("setLenient(true)")),
    },
    TimeZone: { getID: (v) => v.id },
    DecimalFormat: { format: formatDecimal },
    TimeUnit: {
      ...Object.fromEntries(Object.entries(TIME_UNITS).map(([name, to]) => [`to${name[0]}${name.slice(1).replace("SECONDS", "s").toLowerCase()}`, (v, n) => long((n * TIME_UNITS[v.name]) / to)])),
      sleep: (v, n) => statics.Thread.sleep((n * TIME_UNITS[v.name]) / TIME_UNITS.MILLISECONDS),
    },
    Calendar: {
      getTime: (v) => date(v.ms),
      setTime: (v, of) => void (v.ms = of.ms),
      getTimeInMillis: (v) => BigInt(v.ms),
      setTimeInMillis: (v, ms) => void (v.ms = Number(ms)),
      add: (v, field, n) => void (v.ms = time("calendarAdd", { ms: v.ms, field, n, zone: v.zone })),
      set(v, ...parts) {
        const one = (field, n) => (v.ms = time("calendarSet", { ms: v.ms, field, n, zone: v.zone }));
        if (parts.length === 2) return void one(...parts);
        // A day that the month before does not have.
        one(5, 1);
        [1, 2, 5, 11, 12, 13].slice(0, parts.length).forEach((field, i) => one(field, parts[i]));
        return null;
      },
      get: calendarGet,
      setTimeZone: (v, zone) => void (v.zone = zone.id),
      getActualMaximum: (v, field) => (field === 5 ? lengthOfMonth(calendarGet(v, 1), calendarGet(v, 2) + 1) : unsupported("this field of getActualMaximum")),
      before: (v, other) => other?.$c !== undefined && inherits(other.$c, "Calendar") && v.ms < other.ms,
      after: (v, other) => other?.$c !== undefined && inherits(other.$c, "Calendar") && v.ms > other.ms,
    },
    ...timeMethods(),
    ...securityMethods(),
    ...fileMethods(),
    ...xmlMethods(),
    ...streamMethods(),
    Throwable: {
      getMessage: (v) => (v.said === UNTOLD ? unsupported(`the message of this ${v.$c}`) : v.said),
      getLocalizedMessage: (v) => methods.Throwable.getMessage(v),
      printStackTrace: () => null,
      toString: (v) => text(v),
    },
    PrintStream: { println: () => null, print: () => null, printf: (v, of, ...args) => void format(of, ...args) },
    Closure: { call: (v, ...args) => callClosure(v, args) },
    ...jmeterMethods(),
  };
  const wholes = (size, max, min) => ({
    valueOf: (v, radix) => (typeof v === "string" || v === null ? parseWhole(v, size, radix) : v),
    toString: (v, radix = 10) => wholeRadix(v, radix),
    toHexString: (v) => unsigned(size, v).toString(16),
    toBinaryString: (v) => unsigned(size, v).toString(2),
    toOctalString: (v) => unsigned(size, v).toString(8),
    max: (a, b) => (a > b ? a : b),
    min: (a, b) => (a < b ? a : b),
    sum: add,
    compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
    signum: Math.sign,
    bitCount: (v) => (v >>> 0).toString(2).replace(/0/g, "").length,
    parseInt: (s, radix) => parseWhole(s, 32, radix),
    parseLong: (s, radix) => parseWhole(s, 64, radix),
    MAX_VALUE: max,
    MIN_VALUE: min,
  });
  const mathematics = (act) => (v) => double(act(v.v));
  const systemProperty = (name) => ({ "line.separator": "\n", "file.separator": "/", "path.separator": ":", "user.dir": name === "user.dir" ? folders()[0] : "" })[name] ?? unsupported(`System.getProperty("${name}")`);
  // --- Texts of Apache Commons, most of whose functions take null ------------------------------------------------------
  const mayBeText = (act) => (s, ...rest) => (s === null ? null : act(s, ...rest));
  const chars = (s) => (s === null ? null : javaText(s));
  // What `Character.isWhitespace` takes for blank.
  const BLANK = "[\\t-\\r\\x1c-\\x20\\u1680\\u2000-\\u2006\\u2008-\\u200a\\u2028\\u2029\\u205f\\u3000]";
  const onlyBlanks = new RegExp(`^${BLANK}*$`);
  const blanks = new RegExp(BLANK, "g");
  const isBlank = (s) => s === null || onlyBlanks.test(s);
  const isEmpty = (s) => s === null || s === "";
  const asciiText = (s) => (/[^\0-\x7f]/.test(s) ? unsupported("the kinds of characters beyond ASCII") : s);
  const allOf = (kind) => (s) => !isEmpty(chars(s)) && kind.test(asciiText(chars(s)));
  const trimmed = (s) => s.replace(/^[\0-\x20]+|[\0-\x20]+$/g, "");
  const piece = (s, from, to = s.length) => {
    const end = Math.min(to < 0 ? s.length + to : to, s.length);
    const begin = from < 0 ? s.length + from : from;
    return begin > end ? "" : s.slice(Math.max(begin, 0), Math.max(end, 0));
  };
  const padded = (isLeft) =>
    mayBeText((s, size, pad = " ") => {
      const fill = padding(s, size, isEmpty(chars(pad)) ? " " : chars(pad));
      return isLeft ? fill + s : s + fill;
    });
  const repeated = mayBeText((what, a, b) => {
    const s = javaText(what);
    if (b === undefined) return repeat(s, Math.max(0, a));
    return a === null || b <= 0 ? repeat(s, Math.max(0, b)) : repeat(s + a, b - 1) + s;
  });
  const tagged = (s, open, close = open) => {
    if (s === null || open === null || close === null) return null;
    const begin = s.indexOf(open);
    const end = begin < 0 ? -1 : s.indexOf(close, begin + open.length);
    return end < 0 ? null : s.slice(begin + open.length, end);
  };
  const tokens = mayBeText((s, by) => {
    const isBetween = (c) => (isEmpty(by ?? null) ? isBlank(c) : by.includes(c));
    if (by === "") return unsupported("splitting at no characters");
    const found = [""];
    for (const c of s.split("")) isBetween(c) ? found.push("") : (found[found.length - 1] += c);
    return array("String", found.filter((token) => token !== ""));
  });
  const occurrences = (s, what) => (isEmpty(chars(s)) || isEmpty(chars(what)) ? 0 : chars(s).split(chars(what)).length - 1);
  const replacedAll = (s, what, by) => (isEmpty(s) || isEmpty(what) || by === null ? s : s.split(what).join(by));
  const joinedItems = (items, by) => {
    if (items === null || (isArray(items) && items.item !== "String" && items.item !== "Object")) return unsupported("joining this value");
    return each(items).map((item) => (item === null ? "" : javaText(item))).join(by ?? "");
  };
  const bothTexts = (act) => (a, b) => (a === null || b === null ? a === b : act(chars(a), chars(b)));
  const STRING_UTILS = {
    isEmpty: (s) => isEmpty(chars(s)),
    isNotEmpty: (s) => !isEmpty(chars(s)),
    isBlank: (s) => isBlank(chars(s)),
    isNotBlank: (s) => !isBlank(chars(s)),
    isNumeric: allOf(/^[0-9]+$/),
    isAlpha: allOf(/^[A-Za-z]+$/),
    isAlphanumeric: allOf(/^[0-9A-Za-z]+$/),
    length: (s) => (s === null ? 0 : chars(s).length),
    trim: mayBeText(trimmed),
    trimToEmpty: (s) => trimmed(s ?? ""),
    trimToNull: (s) => trimmed(s ?? "") || null,
    deleteWhitespace: mayBeText((s) => s.replace(blanks, "")),
    chomp: mayBeText((s) => s.replace(/(?:\r\n|\n|\r)$/, "")),
    upperCase: mayBeText((s) => STRING.toUpperCase(s)),
    lowerCase: mayBeText((s) => STRING.toLowerCase(s)),
    capitalize: mayBeText((s) => asciiText(s.charAt(0)).toUpperCase() + s.slice(1)),
    uncapitalize: mayBeText((s) => asciiText(s.charAt(0)).toLowerCase() + s.slice(1)),
    reverse: mayBeText((s) => asciiText(s).split("").reverse().join("")),
    repeat: repeated,
    leftPad: padded(true),
    rightPad: padded(false),
    left: mayBeText((s, n) => s.slice(0, Math.max(n, 0))),
    right: mayBeText((s, n) => s.slice(s.length - Math.min(Math.max(n, 0), s.length))),
    substring: mayBeText(piece),
    substringBefore: (s, by) => (isEmpty(s) || by === null ? s : s.split(by === "" ? s : by)[0]),
    substringAfter: (s, by) => (isEmpty(s) ? s : by === null || !s.includes(by) ? "" : s.slice(s.indexOf(by) + by.length)),
    substringBeforeLast: (s, by) => (isEmpty(s) || isEmpty(by) || !s.includes(by) ? s : s.slice(0, s.lastIndexOf(by))),
    substringAfterLast: (s, by) => (isEmpty(s) ? s : isEmpty(by) || !s.includes(by) ? "" : s.slice(s.lastIndexOf(by) + by.length)),
    substringBetween: tagged,
    split: tokens,
    join: joinedItems,
    replace: replacedAll,
    remove: (s, what) => replacedAll(s, chars(what), ""),
    countMatches: occurrences,
    indexOf: (s, what) => (s === null || what === null ? -1 : chars(s).indexOf(chars(what))),
    contains: (s, what) => s !== null && what !== null && chars(s).includes(chars(what)),
    startsWith: bothTexts((s, begin) => s.startsWith(begin)),
    endsWith: bothTexts((s, end) => s.endsWith(end)),
    equals: bothTexts((a, b) => a === b),
    equalsIgnoreCase: bothTexts((a, b) => STRING.equalsIgnoreCase(a, b)),
    defaultString: (s, otherwise = "") => s ?? otherwise,
    defaultIfEmpty: (s, otherwise) => (isEmpty(s) ? otherwise : s),
    defaultIfBlank: (s, otherwise) => (isBlank(s) ? otherwise : s),
  };
  // Escapes of a text in a literal: those with names, and `\\uXXXX` for what is not printed.
  const inLiteral = (named, least, most) =>
    mayBeText((s) => {
      const short = { "\b": "\\b", "\n": "\\n", "\t": "\\t", "\f": "\\f", "\r": "\\r", ...named };
      const numbered = (c) => (c < least || c > most ? `\\u${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}` : c);
      return s.split("").map((c) => short[c] ?? numbered(c)).join("");
    });
  const byHost = (kind) => mayBeText((s) => host("escaped", kind, s));
  // A backslash that begins no escape is left out.
  const unescaped = (s) =>
    s.replace(/\\(?:([0-3][0-7]{0,2}|[4-7][0-7]?)|(u)(u*\+?[0-9a-fA-F]{4})?|([bntfr])|([\\"'])|)/g, (whole, octal, u, digits, named, plain) => {
      if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8));
      if (u !== undefined) return digits === undefined ? unsupported("an escape without four digits") : String.fromCharCode(parseInt(digits.slice(-4), 16));
      if (named !== undefined) return { b: "\b", n: "\n", t: "\t", f: "\f", r: "\r" }[named];
      return plain ?? "";
    });
  const STRING_ESCAPES = {
    escapeJava: inLiteral({ '"': '\\"', "\\": "\\\\" }, " ", "\x7f"),
    escapeJson: inLiteral({ '"': '\\"', "\\": "\\\\", "/": "\\/" }, " ", "~"),
    escapeEcmaScript: inLiteral({ "'": "\\'", '"': '\\"', "\\": "\\\\", "/": "\\/" }, " ", "\x7f"),
    unescapeJava: mayBeText(unescaped),
    escapeHtml4: byHost("escapeHtml4"),
    unescapeHtml4: byHost("unescapeHtml4"),
    escapeXml10: byHost("escapeXml10"),
  };
  const LANG_ESCAPES = { ...STRING_ESCAPES, escapeJson: inLiteral({ '"': '\\"', "\\": "\\\\", "/": "\\/" }, " ", "\x7f") };
  const commonsBetween = (from, to) => {
    if (to < from) fail("IllegalArgumentException", "Start value must be smaller or equal to end value.");
    if (from < 0) fail("IllegalArgumentException", "Both range values must be non-negative.");
    return from === to ? from : from + randomBelow(to - from);
  };
  const someLetters = (alphabet) => (n, most) => letters(most === undefined ? n : commonsBetween(n, most), alphabet);
  const statics = {
    String: {
      valueOf: (v) => (isArray(v) && v.item === "char" ? spelled(v) : javaText(v)),
      format: (first, ...rest) => (first?.$c === "Locale" ? format(...rest) : format(first, ...rest)),
      join: (by, ...items) => (items.length === 1 && (Array.isArray(items[0]) || isCollection(items[0])) ? each(items[0]) : items).map((item) => (item === null || isText(item) ? javaText(item) : fail("ClassCastException"))).join(by),
    },
    Integer: wholes(32, 2147483647, -2147483648),
    Long: wholes(64, 9223372036854775807n, -9223372036854775808n),
    Double: {
      parseDouble,
      valueOf: (v) => (typeof v === "string" ? parseDouble(v) : v),
      toString: (v) => doubleText(v.v),
      compare: (a, b) => compareNumbers(a, b),
      max: (a, b) => double(Math.max(a.v, b.v)),
      min: (a, b) => double(Math.min(a.v, b.v)),
      isNaN: (v) => Number.isNaN(v.v),
      MAX_VALUE: double(Number.MAX_VALUE),
      MIN_VALUE: double(Number.MIN_VALUE),
      NaN: double(NaN),
      POSITIVE_INFINITY: double(Infinity),
      NEGATIVE_INFINITY: double(-Infinity),
    },
    Float: {
      parseFloat: (s) => float(parseDouble(s).v),
      valueOf: (v) => (typeof v === "string" ? float(parseDouble(v).v) : v),
      toString: (v) => numberText(v),
      compare: (a, b) => compareNumbers(a, b),
    },
    BigDecimal: { valueOf: (v, scale) => (scale === undefined ? toDecimal(v) : new BigDecimal(v, scale)), ZERO: new BigDecimal(0n, 0), ONE: new BigDecimal(1n, 0), TEN: new BigDecimal(10n, 0), ROUND_UP: 0, ROUND_DOWN: 1, ROUND_HALF_UP: 4 },
    BigInteger: { valueOf: (v) => new BigInteger(v), ZERO: new BigInteger(0n), ONE: new BigInteger(1n), TEN: new BigInteger(10n) },
    RoundingMode: Object.fromEntries(ROUND.map((name) => [name, rounding(name)])),
    Boolean: {
      parseBoolean: (s) => s !== null && s.toLowerCase() === "true",
      valueOf: (v) => (typeof v === "boolean" ? v : v !== null && v.toLowerCase() === "true"),
      toString: String,
      TRUE: true,
      FALSE: false,
    },
    Character: {
      isDigit: asciiChar((c) => /\d/.test(c)),
      isLetter: asciiChar((c) => /[a-zA-Z]/.test(c)),
      isLetterOrDigit: asciiChar((c) => /[a-zA-Z0-9]/.test(c)),
      isUpperCase: asciiChar((c) => /[A-Z]/.test(c)),
      isLowerCase: asciiChar((c) => /[a-z]/.test(c)),
      isWhitespace: asciiChar((c) => /[\t-\r\x1c-\x20]/.test(c)),
      toUpperCase: asciiChar((c) => char(c.toUpperCase())),
      toLowerCase: asciiChar((c) => char(c.toLowerCase())),
      getNumericValue: asciiChar((c) => (/[0-9a-zA-Z]/.test(c) ? parseInt(c, 36) : -1)),
      toString: (c) => c.s,
      valueOf: (c) => c,
    },
    Math: {
      abs: (v) => (v instanceof Float ? float(Math.abs(v.v)) : compareNumbers(v, 0) < 0 ? negative(v) : v instanceof Double ? double(Math.abs(v.v)) : v),
      max: (a, b) => (a instanceof Float ? float(Math.max(a.v, b.v)) : a instanceof Double ? double(Math.max(a.v, b.v)) : a > b ? a : b),
      min: (a, b) => (a instanceof Float ? float(Math.min(a.v, b.v)) : a instanceof Double ? double(Math.min(a.v, b.v)) : a < b ? a : b),
      floor: mathematics(Math.floor),
      ceil: mathematics(Math.ceil),
      round: (v) => (v instanceof Float ? toInt : toLong)(double(Math.floor(v.v + 0.5))),
      rint: (v) => double(Math.abs(v.v % 1) === 0.5 ? 2 * Math.round(v.v / 2) : Math.round(v.v)),
      sqrt: mathematics(Math.sqrt),
      cbrt: mathematics(Math.cbrt),
      pow: (a, b) => double(a.v ** b.v),
      log: mathematics(Math.log),
      log10: mathematics(Math.log10),
      exp: mathematics(Math.exp),
      sin: mathematics(Math.sin),
      cos: mathematics(Math.cos),
      signum: mathematics(Math.sign),
      random: () => double(random()),
      floorMod: (a, b) => (Number(b) === 0 ? byZero() : typeof a === "number" ? ((a % b) + b) % b : ((a % b) + b) % b),
      floorDiv: (a, b) => (Number(b) === 0 ? byZero() : typeof a === "number" ? Math.floor(a / b) | 0 : long((a - (((a % b) + b) % b)) / b)),
      subtractExact: (a, b) => (a - b === ((a - b) | 0) ? a - b : fail("ArithmeticException", "integer overflow")),
      multiplyExact: (a, b) => (fits(32, BigInt(a) * BigInt(b)) ? Number(BigInt(a) * BigInt(b)) : fail("ArithmeticException", "integer overflow")),
      toRadians: (v) => double(v.v * 0.017453292519943295),
      toDegrees: (v) => double(v.v * 57.29577951308232),
      toIntExact: (v) => (fits(32, v) ? Number(v) : fail("ArithmeticException", "integer overflow")),
      addExact: (a, b) => (a + b === ((a + b) | 0) ? a + b : fail("ArithmeticException", "integer overflow")),
      PI: double(Math.PI),
      E: double(Math.E),
    },
    System: {
      currentTimeMillis: () => BigInt(now()),
      nanoTime: () => BigInt(now()) * 1_000_000n,
      lineSeparator: () => "\n",
      getProperty: (name, otherwise) => systemProperty(name, otherwise),
      getenv(name) {
        const told = JSON.parse(host("environment", name ?? "", name === undefined ? "all" : "one"));
        if (told.refused !== undefined) return unsupported(told.refused);
        return name === undefined ? sealed(map(Object.entries(told.value), "hash")) : told.value;
      },
      out: object("PrintStream", {}),
      err: object("PrintStream", {}),
    },
    Thread: {
      sleep: (ms) => (ms < 0n ? fail("IllegalArgumentException", "timeout value is negative") : (host("sleep", String(ms), "") ?? unsupported("Thread.sleep in this element"), null)),
      currentThread: () => object("Thread", {}),
    },
    Collections: {
      shuffle: (v, r) => LIST.shuffle(v, r),
      sort: (v, run) => void into(v, withGroovy(() => ordered(each(v), run))),
      reverse: (v) => void v.reverse(),
      max: (v) => (each(v).length === 0 ? fail("NoSuchElementException") : withGroovy(() => best(each(v), undefined, 1))),
      min: (v) => (each(v).length === 0 ? fail("NoSuchElementException") : withGroovy(() => best(each(v), undefined, -1))),
      emptyList: () => sealed([]),
      emptyMap: () => sealed(map([])),
      singletonList: (v) => sealed([v]),
      nCopies: (n, v) => (n < 0 ? fail("IllegalArgumentException", `List length = ${n}`) : n > mostItems ? unsupported("a list of this size") : sealed(Array.from({ length: n }, () => v))),
      frequency: (v, what) => each(v).filter((one) => same(one, what)).length,
      swap: (v, a, b) => void LIST.swap(v, a, b),
      // Scripts share no collection while they run.
      synchronizedList: (v) => v,
      synchronizedMap: (v) => v,
      synchronizedSet: (v) => v,
      addAll: (v, ...items) => items.map((item) => addItem(v, item)).some(Boolean),
    },
    Arrays: {
      asList: (...items) => fixed(items.length === 1 && isArray(items[0]) ? [...items[0]] : items),
      stream: (v) => streamOf(each(v), v.item === "int" ? "IntStream" : ["byte", "char", "long", "double", "boolean"].includes(v.item) ? unsupported("a stream of these items") : "Stream"),
      toString: (v) => listed(v, javaText),
      sort: (v) => void v.splice(0, v.length, ...withGroovy(() => ordered(v))),
      fill: (v, item) => void v.fill(stored(v.item, cast(v.item, item))),
      copyOf: (v, length) => statics.Arrays.copyOfRange(v, 0, length),
      copyOfRange(v, from, to) {
        if (from < 0 || from > v.length || to < from) return fail(to < from ? "IllegalArgumentException" : "ArrayIndexOutOfBoundsException");
        const made = newArray(v.item, to - from);
        for (let i = from; i < Math.min(to, v.length); i += 1) made[i - from] = v[i];
        return made;
      },
      equals: (a, b) => (a === null || b === null ? a === b : a.length === b.length && a.every((one, i) => (a.item === "byte" ? one === b[i] : same(one, b[i])))),
    },
    List: { of: (...items) => (items.includes(null) ? noPointer() : sealed(items.length === 1 && isArray(items[0]) ? [...items[0]] : items)) },
    Objects: {
      requireNonNull: (v) => v ?? noPointer(),
      requireNonNullElse: (v, otherwise) => v ?? otherwise ?? noPointer(),
      equals: (a, b) => same(a, b), isNull: (v) => v === null, nonNull: (v) => v !== null, toString: (v) => javaText(v),
    },
    ThreadLocalRandom: { current: () => object("ThreadLocalRandom", {}) },
    SecureRandom: {
      getInstanceStrong: () => object("SecureRandom", {}),
      getInstance: (name) => (["SHA1PRNG", "NATIVEPRNG", "DRBG"].includes(name.toUpperCase()) ? object("SecureRandom", {}) : unsupported(`the random numbers of ${name}`)),
    },
    UUID: {
      randomUUID: randomUuid,
      fromString: (s) => (/^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$/.test(s) ? uuid(s.toLowerCase()) : unsupported("this UUID")),
      nameUUIDFromBytes: nameUuid,
    },
    Pattern: {
      compile: (s, flags = 0) => {
        const made = pattern(s, flags);
        search(made, "", "f");
        return made;
      },
      matches: (of, s) => matchesWhole(pattern(of), s),
      quote: (s) => (s.includes("\\E") ? unsupported("Pattern.quote of this text") : `\\Q${s}\\E`),
      CASE_INSENSITIVE: 2,
      MULTILINE: 8,
      DOTALL: 32,
    },
    Matcher: { quoteReplacement: (s) => s.replace(/[\\$]/g, "\\$&") },
    Base64: {
      getEncoder: () => object("Encoder", { alphabet: BASE64, pads: true }),
      getUrlEncoder: () => object("Encoder", { alphabet: BASE64_URL, pads: true }),
      getDecoder: () => object("Decoder", { alphabet: BASE64 }),
      getUrlDecoder: () => object("Decoder", { alphabet: BASE64_URL }),
    },
    URLEncoder: { encode: (s, charset) => (onlyUtf8(charset === undefined ? "UTF-8" : typeof charset === "string" ? charsetOf(charset) : charset.name), javaUrl(s)) },
    URLDecoder: { decode: (s, charset) => (onlyUtf8(charset === undefined ? "UTF-8" : typeof charset === "string" ? charsetOf(charset) : charset.name), urlDecoded(s)) },
    Charset: { forName: (name) => object("Charset", { name: charsetOf(name) }) },
    StandardCharsets: { UTF_8: object("Charset", { name: "UTF-8" }), US_ASCII: object("Charset", { name: "US-ASCII" }), ISO_8859_1: object("Charset", { name: "ISO-8859-1" }) },
    MessageDigest: {
      getInstance(algorithm) {
        digest(algorithm, []);
        return object("MessageDigest", { algorithm, bytes: [] });
      },
    },
    RandomStringUtils: {
      randomAlphabetic: someLetters(LETTERS),
      randomAlphanumeric: someLetters(LETTERS + DIGITS),
      randomNumeric: someLetters(DIGITS),
      random: (n, a, b) => letters(n, typeof a === "string" ? a || unsupported("an empty alphabet") : (a ? LETTERS : "") + (b ? DIGITS : "") || unsupported("random characters of all kinds")),
    },
    RandomUtils: {
      nextInt: (a = 0, b = 2147483647) => commonsBetween(a, b),
      nextBoolean: () => random() < 0.5,
    },
    StringUtils: STRING_UTILS,
    StringEscapeUtils: STRING_ESCAPES,
    LangStringEscapeUtils: LANG_ESCAPES,
    JsonOutput: { toJson: (v) => toJson(v), prettyPrint: (s) => prettyJson(s) },
    Date: {
      from: (v) => date(v.ms),
      parse(of, s) {
        const ms = time("parse", { pattern: of, text: s, zone: "" });
        return ms === null ? fail("ParseException") : date(ms);
      },
    },
    Locale: {
      getDefault: () => statics.Locale.US,
      forLanguageTag: (tag) => (tag === "en-US" ? statics.Locale.US : tag === "en" ? statics.Locale.ENGLISH : unsupported(`the locale ${tag}`)),
      US: object("Locale", { id: "en_US" }), ENGLISH: object("Locale", { id: "en" }), ROOT: object("Locale", { id: "" }),
    },
    TimeUnit: Object.fromEntries(Object.keys(TIME_UNITS).map((name) => [name, object("TimeUnit", { name })])),
    TimeZone: {
      getTimeZone: (id) => (time("zone", { zone: id }), object("TimeZone", { id })),
      getDefault: () => object("TimeZone", { id: "" }),
    },
    Calendar: {
      getInstance: (zone) => object("GregorianCalendar", { ms: now(), zone: zone?.id }),
      ...Object.fromEntries(MONTHS.map((name, i) => [name, i])),
      ...Object.fromEntries(WEEKDAYS.map((name, i) => [name, ((i + 1) % 7) + 1])),
      YEAR: 1,
      MONTH: 2,
      WEEK_OF_YEAR: 3,
      DATE: 5,
      DAY_OF_MONTH: 5,
      DAY_OF_YEAR: 6,
      DAY_OF_WEEK: 7,
      HOUR: 10,
      HOUR_OF_DAY: 11,
      MINUTE: 12,
      SECOND: 13,
      MILLISECOND: 14,
    },
    ...timeStatics(),
    ...securityStatics(),
    ...fileStatics(),
    ...streamStatics(),
    ...jmeterStatics(),
  };
  // A collection that nothing changes.
  const sealed = (items) => {
    Object.defineProperty(items, "isSealed", { value: true });
    return items;
  };
  const fixed = (items) => {
    Object.defineProperty(items, "isFixed", { value: true });
    return items;
  };
  const listOf = (kind, v) => {
    const made = [];
    Object.defineProperty(made, "kind", { value: kind });
    if (v !== undefined && typeof v !== "number") for (const item of each(v)) addItem(made, item);
    return made;
  };
  const constructors = {
    String: (v, charset) => (v === undefined ? "" : typeof v === "string" ? v : v.item === "char" ? spelled(v) : decode(v, charset === undefined ? "UTF-8" : charsetOf(charset))),
    StringBuilder: (v) => builder("StringBuilder", typeof v === "string" ? v : ""),
    StringBuffer: (v) => builder("StringBuffer", typeof v === "string" ? v : ""),
    Integer: (v) => (typeof v === "string" ? parseWhole(v, 32) : v),
    Long: (v) => (typeof v === "string" ? parseWhole(v, 64) : v),
    Double: (v) => (typeof v === "string" ? parseDouble(v) : v),
    Float: (v) => (typeof v === "string" ? float(parseDouble(v).v) : float(v.v)),
    BigDecimal: (v) => (typeof v === "string" ? decimal(v) : v instanceof Double ? (v.v === Math.trunc(v.v) && Math.abs(v.v) < 2 ** 53 ? new BigDecimal(BigInt(v.v), 0) : unsupported("new BigDecimal(double)")) : toDecimal(v)),
    BigInteger: (v, radix) => {
      if (typeof v === "number") return new BigInteger(BigInt(`0x${hex(radix)}`) * BigInt(v));
      if (radix !== undefined && radix !== 10) return radix === 16 && /^[0-9a-fA-F]+$/.test(v) ? new BigInteger(BigInt(`0x${v}`)) : unsupported("this base");
      return wholeText.test(v) ? bigInteger(v.replace(/^\+/, "")) : notNumber(v);
    },
    ArrayList: (v) => (typeof v === "number" || v === undefined ? [] : [...each(v)]),
    LinkedList: (v) => {
      const made = v === undefined ? [] : [...each(v)];
      Object.defineProperty(made, "kind", { value: "LinkedList" });
      return made;
    },
    ...Object.fromEntries([...QUEUES, "CopyOnWriteArrayList", "Vector", "Stack"].map((name) => [name, (v) => listOf(name, v)])),
    AtomicBoolean: (v = false) => object("AtomicBoolean", { v }),
    AtomicReference: (v = null) => object("AtomicReference", { v }),
    Timestamp: (ms) => object("Timestamp", { ms: Number(ms) }),
    GregorianCalendar: () => statics.Calendar.getInstance(),
    Locale: (language, country) => statics.Locale.forLanguageTag(country === undefined ? language : `${language}-${country}`),
    ConcurrentHashMap(v) {
      const made = map([], "concurrent");
      if (v !== undefined && v.size > 5) unsupported("a ConcurrentHashMap of a map of this size");
      v?.pairs().forEach(([key, value]) => made.set(key, value));
      return made;
    },
    HashSet: (v) => set(v === undefined ? [] : each(v), "hash"),
    LinkedHashSet: (v) => set(v === undefined ? [] : each(v)),
    TreeSet: (v) => set(v === undefined ? [] : each(v), "tree"),
    HashMap(v) {
      const made = map([], "hash");
      if (typeof v === "number") while (made.capacity < v) made.capacity *= 2;
      else if (v !== undefined) {
        while (made.capacity < v.size / 0.75 + 1) made.capacity *= 2;
        v.pairs().forEach(([key, value]) => made.set(key, value));
      }
      return made;
    },
    LinkedHashMap: (v) => map(v === undefined ? [] : v.pairs()),
    TreeMap: (v) => map(v === undefined ? [] : v.pairs(), "tree"),
    Random: (seed) => (seed === undefined ? object("Random", {}) : jdkRandom(seed)),
    SecureRandom: () => object("SecureRandom", {}),
    StringTokenizer: (s, by) => object("StringTokenizer", { items: STRING.tokenize(s, by), at: 0 }),
    Properties: () => object("Properties", { own: map([], "hash") }),
    JsonSlurper: () => object("JsonSlurper", {}),
    JsonSlurperClassic: () => object("JsonSlurperClassic", {}),
    JsonBuilder: (content = null) => object("JsonBuilder", { content }),
    AtomicInteger: (v = 0) => object("AtomicInteger", { v }),
    AtomicLong: (v = 0n) => object("AtomicLong", { v }),
    Date: (ms) => date(ms === undefined ? now() : Number(ms)),
    SimpleDateFormat: (pattern, locale) => object("SimpleDateFormat", { pattern: locale?.id === "" ? unsupported("names of Locale.ROOT") : pattern, zone: undefined }),
    DecimalFormat: decimalFormat,
    ...securityConstructors(),
    ...fileConstructors(),
    ...xmlConstructors(),
    ...jmeterConstructors(),
  };
