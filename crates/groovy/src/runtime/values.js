// Values, operators, classes and members as Groovy and BeanShell have them.
//
// int is a number, long a bigint; double, char, BigDecimal and BigInteger are objects; String is a string and GString an
// object. A list is an array, a Java array an array with the property `item`, its type. Everything else is an object whose
// property `$c` names its class in the library. What differs from Java ends the script by `unsupported`, which no script
// can catch.
(function (outside, library) {
  const host = (name, a, b) => outside(name, a, b) ?? null;
  // --- Faults ---------------------------------------------------------------------------------------------------------
  class Unsupported extends Error {}
  const unsupported = (what) => {
    throw new Unsupported(`${what} is not supported`);
  };
  // A message that differs from Java's is not told to the script.
  const UNTOLD = Symbol("untold");
  class Thrown extends Error {
    constructor($c, said) {
      super(typeof said === "string" ? said : "");
      this.$c = $c;
      this.said = said;
      this.name = classes[$c]?.qualified ?? $c;
    }
  }
  const fail = ($c, said = UNTOLD) => {
    throw new Thrown($c, said);
  };
  // What Groovy says of an access to null; BeanShell's words are others.
  const noPointer = (access) => fail("NullPointerException", isGroovy && access !== undefined ? `Cannot ${access} on null object` : UNTOLD);

  // --- The library ----------------------------------------------------------------------------------------------------
  const classes = Object.create(null);
  const split = (list) => (list === "" ? [] : list.split(","));
  const readLibrary = () => {
    let at = null;
    for (const line of library.split("\n")) {
      if (line.startsWith("class ")) {
        const [names, parent] = line.slice(6).split(" : ");
        const [name, qualified] = names.split(" ");
        at = { name, qualified, parent: parent ?? (name === "Object" ? null : "Object"), methods: Object.create(null), statics: Object.create(null), fields: [] };
        classes[name] = at;
      } else if (at !== null && line.startsWith("  static ") && !line.includes("(")) {
        at.fields.push(line.slice(9, line.indexOf(":")));
      } else if (at !== null && line.includes("(")) {
        let text = line.trim();
        const groovy = text.startsWith("+");
        if (groovy) text = text.slice(1);
        const isStatic = text.startsWith("static ");
        if (isStatic) text = text.slice(7);
        const open = text.indexOf("(");
        const name = text.slice(0, open);
        const types = split(text.slice(open + 1, text.indexOf(")")));
        const table = isStatic || name === "new" ? at.statics : at.methods;
        (table[name] ??= []).push({ groovy, types, more: (types.at(-1) ?? "").endsWith("...") });
      }
    }
  };
  readLibrary();
  const inherits = (name, parent) => {
    for (let at = name; at; at = classes[at]?.parent) if (at === parent) return true;
    return (interfaces[name] ?? []).includes(parent);
  };
  const interfaces = {
    String: ["Comparable"],
    GString: ["CharSequence"],
    Integer: ["Comparable"],
    Long: ["Comparable"],
    List: ["Iterable"],
    StringBuffer: ["CharSequence"],
    LinkedList: ["Queue", "Deque"],
    ConcurrentLinkedDeque: ["Iterable"],
    ConcurrentLinkedQueue: ["Iterable"],
    ArrayDeque: ["Iterable"],
    LinkedBlockingQueue: ["Iterable"],
    ConcurrentHashMap: ["ConcurrentMap"],
    AtomicBoolean: [],
  };
  // Overloads of a method in a class and its parents, kept once looked up.
  const overloads = (name, method) => {
    const own = classes[name];
    own.found ??= Object.create(null);
    if (own.found[method] !== undefined) return own.found[method];
    const all = [];
    for (let at = own; at; at = classes[at.parent]) {
      for (const one of at.methods[method] ?? []) all.push({ ...one, of: at.name });
    }
    return (own.found[method] = all);
  };

  // --- Numbers --------------------------------------------------------------------------------------------------------
  class Double {
    constructor(v) {
      this.v = v;
    }
  }
  Double.prototype.$c = "Double";
  class Float extends Double {}
  Float.prototype.$c = "Float";
  class Character {
    constructor(s) {
      this.s = s;
    }
  }
  Character.prototype.$c = "Character";
  // An item of a byte[].
  class Byte {
    constructor(v) {
      this.v = v;
    }
  }
  Byte.prototype.$c = "Byte";
  class BigInteger {
    constructor(v) {
      this.v = v;
    }
  }
  BigInteger.prototype.$c = "BigInteger";
  // u * 10 ** -scale
  class BigDecimal {
    constructor(u, scale) {
      this.u = u;
      this.scale = scale;
    }
  }
  BigDecimal.prototype.$c = "BigDecimal";
  const double = (v) => new Double(v);
  const float = (v) => new Float(Math.fround(v));
  const wrapped = (bits, v) => BigInt.asIntN(bits, v);
  const unsigned = (bits, v) => BigInt.asUintN(bits, BigInt(v));
  const fits = (bits, v) => wrapped(bits, v) === v;
  const long = (v) => wrapped(64, v);
  const int = (v) => Number(wrapped(32, BigInt(v)));
  const bigInteger = (text) => new BigInteger(BigInt(text));
  const decimal = (text) => {
    const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text);
    if (parts === null || `${parts[2]}${parts[3] ?? ""}` === "") fail("NumberFormatException");
    const digits = BigInt(`${parts[2]}${parts[3] ?? ""}`);
    const scale = (parts[3] ?? "").length - Number(parts[4] ?? 0);
    if (Math.abs(scale) > 10_000) unsupported("a number of this size");
    return new BigDecimal(parts[1] === "-" ? -digits : digits, scale);
  };
  const ten = (n) => 10n ** BigInt(n);
  const isNumber = (v) =>
    typeof v === "number" || typeof v === "bigint" || v instanceof Double || v instanceof BigDecimal || v instanceof BigInteger;
  const isWhole = (v) => typeof v === "number" || typeof v === "bigint";
  const rank = (v) => (typeof v === "number" ? 0 : typeof v === "bigint" ? 1 : v instanceof BigInteger ? 2 : v instanceof BigDecimal ? 3 : 4);
  const toBig = (v) => (typeof v === "number" ? BigInt(v) : typeof v === "bigint" ? v : v.v);
  const toDouble = (v) => {
    if (typeof v === "number") return v;
    if (typeof v === "bigint") return Number(v);
    if (v instanceof BigDecimal) return Number(decimalText(v));
    return Number(v.v);
  };
  const toDecimal = (v) => {
    if (v instanceof BigDecimal) return v;
    if (v instanceof Double) return decimal(numberText(v));
    return new BigDecimal(toBig(v), 0);
  };
  // Towards zero, within the bounds of the type, as Java narrows.
  const truncated = (v) => {
    if (v instanceof Double) return Number.isNaN(v.v) ? 0n : Number.isFinite(v.v) ? BigInt(Math.trunc(v.v)) : v.v > 0 ? 1n << 70n : -(1n << 70n);
    if (v instanceof BigDecimal) return v.scale > 0 ? v.u / ten(v.scale) : v.u * ten(-v.scale);
    return toBig(v);
  };
  const clamp = (v, bits) => {
    const most = (1n << (bits - 1n)) - 1n;
    return v > most ? most : v < -most - 1n ? -most - 1n : v;
  };
  const toInt = (v) => (v instanceof Double ? Number(clamp(truncated(v), 32n)) : int(truncated(v)));
  const toLong = (v) => (v instanceof Double ? clamp(truncated(v), 64n) : long(truncated(v)));
  // The shortest digits that are this number among those of its type.
  const shortest = (v, isFloat) => {
    for (let digits = 0; isFloat && digits < 9; digits += 1) if (Math.fround(Number(v.toExponential(digits))) === v) return v.toExponential(digits);
    return v.toExponential();
  };
  const numberText = (v) => doubleText(v.v, v instanceof Float);
  const doubleText = (v, isFloat = false) => {
    if (Number.isNaN(v)) return "NaN";
    if (!Number.isFinite(v)) return v > 0 ? "Infinity" : "-Infinity";
    if (v === 0) return Object.is(v, -0) ? "-0.0" : "0.0";
    const size = Math.abs(v);
    const [mantissa, exponent] = shortest(size, isFloat).split("e");
    const digits = mantissa.replace(".", "");
    const sign = v < 0 ? "-" : "";
    const power = Number(exponent);
    if (size < 1e-3 || size >= 1e7) return `${sign}${digits[0]}.${digits.slice(1) || "0"}E${power}`;
    if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
    const padded = digits.padEnd(power + 1, "0");
    return `${sign}${padded.slice(0, power + 1)}.${padded.slice(power + 1) || "0"}`;
  };
  const plainText = (v) => {
    if (v.scale <= 0) return String(v.u * ten(-v.scale));
    const sign = v.u < 0n ? "-" : "";
    const digits = String(v.u < 0n ? -v.u : v.u).padStart(v.scale + 1, "0");
    return `${sign}${digits.slice(0, -v.scale)}.${digits.slice(-v.scale)}`;
  };
  const decimalText = (v) => {
    const digits = String(v.u < 0n ? -v.u : v.u);
    const power = digits.length - 1 - v.scale;
    if (v.scale >= 0 && power >= -6) return plainText(v);
    const point = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${v.u < 0n ? "-" : ""}${digits[0]}${point}${power === 0 ? "" : `E${power > 0 ? "+" : ""}${power}`}`;
  };
  const scaled = (v, scale) => (scale >= v.scale ? new BigDecimal(v.u * ten(scale - v.scale), scale) : unsupported("a smaller scale"));
  const precision = (v) => String(v.u < 0n ? -v.u : v.u).length;
  // u / d, rounded.
  const rounded = (u, d, mode) => {
    if (d < 0n) [u, d] = [-u, -d];
    const sign = u < 0n ? -1n : 1n;
    const size = u < 0n ? -u : u;
    const quotient = size / d;
    const rest = size % d;
    if (rest === 0n) return sign * quotient;
    const half = rest * 2n === d ? 0 : rest * 2n > d ? 1 : -1;
    const up = {
      UP: true,
      DOWN: false,
      CEILING: sign > 0n,
      FLOOR: sign < 0n,
      HALF_UP: half >= 0,
      HALF_DOWN: half > 0,
      HALF_EVEN: half > 0 || (half === 0 && quotient % 2n === 1n),
    }[mode];
    return sign * (quotient + (up ? 1n : 0n));
  };
  const setScale = (v, scale, mode) => {
    if (scale >= v.scale) return scaled(v, scale);
    return new BigDecimal(rounded(v.u, ten(v.scale - scale), mode), scale);
  };
  const stripped = (v, least) => {
    let { u, scale } = v;
    while (scale > least && u % 10n === 0n) {
      u /= 10n;
      scale -= 1;
    }
    return new BigDecimal(u, scale);
  };
  // As Groovy divides: exactly if possible, else with ten digits more than the operands have.
  const divideDecimal = (a, b) => {
    if (b.u === 0n) fail("ArithmeticException", a.u === 0n ? "Division undefined" : "Division by zero");
    const wanted = a.scale - b.scale;
    if (a.u === 0n) return new BigDecimal(0n, Math.max(wanted, 0) === wanted ? wanted : wanted);
    let rest = b.u < 0n ? -b.u : b.u;
    const divisor = gcd(a.u < 0n ? -a.u : a.u, rest);
    rest /= divisor;
    let twos = 0;
    let fives = 0;
    while (rest % 2n === 0n) (rest /= 2n), (twos += 1);
    while (rest % 5n === 0n) (rest /= 5n), (fives += 1);
    if (rest === 1n) {
      const more = Math.max(twos, fives);
      return stripped(new BigDecimal((a.u * ten(more)) / b.u, wanted + more), wanted);
    }
    const digits = Math.max(precision(a), precision(b)) + 10;
    // Enough digits to round once to the wanted precision.
    const shift = digits + precision(b) + 3;
    const u = a.u * ten(shift);
    let result = new BigDecimal(u / b.u, wanted + shift);
    const over = precision(result) - digits;
    result = new BigDecimal(rounded(u, b.u * ten(over), "HALF_UP"), result.scale - over);
    if (precision(result) > digits) result = new BigDecimal(result.u / 10n, result.scale - 1);
    const scale = Math.max(a.scale, b.scale, 10);
    return result.scale > scale ? setScale(result, scale, "HALF_UP") : stripped(result, wanted);
  };
  const gcd = (a, b) => {
    while (b !== 0n) [a, b] = [b, a % b];
    return a;
  };
  const charCode = (v) => v.s.charCodeAt(0);
  const char = (s) => new Character(s);
  const wholeText = /^[+-]?\d+$/;
  const notNumber = (text, radix = 10) =>
    fail("NumberFormatException", text === null ? UNTOLD : `For input string: "${text}"${radix === 10 ? "" : ` under radix ${radix}`}`);
  const parseWhole = (text, bits, radix = 10) => {
    if (text === null) return notNumber(null);
    let value = null;
    if (radix === 10) {
      if (wholeText.test(text)) value = BigInt(text.replace(/^\+/, ""));
    } else if (radix >= 2 && radix <= 36) {
      const digits = text.replace(/^[+-]/, "").toLowerCase();
      value = digits === "" ? null : 0n;
      for (const c of digits) {
        const digit = parseInt(c, radix);
        if (Number.isNaN(digit)) return notNumber(text, radix);
        value = value * BigInt(radix) + BigInt(digit);
      }
      if (value !== null && text.startsWith("-")) value = -value;
    }
    if (value === null || !fits(bits, value)) return notNumber(text, radix);
    return bits === 32 ? Number(value) : value;
  };
  const parseDouble = (text) => {
    const inner = text.trim();
    if (/^[+-]?(NaN|Infinity)$/.test(inner)) return double(Number(inner));
    const number = inner.replace(/[dDfF]$/, "");
    if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(number)) {
      return fail("NumberFormatException", inner === "" ? "empty String" : `For input string: "${inner}"`);
    }
    return double(Number(number));
  };

  // --- Other values ---------------------------------------------------------------------------------------------------
  class GString {
    constructor(s) {
      this.s = s;
    }
  }
  GString.prototype.$c = "GString";
  const isText = (v) => typeof v === "string" || v instanceof GString;
  const plain = (v) => (v instanceof GString ? v.s : v);
  const isList = (v) => Array.isArray(v) && v.item === undefined;
  const isArray = (v) => Array.isArray(v) && v.item !== undefined;
  const array = (item, items) => {
    const made = [...items];
    Object.defineProperty(made, "item", { value: item });
    return made;
  };
  class Range {
    constructor(from, to, reverse, items) {
      Object.assign(this, { from, to, reverse, items });
    }
  }
  Range.prototype.$c = "Range";
  const mostItems = 1_000_000;
  const range = (from, to, inclusive) => {
    [from, to] = [plain(from), plain(to)];
    if (from === null || to === null) return fail("IllegalArgumentException");
    const text = typeof from === "string" && typeof to === "string";
    if (text && (from.length !== 1 || to.length !== 1)) unsupported("a range of texts");
    if (!text && (typeof from !== "number" || typeof to !== "number")) unsupported("a range of these values");
    const code = (v) => (text ? v.charCodeAt(0) : v);
    let [a, b] = [code(from), code(to)];
    const reverse = a > b;
    if (!inclusive && a === b) return new Range(from, from, false, []);
    if (!inclusive) b += reverse ? 1 : -1;
    if (Math.abs(a - b) >= mostItems) unsupported("a range of this size");
    const items = [];
    for (let i = a; reverse ? i >= b : i <= b; i += reverse ? -1 : 1) items.push(text ? String.fromCharCode(i) : i);
    const value = (v) => (text ? String.fromCharCode(v) : v);
    return new Range(value(Math.min(a, b)), value(Math.max(a, b)), reverse, items);
  };
  class Entry {
    constructor(map, key, value) {
      Object.assign(this, { map, key, held: value });
    }
    get value() {
      return this.held;
    }
  }
  Entry.prototype.$c = "Entry";
  // The key of a value in maps: equal values have the same.
  const keyOf = (v) => {
    if (v === null || v === undefined) return "n";
    if (typeof v === "string") return `s${v}`;
    if (typeof v === "number") return `i${v}`;
    if (typeof v === "bigint") return `l${v}`;
    if (typeof v === "boolean") return `b${v}`;
    if (v instanceof GString) return `g${v.s}`;
    if (v instanceof Character) return `c${v.s}`;
    if (v instanceof Double) return `${v instanceof Float ? "f" : "d"}${v.v}`;
    if (v instanceof BigDecimal) return `D${v.u}:${v.scale}`;
    if (v instanceof BigInteger) return `B${v.v}`;
    if (isList(v)) return `[${v.map(keyOf).map((key) => `${key.length}:${key}`).join("")}]`;
    if (v.$c === "Date" || v.$c === "UUID") return `${v.$c}${text(v)}`;
    if (v.$c === "Range") return keyOf(v.items);
    return unsupported(`a key of class ${classOf(v)}`);
  };
  const hash = (v) => {
    if (v === null || v === undefined) return 0;
    if (typeof v === "string" || v instanceof GString) {
      let h = 0;
      const s = plain(v);
      for (let i = 0; i < s.length; i += 1) h = (Math.imul(31, h) + s.charCodeAt(i)) | 0;
      return h;
    }
    if (typeof v === "number") return v;
    if (typeof v === "bigint") return int(v ^ (unsigned(64, v) >> 32n));
    if (typeof v === "boolean") return v ? 1231 : 1237;
    if (v instanceof Character) return charCode(v);
    if (isList(v)) return v.reduce((h, item) => (Math.imul(31, h) + hash(item)) | 0, 1);
    if (v instanceof Double) {
      const bits = new DataView(new ArrayBuffer(8));
      if (v instanceof Float) {
        bits.setFloat32(0, v.v);
        return bits.getInt32(0);
      }
      bits.setFloat64(0, v.v);
      return bits.getInt32(0) ^ bits.getInt32(4);
    }
    return unsupported(`the hash code of ${classOf(v)}`);
  };
  const spread = (key) => {
    const h = hash(key);
    return h ^ (h >>> 16);
  };
  // A part of another collection, whose changes would change that one: of a list, or of a map.
  const view = (made, of = "map") => Object.defineProperty(made, "isView", { value: of });
  class JavaMap {
    // kind: linked, hash, tree or concurrent
    constructor(kind) {
      this.kind = kind;
      this.held = new Map();
      this.capacity = 16;
      // The table of a ConcurrentHashMap: keys in the order of their bin, which depends on how it grew.
      if (kind === "concurrent") this.bins = Array.from({ length: 16 }, () => []);
    }
    get size() {
      return this.held.size;
    }
    has(key) {
      return this.held.has(keyOf(key));
    }
    get(key) {
      return this.held.get(keyOf(key))?.[1];
    }
    set(key, value) {
      if (this.isSealed) fail("UnsupportedOperationException");
      if (this.kind === "concurrent" && ((key ?? null) === null || (value ?? null) === null)) noPointer();
      const at = keyOf(key);
      const known = this.held.get(at);
      if (known !== undefined) {
        known[1] = value;
        return;
      }
      if (this.kind === "tree" && key === null) noPointer();
      this.held.set(at, [key, value]);
      if (this.kind === "concurrent") return this.grown(key);
      while (this.held.size > this.capacity * 0.75) this.capacity *= 2;
      if (this.held.size > mostItems) unsupported("a map of this size");
    }
    delete(key) {
      if (this.isSealed) fail("UnsupportedOperationException");
      const value = this.get(key);
      if (this.kind === "concurrent" && this.has(key)) {
        const bin = this.bins[spread(key) & (this.capacity - 1)];
        bin.splice(bin.findIndex((one) => keyOf(one) === keyOf(key)), 1);
      }
      this.held.delete(keyOf(key));
      return value ?? null;
    }
    clear() {
      if (this.isSealed) fail("UnsupportedOperationException");
      this.held.clear();
      this.bins?.forEach((bin) => bin.splice(0));
    }
    // A new key of a ConcurrentHashMap. What moves with the end of its bin keeps its order, and the rest is turned.
    grown(key) {
      const bin = this.bins[spread(key) & (this.capacity - 1)];
      bin.push(key);
      if (bin.length > 7) unsupported("a ConcurrentHashMap with this many keys of one hash code");
      if (this.held.size > mostItems) unsupported("a map of this size");
      while (this.held.size >= this.capacity * 0.75) {
        const bit = this.capacity;
        const isHigh = (one) => (spread(one) & bit) !== 0;
        const halves = this.bins.map((keys) => {
          const [low, high] = [[], []];
          let run = keys.length - 1;
          while (run > 0 && isHigh(keys[run - 1]) === isHigh(keys.at(-1))) run -= 1;
          for (const one of keys.slice(Math.max(run, 0))) (isHigh(one) ? high : low).push(one);
          for (const one of keys.slice(0, Math.max(run, 0))) (isHigh(one) ? high : low).unshift(one);
          return [low, high];
        });
        this.bins = [...halves.map((half) => half[0]), ...halves.map((half) => half[1])];
        this.capacity *= 2;
      }
    }
    // Pairs in the order in which Java has them.
    pairs() {
      const all = [...this.held.values()];
      if (this.kind === "tree") return all.sort((a, b) => cmp(a[0], b[0]));
      if (this.kind === "concurrent") return this.bins.flat().map((key) => this.held.get(keyOf(key)));
      if (this.kind !== "hash") return all;
      const slot = (key) => spread(key) & (this.capacity - 1);
      const slots = all.map((pair) => [slot(pair[0]), pair]);
      return slots.sort((a, b) => a[0] - b[0]).map((found) => found[1]);
    }
    keys() {
      return this.pairs().map((pair) => pair[0]);
    }
    values() {
      return this.pairs().map((pair) => pair[1]);
    }
    entries() {
      return this.pairs().map(([key, value]) => new Entry(this, key, value));
    }
  }
  JavaMap.prototype.$c = "Map";
  const map = (pairs, kind = "linked") => {
    const made = new JavaMap(kind);
    for (const [key, value] of pairs) made.set(key, value);
    return made;
  };
  class JavaSet {
    constructor(kind) {
      this.held = new JavaMap(kind);
    }
    get kind() {
      return this.held.kind;
    }
  }
  JavaSet.prototype.$c = "Set";
  const set = (items, kind = "linked") => {
    const made = new JavaSet(kind);
    for (const item of items) made.held.has(item) || made.held.set(item, true);
    return made;
  };
  const object = ($c, fields) => Object.assign(Object.create({ $c }), fields);
  const classOf = (v) => {
    switch (typeof v) {
      case "string":
        return "String";
      case "number":
        return "Integer";
      case "bigint":
        return "Long";
      case "boolean":
        return "Boolean";
      case "function":
        return "Closure";
      default:
        if (v === null || v === undefined) return "null";
        if (Array.isArray(v)) return v.item === undefined ? (v.kind ?? "List") : "Array";
        return v.$c ?? unsupported("this value");
    }
  };
  const KINDS = { linked: "LinkedHash", hash: "Hash", tree: "Tree", concurrent: "ConcurrentHash" };
  const isA = (v, name) => {
    const simple = name.slice(name.lastIndexOf(".") + 1);
    if (v === null || v === undefined) return false;
    if (simple === "Object" || simple === "def") return true;
    if (simple.endsWith("[]")) return isArray(v) && v.item === simple.slice(0, -2);
    const of = classOf(v);
    if (of === "Map" && inherits(simple, "Map") && simple !== "Map") return simple === "HashMap" ? ["hash", "linked"].includes(v.kind) : simple === `${KINDS[v.kind]}Map`;
    if (of === "Set" && inherits(simple, "Set") && simple !== "Set") return simple === "HashSet" ? v.kind !== "tree" : simple === `${KINDS[v.kind]}Set`;
    if (of === "List" || of === "NodeList") return ["List", "Collection", "Iterable", "ArrayList"].includes(simple);
    if (of === "Array") return false;
    if (of === "GString" && simple === "String") return false;
    return inherits(of, simple);
  };

  // --- Texts ----------------------------------------------------------------------------------------------------------
  const listed = (items, one) => `[${items.map(one).join(", ")}]`;
  const bracketed = (v, one, deep) => {
    if (deep > 50) unsupported("a value nested this deeply");
    const inner = (item) => (item === v ? (Array.isArray(v) ? "(this Collection)" : "(this Map)") : one(item, deep + 1));
    if (Array.isArray(v)) return listed(v, inner);
    if (v instanceof Range) return listed(v.items, inner);
    if (v instanceof JavaSet) return listed(v.held.keys(), inner);
    return null;
  };
  // As Java's String.valueOf writes a value.
  const javaText = (v, deep = 0) => {
    if (isArray(v)) return unsupported("the text of an array");
    const inner = bracketed(v, javaText, deep);
    if (inner !== null && v instanceof Range) return `${javaText(v.reverse ? v.to : v.from)}..${javaText(v.reverse ? v.from : v.to)}`;
    if (inner !== null) return inner;
    if (v instanceof JavaMap) return `{${v.pairs().map(([key, value]) => `${javaText(key, deep + 1)}=${javaText(value, deep + 1)}`).join(", ")}}`;
    return text(v);
  };
  // As Groovy writes a value in texts.
  const groovyText = (v, deep = 0) => {
    if (v instanceof Range && deep === 0) return javaText(v);
    const inner = bracketed(v, groovyText, deep);
    if (inner !== null) return inner;
    if (v instanceof JavaMap) {
      if (v.size === 0) return "[:]";
      return `[${v.pairs().map(([key, value]) => `${groovyText(key, deep + 1)}:${groovyText(value, deep + 1)}`).join(", ")}]`;
    }
    return text(v);
  };
  const text = (v) => {
    if (v === null || v === undefined) return "null";
    switch (typeof v) {
      case "string":
        return v;
      case "function":
        return unsupported("the text of a closure");
      case "object":
        break;
      default:
        return String(v);
    }
    if (v instanceof GString || v instanceof Character) return v.s;
    if (v instanceof Double) return numberText(v);
    if (v instanceof BigInteger || v instanceof Byte) return String(v.v);
    if (v instanceof BigDecimal) return decimalText(v);
    if (v instanceof Entry) return `${javaText(v.key)}=${javaText(v.value)}`;
    if (v instanceof Thrown) return v.said === UNTOLD ? unsupported(`the message of this ${v.$c}`) : v.said === null ? v.name : `${v.name}: ${v.said}`;
    if (v instanceof JavaMap || v instanceof JavaSet || Array.isArray(v) || v instanceof Range) return javaText(v);
    const write = texts[v.$c];
    return write ? write(v) : unsupported(`the text of ${classOf(v)}`);
  };
  let isGroovy = true;
  const shown = (v) => (isGroovy ? groovyText(v) : javaText(v));

  // --- Truth and comparison -------------------------------------------------------------------------------------------
  const truth = (v) => {
    if (typeof v === "boolean") return v;
    if (!isGroovy) return unsupported("a condition that is not boolean");
    if (v === null || v === undefined) return false;
    if (typeof v === "number") return v !== 0;
    if (typeof v === "bigint") return v !== 0n;
    if (isText(v)) return plain(v).length > 0;
    if (Array.isArray(v)) return v.length > 0;
    if (v instanceof Double) return v.v !== 0;
    if (v instanceof BigDecimal) return v.u !== 0n;
    if (v instanceof BigInteger) return v.v !== 0n;
    if (v instanceof Character) return v.s !== "\0";
    if (v instanceof JavaMap) return v.size > 0;
    if (v instanceof JavaSet) return v.held.size > 0;
    if (v instanceof Range) return v.items.length > 0;
    if (v.$c === "NoChildren") return false;
    if (v.$c === "Matcher") return matcherFinds(v, true);
    if (v.$c === "AtomicInteger" || v.$c === "AtomicLong") return Number(v.v) !== 0;
    if (v.$c === "AtomicBoolean") return v.v;
    if (v.$c === "StringBuilder" || v.$c === "StringBuffer") return v.s.length > 0;
    if (v.$c === "Iterator") return v.at < v.items.length;
    return true;
  };
  const compareNumbers = (a, b) => {
    const most = Math.max(rank(a), rank(b));
    if (most === 4) {
      const [x, y] = [toDouble(a), toDouble(b)];
      return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.isNaN(x) ? (Number.isNaN(y) ? 0 : 1) : -1;
    }
    if (most === 3) {
      const [x, y] = [toDecimal(a), toDecimal(b)];
      const scale = Math.max(x.scale, y.scale);
      const [u, w] = [scaled(x, scale).u, scaled(y, scale).u];
      return u < w ? -1 : u > w ? 1 : 0;
    }
    const [x, y] = [toBig(a), toBig(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  };
  const compareTexts = (a, b) => {
    const most = Math.min(a.length, b.length);
    for (let i = 0; i < most; i += 1) if (a.charCodeAt(i) !== b.charCodeAt(i)) return a.charCodeAt(i) - b.charCodeAt(i);
    return a.length - b.length;
  };
  // The number that a value is in a comparison with a number; null: it is none.
  const asCode = (v) => (v instanceof Character ? charCode(v) : isText(v) && plain(v).length === 1 ? plain(v).charCodeAt(0) : null);
  const compared = (a, b, forEquality) => {
    if (a instanceof Byte) a = a.v;
    if (b instanceof Byte) b = b.v;
    if (isNumber(a)) {
      if (isNumber(b)) return compareNumbers(a, b);
      const code = asCode(b);
      if (code !== null) return compareNumbers(a, code);
    } else if (a instanceof Character) {
      if (isText(b) && plain(b).length === 1) return charCode(a) - asCode(b);
      if (isNumber(b)) return compareNumbers(charCode(a), b);
      if (b instanceof Character) return charCode(a) - charCode(b);
    } else if (isNumber(b)) {
      const code = asCode(a);
      if (code !== null) return compareNumbers(code, b);
    } else if (isText(a) && (isText(b) || b instanceof Character)) {
      return compareTexts(plain(a), b instanceof Character ? b.s : plain(b));
    } else if (typeof a === "boolean" && typeof b === "boolean") {
      return Number(a) - Number(b);
    } else if (a.$c === "Date" && b.$c === "Date") {
      return a.ms < b.ms ? -1 : a.ms > b.ms ? 1 : 0;
    }
    return forEquality ? -1 : fail("GroovyRuntimeException");
  };
  const equal = (a, b) => {
    a ??= null;
    b ??= null;
    if (a === b) return true;
    if (a === null || b === null) return false;
    if (!isGroovy) return javaEqual(a, b);
    if (isPath(a)) return pathText(a) === text(b);
    const items = (v) => (Array.isArray(v) ? v : v instanceof Range ? v.items : null);
    const [x, y] = [items(a), items(b)];
    if (x !== null && y !== null) return x.length === y.length && x.every((item, i) => equal(item, y[i]));
    if (x !== null || y !== null) return false;
    if (a instanceof JavaMap && b instanceof JavaMap) {
      return a.size === b.size && a.pairs().every(([key, value]) => b.has(key) && equal(value, b.get(key)));
    }
    if (a instanceof JavaSet && b instanceof JavaSet) {
      return a.held.size === b.held.size && a.held.keys().every((key) => b.held.has(key));
    }
    if (isNumber(a) || isNumber(b) || a instanceof Byte || isText(a) || a instanceof Character || typeof a === "boolean" || a.$c === "Date") {
      return compared(a, b, true) === 0;
    }
    if (a.$c !== b.$c) return false;
    if (overloads(a.$c, "equals").some((one) => ownClasses[one.of] !== undefined)) return truth(call(a, "equals", [b]));
    return ["UUID", "URI", "Instant", "LocalDate", "LocalDateTime", "LocalTime", "ZonedDateTime", "OffsetDateTime", "ZoneId", "ZoneOffset", "DayOfWeek", "Month", "Class", "File", "Path"].includes(a.$c) ? text(a) === text(b) : a instanceof Entry ? equal(a.key, b.key) && equal(a.value, b.value) : false;
  };
  // Java's `==` between values of BeanShell: numbers by value, objects by identity.
  const javaEqual = (a, b) => {
    const number = (v) => (isNumber(operand(v)) ? operand(v) : null);
    const [x, y] = [number(a), number(b)];
    if (x !== null && y !== null) return compareNumbers(x, y) === 0;
    if (isText(a) && isText(b)) return a === b ? unsupported("`==` between texts (use `equals`)") : false;
    if (typeof a === "boolean" && typeof b === "boolean") return a === b;
    if (classOf(a) !== classOf(b)) return false;
    return a === b;
  };
  // Java's `equals`.
  const same = (a, b) => {
    a ??= null;
    b ??= null;
    if (a === b) return true;
    if (a === null || b === null) return false;
    if (isText(a) || isText(b)) return false;
    if (classOf(a) === "Array" || typeof a === "function") return false;
    if ((isNumber(a) || a instanceof Character) && classOf(a) === classOf(b)) return keyOf(a) === keyOf(b);
    if (isNumber(a)) return false;
    const items = (v) => (isList(v) ? v : v instanceof Range ? v.items : null);
    const [x, y] = [items(a), items(b)];
    if (x !== null && y !== null) return isGroovy ? equal(x, y) : x.length === y.length && x.every((item, i) => same(item, y[i]));
    if (a instanceof JavaMap && b instanceof JavaMap) return a.size === b.size && a.pairs().every(([key, value]) => b.has(key) && same(value, b.get(key)));
    return classOf(a) === classOf(b) && !(a instanceof JavaMap) ? withGroovy(() => equal(a, b)) : false;
  };
  const withGroovy = (act) => {
    const before = isGroovy;
    isGroovy = true;
    try {
      return act();
    } finally {
      isGroovy = before;
    }
  };
  const cmp = (a, b) => {
    a ??= null;
    b ??= null;
    if (!isGroovy) {
      if (a === null || b === null || isText(a) || isText(b) || typeof a === "boolean") return unsupported("this comparison");
      return withGroovy(() => compared(a, b, false));
    }
    if (a === b) return 0;
    if (a === null) return -1;
    if (b === null) return 1;
    return compared(a, b, false);
  };

  // --- Operators ------------------------------------------------------------------------------------------------------
  const noMethod = (v, name) => {
    if (v === null || v === undefined) return noPointer();
    return fail("MissingMethodException", UNTOLD);
  };
  const operand = (v) => (v instanceof Character ? charCode(v) : v instanceof Byte ? v.v : v);
  // Java's numbers of type float stay that among themselves; Groovy's become double.
  const isFloats = (a, b) => !isGroovy && [a, b].every((v) => v instanceof Float || isWhole(v));
  const arithmetic = (a, b, whole, decimals, doubles) => {
    const most = Math.max(rank(a), rank(b));
    if (most === 0) return int(whole(BigInt(a), BigInt(b)));
    if (most === 1) return long(whole(toBig(a), toBig(b)));
    if (most === 2) return new BigInteger(whole(toBig(a), toBig(b)));
    if (most === 3) return decimals(toDecimal(a), toDecimal(b));
    const made = doubles(toDouble(a), toDouble(b));
    return isFloats(a, b) ? float(made) : double(made);
  };
  const aligned = (a, b, act) => {
    const scale = Math.max(a.scale, b.scale);
    return new BigDecimal(act(scaled(a, scale).u, scaled(b, scale).u), scale);
  };
  const mostText = 16 << 20;
  const joined = (a, b) => {
    if (a.length + b.length > mostText) unsupported("a text of this size");
    return a + b;
  };
  const add = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return (a + b) | 0;
    if (isText(a)) return joined(plain(a), shown(b));
    if (isText(b) && (!isGroovy || a === null || a === undefined || isNumber(a) || a instanceof Character)) return joined(shown(a), plain(b));
    if (isGroovy && isText(b) && typeof a === "boolean") return noMethod(a, "plus");
    const [x, y] = [operand(a), operand(b)];
    if (isNumber(x) && isNumber(y)) {
      return arithmetic(x, y, (p, q) => p + q, (p, q) => aligned(p, q, (u, w) => u + w), (p, q) => p + q);
    }
    if (a === null || a === undefined) return noPointer();
    if (!isGroovy) return unsupported("`+` between these values");
    if (isList(a) || a instanceof Range) {
      const items = Array.isArray(a) ? a : a.items;
      return isList(b) || b instanceof JavaSet || b instanceof Range || isArray(b) ? [...items, ...each(b)] : [...items, b];
    }
    if (isArray(a)) return unsupported("`+` of an array");
    if (a instanceof JavaSet) return set([...each(a), ...(isCollection(b) ? each(b) : [b])], a.kind);
    if (a instanceof JavaMap && b instanceof JavaMap) return map([...a.pairs(), ...b.pairs()], a.kind);
    if (a.$c === "Date" && isWhole(b)) return date(a.ms + Number(b) * 86_400_000);
    if (isPath(a)) return unsupported("`+` of a path");
    return noMethod(a, "plus");
  };
  const isCollection = (v) => isList(v) || v instanceof JavaSet || v instanceof Range;
  const numbers = (name, act) => (a, b) => {
    const [x, y] = [operand(a), operand(b)];
    if (isNumber(x) && isNumber(y)) return act(x, y);
    if (a === null || a === undefined) return noPointer();
    return isGroovy ? objects(name, a, b) : unsupported("an operator between these values");
  };
  const objects = (name, a, b) => {
    if (name === "minus") {
      if (isText(a)) return plain(a).replace(shown(b), () => "");
      if (isList(a) || a instanceof Range) {
        const gone = isCollection(b) ? each(b) : [b];
        return each(a).filter((item) => !gone.some((other) => equal(item, other)));
      }
      if (a instanceof JavaSet) return set(each(a).filter((item) => !(isCollection(b) ? each(b) : [b]).some((other) => equal(item, other))), a.kind);
      if (a.$c === "Date" && isWhole(b)) return date(a.ms - Number(b) * 86_400_000);
    }
    if (name === "multiply" && isText(a) && isNumber(b)) return repeat(plain(a), toInt(b));
    if (name === "multiply" && isList(a) && isNumber(b)) return Array.from({ length: toInt(b) }, () => a).flat();
    if (name === "leftShift") return call(a, "leftShift", [b]);
    if ((name === "and" || name === "or" || name === "xor") && typeof a === "boolean") {
      const other = truth(b);
      return name === "and" ? a && other : name === "or" ? a || other : a !== other;
    }
    return noMethod(a, name);
  };
  const repeat = (s, n) => {
    if (n < 0) return fail("IllegalArgumentException");
    if (s.length * n > mostText) unsupported("a text of this size");
    return s.repeat(n);
  };
  const wholeOnly = (act) => (a, b) => {
    if (!isWhole(a) || !isWhole(b)) return a instanceof BigInteger || b instanceof BigInteger ? new BigInteger(act(toBig(a), toBig(b))) : unsupported("an operator between these numbers");
    return typeof a === "number" && typeof b === "number" ? int(act(BigInt(a), BigInt(b))) : long(act(toBig(a), toBig(b)));
  };
  const byZero = () => fail("ArithmeticException", "/ by zero");
  const subtract = numbers("minus", (a, b) => arithmetic(a, b, (p, q) => p - q, (p, q) => aligned(p, q, (u, w) => u - w), (p, q) => p - q));
  const multiply = numbers("multiply", (a, b) =>
    arithmetic(a, b, (p, q) => p * q, (p, q) => new BigDecimal(p.u * q.u, p.scale + q.scale), (p, q) => p * q),
  );
  const quotient = (p, q) => (q === 0n ? byZero() : p / q);
  const divide = numbers("div", (a, b) => {
    const most = Math.max(rank(a), rank(b));
    if (most === 4) return isFloats(a, b) ? float(toDouble(a) / toDouble(b)) : double(toDouble(a) / toDouble(b));
    if (isGroovy) return divideDecimal(toDecimal(a), toDecimal(b));
    return most < 2 ? arithmetic(a, b, quotient) : unsupported("`/` between these numbers");
  });
  const remainder = numbers("mod", (a, b) => {
    if (rank(a) === 3 || rank(b) === 3) return unsupported("`%` of BigDecimal");
    if (rank(a) === 2 || rank(b) === 2) return unsupported("`%` of BigInteger");
    return arithmetic(a, b, (p, q) => (q === 0n ? byZero() : p % q), null, (p, q) => p % q);
  });
  const power = numbers("power", (a, b) => {
    if (typeof b === "number" && b >= 0 && b < 10_000 && rank(a) < 3) {
      const result = toBig(a) ** BigInt(b);
      if (rank(a) === 0 && fits(32, result)) return Number(result);
      if (rank(a) === 1 && fits(64, result)) return result;
      return new BigInteger(result);
    }
    if (typeof b === "number" && b >= 0 && b < 1_000 && rank(a) === 3) return new BigDecimal(a.u ** BigInt(b), a.scale * b);
    return rank(a) === 4 || rank(b) === 4 || (isWhole(a) && isWhole(b) && Number(b) < 0) ? double(toDouble(a) ** toDouble(b)) : unsupported("`**` between these numbers");
  });
  const shift = (act) => (a, b) => {
    if (!isWhole(a) || !isWhole(b)) return unsupported("a shift of these numbers");
    const bits = typeof a === "number" ? 32 : 64;
    const by = BigInt(b) & BigInt(bits - 1);
    return bits === 32 ? int(act(BigInt(a), by, 32)) : long(act(a, by, 64));
  };
  const next = (v, by = 1) => {
    const of = operand(v);
    if (v instanceof Character) return char(String.fromCharCode(of + by));
    if (isNumber(v)) return add(v, by);
    if (isText(v) && isGroovy) return unsupported("`++` of a text");
    if (v !== null && v?.$c === "Date") return date(v.ms + by * 86_400_000);
    return noMethod(v, "next");
  };
  const elvis = (v, otherwise) => (truth(v) ? v : otherwise());

  // --- Calls ----------------------------------------------------------------------------------------------------------
  const closure = (count, least, run) => {
    run.count = count;
    run.least = least;
    return run;
  };
  // A method as a closure: which of its overloads takes the arguments is found out by the call.
  const open = (count, run) => Object.assign(closure(count, 0, run), { isOpen: true });
  const reference = (v, name) => (v === null || v === undefined ? noPointer() : open(1, (...args) => call(v, name, args)));
  const classReference = (of, name, kind, count) =>
    open(count, (...args) => (kind === "made" ? make(of, args) : kind === "static" ? invokeStatic(of, name, args) : call(args[0], name, args.slice(1))));
  const callClosure = (run, args) => {
    const count = run.count;
    if (run.isOpen) return run(...args) ?? null;
    if (count === -1) return args.length > 1 ? noMethod(run, "call") : (run(...args) ?? null);
    if (args.length === 1 && count > 1 && (Array.isArray(args[0]) || args[0] instanceof Range)) args = each(args[0]);
    if (args.length < run.least && !(count === 1 && args.length === 0 && run.least === 1)) return noMethod(run, "call");
    if (args.length > count) return noMethod(run, "call");
    return run(...(args.length === 0 && count === 1 && run.least === 1 ? [null] : args)) ?? null;
  };
  // Whether a value fits a parameter; gives it as the member takes it, or `misfit`.
  const misfit = Symbol("misfit");
  const fit = (type, v) => {
    v ??= null;
    switch (type) {
      case "Object":
        return v;
      case "int":
        return typeof v === "number" ? v : v instanceof Byte ? v.v : misfit;
      case "long":
        return typeof v === "number" ? BigInt(v) : typeof v === "bigint" ? v : v instanceof Byte ? BigInt(v.v) : misfit;
      case "float":
        return v instanceof Float ? v : misfit;
      case "double":
        return v instanceof Float ? double(v.v) : v instanceof Double ? v : isNumber(v) && (isGroovy || isWhole(v)) ? double(toDouble(v)) : misfit;
      case "boolean":
        return typeof v === "boolean" ? v : misfit;
      case "char":
        return v instanceof Character ? v : isGroovy && isText(v) && plain(v).length === 1 ? char(plain(v)) : misfit;
      case "Number":
        return isNumber(v) ? v : misfit;
      case "byte[]":
      case "char[]":
        return v !== null && isArray(v) && v.item === type.slice(0, -2) ? v : misfit;
      case "BigDecimal":
        return v instanceof BigDecimal ? v : v === null ? v : isGroovy && isNumber(v) && !(v instanceof Double) ? toDecimal(v) : misfit;
      case "BigInteger":
        return v instanceof BigInteger ? v : v === null ? v : isGroovy && isWhole(v) ? new BigInteger(toBig(v)) : misfit;
      default:
    }
    if (v === null) return v;
    if (type === "String") return typeof v === "string" ? v : v instanceof GString ? v.s : misfit;
    if (type === "List" && isArray(v)) return misfit;
    return classOf(v) === type || isA(v, type) || (type === "Array" && isArray(v)) ? v : misfit;
  };
  // The first overload that takes the arguments, with them as it takes them.
  const chosen = (all, args) => {
    for (const one of all) {
      const fixed = one.more ? one.types.length - 1 : one.types.length;
      if ((one.groovy && !isGroovy) || (one.more ? args.length < fixed : args.length !== fixed) || (one.more && !isGroovy && !(args.length === fixed + 1 && isArray(args[fixed])))) continue;
      const taken = [];
      let takesNull = true;
      for (let i = 0; i < args.length; i += 1) {
        const written = i < fixed ? one.types[i] : one.types.at(-1).slice(0, -3);
        const nullable = written.endsWith("?") || written === "Object";
        const widens = all.length > 1 && written === "double" && (args[i] instanceof BigDecimal || args[i] instanceof BigInteger);
        if (widens) unsupported("a BigDecimal for this method");
        const value = fit(nullable && written !== "Object" ? written.slice(0, -1) : written, args[i]);
        if (value === misfit) break;
        takesNull &&= value !== null || nullable;
        taken.push(value);
      }
      if (taken.length === args.length) return { one, taken, takesNull };
    }
    return null;
  };
  // Java may have a method for these arguments that the library does not have.
  const notTaken = (name, args) => unsupported(`${name}(${args.map((v) => (v === null || v === undefined ? "null" : classOf(v))).join(", ")})`);
  const call = (v, name, args) => {
    if (v === null || v === undefined) {
      if (isGroovy && name === "equals" && args.length === 1) return args[0] === null || args[0] === undefined;
      if (isGroovy && name === "toString" && args.length === 0) return "null";
      return noPointer(`invoke method ${name}()`);
    }
    const of = classOf(v);
    if (of === "Closure" && name === "call") return callClosure(v, args);
    const all = overloads(of === "Map" ? `${KINDS[v.kind]}Map` : of, name);
    const found = chosen(all, args);
    if (found === null) {
      if (v instanceof JavaMap && typeof v.get(name) === "function") return callClosure(v.get(name), args);
      // What an HTTP sampler has, and this one has not.
      if (of === "Sampler" && overloads("HTTPSamplerProxy", name).length > 0) return noMethod(v, name);
      // Of these all methods with this name are known, so that there is none for the arguments.
      const isWhole = ["JMeterVariables", "Logger", "AssertionResult"].includes(of) || (of === "SampleResult" && name.startsWith("set"));
      if (isGroovy && isWhole && all.length > 0) return noMethod(v, name);
      // The check has let through what these do not have in JMeter either.
      if (isGroovy && all.length === 0 && (of === "JMeterVariables" || (of === "Properties" && ["getObject", "putObject"].includes(name)))) return noMethod(v, name);
      return notTaken(`${of}.${name}`, args);
    }
    if (!found.takesNull) return noPointer();
    const act = implementation(of, name, found.one.of);
    return act(v, ...found.taken) ?? null;
  };
  const implementation = (of, name, declared) => {
    for (let at = of; at; at = classes[at]?.parent) {
      const found = methods[at];
      if (found !== undefined && Object.hasOwn(found, name)) return found[name];
    }
    return unsupported(`${declared}.${name}`);
  };
  const invokeStatic = (of, name, args) => {
    const found = chosen(classes[of].statics[name] ?? [], args);
    if (found === null) return notTaken(`${of}.${name}`, args);
    if (!found.takesNull) return noPointer();
    const act = statics[of]?.[name] ?? unsupported(`${of}.${name}`);
    return act(...found.taken) ?? null;
  };
  const make = (of, args) => {
    const found = chosen(classes[of].statics.new ?? [], args);
    if (found === null) return notTaken(`new ${of}`, args);
    if (!found.takesNull) return noPointer();
    if (inherits(of, "Throwable")) return new Thrown(of, found.taken.length === 0 ? null : of === "AssertionError" ? shown(found.taken[0]) : found.taken[0]);
    const act = constructors[of] ?? unsupported(`new ${of}`);
    return act(...found.taken);
  };
  const capital = (name) => name.charAt(0).toUpperCase() + name.slice(1);
  const property = (v, name) => {
    if (v === null || v === undefined) return noPointer(`get property '${name}'`);
    if (isPath(v)) return pathProperty(v, name);
    if (v.$c === "Node") return nodeProperty(v, name);
    if (isNodeList(v)) return listProperty(v, name);
    if (v instanceof JavaMap) return isGroovy ? mapGet(v, name) : name === "empty" ? v.size === 0 : unsupported("a property of a map");
    const of = classOf(v);
    if (of === "JMeterVariables" || of === "Properties") return call(v, "get", [name]);
    if (isArray(v) && name === "length") return v.length;
    if (name === "class") return call(v, "getClass", []);
    if (isGroovy && isCollection(v) && !(v instanceof Range && (name === "from" || name === "to"))) return each(v).map((item) => (item === null ? noPointer() : property(item, name)));
    if (classes[of]?.fields.includes(name)) return statics[of][name];
    for (const getter of [`get${capital(name)}`, `is${capital(name)}`]) {
      if (overloads(of, getter).some((one) => one.types.length === 0)) return call(v, getter, []);
    }
    return of === "Closure" || ["String", "Integer", "Long", "Boolean", "Double", "Float", "BigDecimal", "GString", "List", "Array"].includes(of) ? fail("MissingPropertyException") : unsupported(`${of}.${name}`);
  };
  const mapGet = (v, key) => {
    const value = v.get(key);
    if (value === undefined && v.otherwise !== undefined) {
      const made = callClosure(v.otherwise, [key]);
      v.set(key, made);
      return made;
    }
    return value ?? null;
  };
  const setProperty = (v, name, change) => {
    if (v === null || v === undefined) return noPointer(`set property '${name}'`);
    const { value, result } = given(change, () => property(v, name));
    if (v instanceof JavaMap) {
      if (!isGroovy) return unsupported("a property of a map");
      v.set(name, value);
    } else if (classOf(v) === "JMeterVariables" || classOf(v) === "Properties") {
      call(v, "put", [name, value]);
    } else {
      call(v, `set${capital(name)}`, [value]);
    }
    return result;
  };
  const position = (length, index) => {
    const at = index < 0 ? index + length : index;
    return at;
  };
  const at = (v, index) => {
    if (v === null || v === undefined) return noPointer("invoke method getAt()");
    if (Array.isArray(v) && typeof index === "number") {
      if (isList(v) && isGroovy) {
        if (index < -v.length) return fail("ArrayIndexOutOfBoundsException", `Negative array index [${index}] too large for array size ${v.length}`);
        return v[position(v.length, index)] ?? null;
      }
      const found = isGroovy ? position(v.length, index) : index;
      if (found < 0 || found >= v.length) return fail("ArrayIndexOutOfBoundsException", index < 0 ? UNTOLD : `Index ${index} out of bounds for length ${v.length}`);
      return v.item === "byte" ? new Byte(v[found]) : (v[found] ?? null);
    }
    if (!isGroovy) return unsupported("[…] of this value");
    if (v instanceof JavaMap) return mapGet(v, index);
    if (v.$c === "JMeterVariables" || v.$c === "Properties") return call(v, "get", [index]);
    if (v instanceof Range && typeof index === "number") return at(v.items, index);
    if (Array.isArray(v) || v instanceof Range) {
      if (index instanceof Range || isList(index)) return slice(each(v), index).map((i) => at(each(v), i));
      return unsupported("[…] with this index");
    }
    if (isText(v)) {
      const s = plain(v);
      if (typeof index === "number") {
        const found = position(s.length, index);
        if (found < 0 || found >= s.length) return fail("StringIndexOutOfBoundsException", UNTOLD);
        return s[found];
      }
      if (index instanceof Range || isList(index)) return slice(s, index).map((i) => at(s, i)).join("");
      return unsupported("[…] with this index");
    }
    if (v.$c === "Matcher") return matcherAt(v, index);
    if (isPath(v)) return pathAt(v, index);
    if (inherits(v.$c, "Calendar")) return call(v, "get", [index]);
    if (typeof index === "string") return property(v, index);
    // Groovy has `[…]` for more classes of Java than are known here.
    return v.$c === undefined ? noMethod(v, "getAt") : unsupported(`[…] of ${v.$c}`);
  };
  // Positions that a range or list of indexes names.
  const slice = (of, index) => {
    if (isList(index)) return index.flatMap((one) => (one instanceof Range ? slice(of, one) : [one]));
    const length = of.length;
    if (index.items.length === 0) {
      return [];
    }
    let [a, b] = [index.items[0], index.items.at(-1)].map((one) => position(length, one));
    if (a < 0 || b < 0 || a >= length || b >= length) {
      return fail(typeof of === "string" ? "StringIndexOutOfBoundsException" : "IndexOutOfBoundsException", UNTOLD);
    }
    const out = [];
    // A range that ends before it begins, once its ends are known, runs backwards.
    for (let i = a; a <= b ? i <= b : i >= b; i += a <= b ? 1 : -1) out.push(i);
    return out;
  };
  // A change of a member gives its new value, or the one before.
  const given = (change, before) => {
    const old = change.length === 0 ? undefined : before();
    const value = change.length === 0 ? change() : change(old);
    return { value, result: change.before ? old : value };
  };
  const setAt = (v, index, change) => {
    if (v === null || v === undefined) return noPointer("invoke method putAt()");
    const { value, result } = given(change, () => at(v, index));
    putAt(v, index, value);
    return result;
  };
  const putAt = (v, index, value) => {
    if (Array.isArray(v) && typeof index === "number") {
      let found = isGroovy ? position(v.length, index) : index;
      if (isArray(v)) {
        if (found < 0 || found >= v.length) return fail("ArrayIndexOutOfBoundsException", UNTOLD);
        v[found] = stored(v.item, assigned(v.item, value));
        return value;
      }
      if (!isGroovy) return unsupported("[…] = of a list");
      if (v.isSealed) return fail("UnsupportedOperationException");
      if (v.isView) return unsupported("a change of a part of a collection");
      if (found < 0) return fail("ArrayIndexOutOfBoundsException", UNTOLD);
      if (found > mostItems) unsupported("a list of this size");
      while (v.length < found) v.push(null);
      v[found] = value;
      return value;
    }
    if (!isGroovy) return unsupported("[…] = of this value");
    if (v instanceof JavaMap) {
      v.set(index, value);
      return value;
    }
    if (v.$c === "JMeterVariables" || v.$c === "Properties") {
      call(v, "put", [index, value]);
      return value;
    }
    if (inherits(v.$c, "Calendar")) {
      call(v, "set", [index, value]);
      return value;
    }
    return v.$c === undefined ? noMethod(v, "putAt") : unsupported(`[…] = of ${v.$c}`);
  };
  // Items of whatever can be iterated.
  const each = (v) => {
    if (v === null || v === undefined) return isGroovy ? [] : noPointer();
    if (Array.isArray(v)) return v.item === "byte" ? v.map((one) => new Byte(one)) : v.kind === "CopyOnWriteArrayList" ? [...v] : v;
    if (v instanceof Range) return v.items;
    if (v instanceof JavaSet) return v.held.keys();
    if (!isGroovy) return unsupported("a loop over this value");
    if (v instanceof JavaMap) return v.entries();
    if (isText(v)) return [...plain(v)].length === plain(v).length ? plain(v).split("") : unsupported("a loop over this text");
    if (v.$c === "Iterator") return v.items.slice(v.at);
    if (v.$c === "Matcher") return matcherAll(v);
    if (isPath(v)) return pathItems(v);
    // Groovy goes through the lines or items of these.
    if (["File", "FileReader", "BufferedReader", "InputStreamReader", "FileInputStream", "Scanner", "Stream", "IntStream", "Node"].includes(v.$c)) return unsupported(`a loop over ${v.$c}`);
    return [v];
  };
  const many = (v) => (v === null || v === undefined ? [] : Array.isArray(v) || isCollection(v) ? each(v) : unsupported("`*` of this value"));

  // --- Conversions ----------------------------------------------------------------------------------------------------
  const cannotCast = () => fail(isGroovy ? "ClassCastException" : "ClassCastException");
  const WHOLE = { int: [32, toInt], Integer: [32, toInt], long: [64, toLong], Long: [64, toLong] };
  const toWhole = (type, v) => {
    const of = operand(v);
    const [, narrow] = WHOLE[type];
    if (isNumber(of)) return narrow(of);
    if (isGroovy && isText(v) && plain(v).length === 1) return narrow(plain(v).charCodeAt(0));
    return cannotCast();
  };
  const isPrimitive = (type) => /^[a-z]/.test(type) && !type.endsWith("[]");
  // As a cast and an assignment to a declared variable convert.
  const cast = (type, v) => {
    v ??= null;
    if (type === "" || type === "def" || type === "var" || type === "Object") return v;
    if (v === null) {
      if (type === "boolean" && isGroovy) return false;
      return isPrimitive(type) ? cannotCast() : null;
    }
    if (type.endsWith("[]")) return toArray(type.slice(0, -2), v);
    switch (type) {
      case "String":
      case "CharSequence":
        return typeof v === "string" ? v : isGroovy || v instanceof GString ? javaText(v) : cannotCast();
      case "int":
      case "Integer":
      case "long":
      case "Long":
        return toWhole(type, v);
      case "double":
      case "Double": {
        const of = operand(v);
        return isNumber(of) ? double(toDouble(of)) : cannotCast();
      }
      case "float":
      case "Float": {
        const of = operand(v);
        return isNumber(of) ? float(toDouble(of)) : cannotCast();
      }
      case "boolean":
      case "Boolean":
        return typeof v === "boolean" ? v : isGroovy ? truth(v) : cannotCast();
      case "char":
      case "Character":
        if (v instanceof Character) return v;
        if (isGroovy && isText(v) && plain(v).length === 1) return char(plain(v));
        return isWhole(v) ? char(String.fromCharCode(Number(v) & 0xffff)) : cannotCast();
      case "BigDecimal":
        return isNumber(v) && isGroovy ? toDecimal(v) : v instanceof BigDecimal ? v : cannotCast();
      case "BigInteger":
        return isNumber(v) && isGroovy ? new BigInteger(truncated(v)) : v instanceof BigInteger ? v : cannotCast();
      case "byte":
      case "Byte":
        if (v instanceof Byte) return v;
        return isNumber(operand(v)) ? new Byte((toInt(operand(v)) << 24) >> 24) : cannotCast();
      case "short":
        return unsupported(type);
      case "Number":
        return isNumber(v) ? v : cannotCast();
      case "List":
      case "Collection":
      case "ArrayList":
        if (isArray(v) && isGroovy) return [...v];
        if (isList(v) && v.isView === "map" && type !== "Collection") return isGroovy ? [...v] : cannotCast();
        if (v instanceof Range) return type === "ArrayList" ? [...v.items] : v;
        return isList(v) || (type === "Collection" && isCollection(v)) ? v : cannotCast();
      case "Set":
      case "HashSet":
      case "LinkedHashSet":
        return v instanceof JavaSet ? v : isGroovy && isCollection(v) ? set(each(v), type === "HashSet" ? "hash" : "linked") : cannotCast();
      default:
        return isA(v, type) || classOf(v) === type || (type === "Map" && v instanceof JavaMap) ? v : cannotCast();
    }
  };
  // BeanShell assigns no wider number to a narrower type.
  const assigned = (type, v) => {
    if (!isGroovy && isNumber(v)) {
      const width = { int: 0, Integer: 0, long: 1, Long: 1, float: 4, Float: 4, double: 4, Double: 4 }[type];
      if (width !== undefined && rank(v) > width) return fail("ClassCastException");
      if (type === "char") return unsupported("a number for char");
    }
    return cast(type, v);
  };
  const passed = (type, v) => {
    v ??= null;
    if (!isGroovy) return assigned(type, v);
    if (v === null) return isPrimitive(type) ? noMethod(0, "call") : null;
    if (type === "String") return isText(v) ? plain(v) : noMethod(v, "call");
    if (type.endsWith("[]")) return isArray(v) ? v : noMethod(v, "call");
    const widths = { int: ["Integer"], long: ["Integer", "Long"], float: ["Integer", "Long", "Float", "BigDecimal", "BigInteger"], double: ["Integer", "Long", "Float", "Double", "BigDecimal", "BigInteger"] };
    const wide = widths[type];
    if (wide !== undefined) return wide.includes(classOf(v)) ? cast(type, v) : noMethod(v, "call");
    if (type === "boolean") return typeof v === "boolean" ? v : noMethod(v, "call");
    if (type === "char") return v instanceof Character ? v : noMethod(v, "call");
    if (type === "def" || type === "var" || type === "Object") return v;
    return isA(v, type) ? v : noMethod(v, "call");
  };
  // An array of bytes holds plain numbers.
  const stored = (item, v) => (item === "byte" ? v.v : v);
  const toArray = (item, v) => {
    if (isArray(v) && v.item === item) return v;
    if (!isGroovy || !isCollection(v)) return cannotCast();
    return array(item, each(v).map((one) => stored(item, cast(item, one))));
  };
  const newArray = (item, length) => {
    if (typeof length !== "number") return unsupported("an array of this length");
    if (length < 0) return fail("RuntimeException", UNTOLD);
    if (length > mostItems) unsupported("an array of this size");
    const begin = { int: 0, long: 0n, float: float(0), double: double(0), boolean: false, byte: 0 }[item];
    return array(item, Array.from({ length }, () => begin ?? null));
  };
  // `value as Type`
  const as = (type, v) => {
    v ??= null;
    if (v === null) return isPrimitive(type) && type !== "boolean" ? cannotCast() : type === "boolean" ? false : null;
    if (isText(v)) {
      const s = plain(v);
      switch (type) {
        case "int":
        case "Integer":
          return methods.String.toInteger(s);
        case "long":
        case "Long":
          return methods.String.toLong(s);
        case "double":
        case "Double":
          return methods.String.toDouble(s);
        case "float":
        case "Float":
          return methods.String.toFloat(s);
        case "BigDecimal":
          return methods.String.toBigDecimal(s);
        case "BigInteger":
          return methods.String.toBigInteger(s);
        case "File":
          return file(s);
        case "List":
          return s.split("");
        case "boolean":
        case "Boolean":
          return s.length > 0;
        default:
      }
    }
    if (type === "Set" && isCollection(v)) return set(each(v));
    if (type === "List" && v instanceof JavaSet) return [...each(v)];
    if (type === "String" && isArray(v)) return unsupported("an array as String");
    if (type === "String" && isCollection(v)) return groovyText(v);
    return cast(type, v);
  };

  // --- Patterns -------------------------------------------------------------------------------------------------------
  const pattern = (source, flags = 0) => object("Pattern", { source, flags });
  // Matches of a pattern in a text: [start, end, start of group 1, …] each, -1 where a group has none.
  const search = (of, s, how) => {
    const told = JSON.parse(host("regex", `${how}${of.flags} ${of.source}`, s));
    if (typeof told === "string") return told.startsWith("!") ? fail("IllegalArgumentException") : unsupported(`the pattern ${told}`);
    return told;
  };
  const asPattern = (v) => (v?.$c === "Pattern" ? v : pattern(shown(v)));
  const matcher = (of, s) => object("Matcher", { of, s, all: null, at: -1, now: null });
  const matcherFound = (m) => {
    const told = (m.all ??= search(m.of, m.s, "f"));
    return told.matches;
  };
  const matcherFinds = (m, again = false) => {
    const all = matcherFound(m);
    m.at = again && m.at < 0 ? 0 : m.at + 1;
    m.now = all[m.at] ?? null;
    return m.now !== null;
  };
  const groupOf = (m, found, group) => (found[2 * group] < 0 ? null : m.s.slice(found[2 * group], found[2 * group + 1]));
  const groupCount = (m) => (m.all ??= search(m.of, m.s, "f")).groups;
  const nowOf = (m) => m.now ?? fail("IllegalStateException", "No match found");
  const matcherItem = (m, found) => {
    const groups = groupCount(m);
    return groups === 0 ? groupOf(m, found, 0) : Array.from({ length: groups + 1 }, (_, i) => groupOf(m, found, i));
  };
  const matcherAll = (m) => matcherFound(m).map((found) => matcherItem(m, found));
  const matcherAt = (m, index) => {
    if (typeof index !== "number") return unsupported("[…] of Matcher with this index");
    const all = matcherFound(m);
    const found = position(all.length, index);
    if (found < 0 || found >= all.length) return fail("IndexOutOfBoundsException", `index is out of range ${index}..${index} (index = ${index})`.slice(0, 0) || UNTOLD);
    m.at = found;
    m.now = all[found];
    return matcherItem(m, all[found]);
  };
  const replacement = (m, found, into) => {
    let out = "";
    for (let i = 0; i < into.length; i += 1) {
      const c = into[i];
      if (c === "\\") {
        i += 1;
        if (i >= into.length) fail("IllegalArgumentException", "character to be escaped is missing");
        out += into[i];
      } else if (c === "$") {
        if (into[i + 1] === "{") return unsupported("${name} in a replacement");
        if (!/\d/.test(into[i + 1] ?? "")) fail("IllegalArgumentException", "Illegal group reference");
        let group = 0;
        let digits = 0;
        while (/\d/.test(into[i + 1] ?? "") && (digits === 0 || group * 10 + Number(into[i + 1]) <= groupCount(m))) {
          group = group * 10 + Number(into[i + 1]);
          digits += 1;
          i += 1;
        }
        if (group > groupCount(m)) fail("IndexOutOfBoundsException", `No group ${group}`);
        out += groupOf(m, found, group) ?? "";
      } else {
        out += c;
      }
    }
    return out;
  };
  const replaceMatches = (m, first, into) => {
    const all = first ? matcherFound(m).slice(0, 1) : matcherFound(m);
    let out = "";
    let end = 0;
    for (const found of all) {
      out += m.s.slice(end, found[0]) + (typeof into === "string" ? replacement(m, found, into) : into(found));
      end = found[1];
    }
    return out + m.s.slice(end);
  };
  const splitBy = (of, s, limit) => {
    const out = [];
    let end = 0;
    for (const [from, to] of search(of, s, "f").matches) {
      if (limit > 0 && out.length === limit - 1) break;
      if (to === 0) continue;
      out.push(s.slice(end, from));
      end = to;
    }
    if (out.length === 0) return [s];
    out.push(s.slice(end));
    if (limit === 0) while (out.length > 0 && out.at(-1) === "") out.pop();
    return out;
  };
  const matchesWhole = (of, s) => search(of, s, "m").matches.length > 0;

  // --- Bytes ----------------------------------------------------------------------------------------------------------
  const encodeUtf8 = (s) => {
    const out = [];
    for (const c of s) {
      let code = c.codePointAt(0);
      if (code >= 0xd800 && code < 0xe000) code = 0x3f;
      if (code < 0x80) out.push(code);
      else if (code < 0x800) out.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) out.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      else out.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return out;
  };
  const signed = (bytes) => array("byte", bytes.map((byte) => (byte << 24) >> 24));
  const charsetOf = (name) => {
    const known = { "UTF-8": "UTF-8", UTF8: "UTF-8", "US-ASCII": "US-ASCII", ASCII: "US-ASCII", "ISO-8859-1": "ISO-8859-1", LATIN1: "ISO-8859-1" };
    return known[name.toUpperCase()] ?? host("encoding", name, "") ?? unsupported(`the encoding ${name}`);
  };
  const hex = (bytes) => bytes.map((byte) => (byte & 0xff).toString(16).padStart(2, "0")).join("");
  const unhexed = (pairs) => signed((pairs.match(/../g) ?? []).map((pair) => parseInt(pair, 16)));
  const OWN_CHARSETS = ["UTF-8", "US-ASCII", "ISO-8859-1"];
  const encode = (s, charset = "UTF-8") => {
    if (charset === "UTF-8") return signed(encodeUtf8(s));
    if (!OWN_CHARSETS.includes(charset)) return unhexed(host("encoded", charset, s) ?? unsupported(`the encoding ${charset}`));
    const most = charset === "US-ASCII" ? 0x7f : 0xff;
    return signed([...s].map((c) => (c.codePointAt(0) > most ? 0x3f : c.codePointAt(0))));
  };
  const decode = (bytes, charset = "UTF-8") => {
    if (!OWN_CHARSETS.includes(charset)) return host("decoded", charset, hex(bytes)) ?? unsupported(`bytes that are not ${charset}`);
    const unsigned = bytes.map((byte) => byte & 0xff);
    if (charset !== "UTF-8") return unsigned.map((byte) => (charset === "US-ASCII" && byte > 0x7f ? "\ufffd" : String.fromCharCode(byte))).join("");
    return host("utf8", unsigned.map((byte) => byte.toString(16).padStart(2, "0")).join(""), "") ?? unsupported("bytes that are not UTF-8");
  };
  const digest = (algorithm, bytes) => unhexed(host("digest", algorithm.toUpperCase(), hex(bytes)) ?? unsupported(`the digest ${algorithm}`));
  const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const BASE64_URL = `${BASE64.slice(0, 62)}-_`;
  const toBase64 = (bytes, alphabet, pads) => {
    let out = "";
    for (let i = 0; i < bytes.length; i += 3) {
      const [a, b, c] = [bytes[i] & 255, bytes[i + 1] & 255, bytes[i + 2] & 255];
      out += alphabet[a >> 2] + alphabet[((a & 3) << 4) | (b >> 4)];
      out += i + 1 < bytes.length ? alphabet[((b & 15) << 2) | (c >> 6)] : pads ? "=" : "";
      out += i + 2 < bytes.length ? alphabet[c & 63] : pads ? "=" : "";
    }
    return out;
  };
  const fromBase64 = (s, alphabet) => {
    const body = s.replace(/={1,2}$/, "");
    if (body.length % 4 === 1 || (s.length > body.length && s.length % 4 !== 0)) fail("IllegalArgumentException");
    const out = [];
    let bits = 0;
    let count = 0;
    for (const c of body) {
      const value = alphabet.indexOf(c);
      if (value < 0) fail("IllegalArgumentException");
      bits = ((bits << 6) | value) & 0xffffff;
      count += 6;
      if (count >= 8) {
        count -= 8;
        out.push((bits >> count) & 255);
      }
    }
    return signed(out);
  };

  // --- JSON -----------------------------------------------------------------------------------------------------------
  const badJson = () => fail("JsonException");
  const parseJson = (s, kind = "linked") => {
    let i = 0;
    const space = () => {
      while (i < s.length && " \t\r\n".includes(s[i])) i += 1;
    };
    const string = () => {
      let out = "";
      for (i += 1; ; i += 1) {
        if (i >= s.length) badJson();
        const c = s[i];
        if (c === '"') break;
        if (c < " ") unsupported("a control character in JSON");
        if (c !== "\\") {
          out += c;
          continue;
        }
        i += 1;
        const simple = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", "/": "/", "\\": "\\", '"': '"' }[s[i]];
        if (simple !== undefined) out += simple;
        else if (s[i] === "u" && /^[0-9a-fA-F]{4}$/.test(s.slice(i + 1, i + 5))) {
          out += String.fromCharCode(parseInt(s.slice(i + 1, i + 5), 16));
          i += 4;
        } else unsupported("this escape in JSON");
      }
      i += 1;
      return out;
    };
    const number = () => {
      const found = /^-?(\d+)(\.\d+)?([eE][+-]?\d+)?/.exec(s.slice(i, i + 400));
      if (found === null) return badJson();
      i += found[0].length;
      if (/^0\d/.test(found[1])) unsupported("a number with leading zeros in JSON");
      if (found[3] !== undefined) return decimal(found[0]);
      if (found[2] !== undefined) return decimal(found[0]);
      const whole = BigInt(found[0]);
      return fits(32, whole) ? Number(whole) : fits(64, whole) ? whole : new BigInteger(whole);
    };
    const value = (deep) => {
      if (deep > 100) unsupported("JSON nested this deeply");
      space();
      const c = s[i];
      if (c === "{") {
        const made = new JavaMap(kind);
        i += 1;
        space();
        if (s[i] === "}") {
          i += 1;
          return made;
        }
        for (;;) {
          space();
          if (s[i] !== '"') badJson();
          const key = string();
          space();
          if (s[i] !== ":") badJson();
          i += 1;
          made.set(key, value(deep + 1));
          space();
          if (s[i] === "}") break;
          if (s[i] !== ",") badJson();
          i += 1;
        }
        i += 1;
        return made;
      }
      if (c === "[") {
        const made = [];
        i += 1;
        space();
        if (s[i] === "]") {
          i += 1;
          return made;
        }
        for (;;) {
          made.push(value(deep + 1));
          space();
          if (s[i] === "]") break;
          if (s[i] !== ",") badJson();
          i += 1;
        }
        i += 1;
        return made;
      }
      if (c === '"') return string();
      for (const [word, meaning] of [["true", true], ["false", false], ["null", null]]) {
        if (s.startsWith(word, i)) {
          i += word.length;
          return meaning;
        }
      }
      if (c === undefined || !/[-0-9]/.test(c)) return badJson();
      return number();
    };
    const parsed = value(0);
    space();
    if (i < s.length) badJson();
    return parsed;
  };
  const jsonText = (s) => {
    let out = '"';
    for (let i = 0; i < s.length; i += 1) {
      const c = s[i];
      const code = s.charCodeAt(i);
      const simple = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f" }[c];
      out += simple ?? (code < 0x20 || code > 0x7e ? `\\u${code.toString(16).padStart(4, "0")}` : c);
    }
    return `${out}"`;
  };
  const toJson = (v, deep = 0) => {
    if (deep > 100) unsupported("JSON nested this deeply");
    if (v === null || v === undefined) return "null";
    if (isText(v)) return jsonText(plain(v));
    if (v instanceof Double && !Number.isFinite(v.v)) return fail("JsonException");
    if (typeof v === "boolean" || isNumber(v)) return text(v);
    if (v instanceof JavaMap) {
      const keyText = (key) => (key === null ? fail("IllegalArgumentException") : jsonText(text(key)));
      return `{${v.pairs().map(([key, value]) => `${keyText(key)}:${toJson(value, deep + 1)}`).join(",")}}`;
    }
    if (isList(v) || v instanceof JavaSet || v instanceof Range) return `[${each(v).map((item) => toJson(item, deep + 1)).join(",")}]`;
    if (isArray(v) && v.item !== "char") return `[${v.map((item) => toJson(item, deep + 1)).join(",")}]`;
    if (v instanceof Character || v.$c === "UUID") return jsonText(text(v));
    return unsupported(`${classOf(v)} as JSON`);
  };
  const prettyJson = (s) => {
    let out = "";
    let deep = 0;
    let i = 0;
    const line = () => {
      out += `\n${"    ".repeat(deep)}`;
    };
    while (i < s.length) {
      const c = s[i];
      if (c === '"') {
        const begin = i;
        for (i += 1; i < s.length && s[i] !== '"'; i += 1) if (s[i] === "\\") i += 1;
        i += 1;
        out += s.slice(begin, i);
        continue;
      }
      if (c === "{" || c === "[") {
        deep += 1;
        out += c;
        line();
      } else if (c === "}" || c === "]") {
        deep -= 1;
        line();
        out += c;
      } else if (c === ",") {
        out += c;
        line();
      } else if (c === ":") out += ": ";
      else if (!/\s/.test(c)) out += c;
      i += 1;
    }
    return out;
  };
