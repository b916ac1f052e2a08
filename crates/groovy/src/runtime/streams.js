
  // --- Streams --------------------------------------------------------------------------------------------------------
  // Items are taken one by one when the last stage asks for them, as in Java: what stages do is done in the same order.
  const streamOf = (items, $c = "Stream") => object($c, { items, isUsed: false });
  const using = (v) => {
    if (v.isUsed) fail("IllegalStateException", "stream has already been operated upon or closed");
    v.isUsed = true;
    return v.items;
  };
  const staged = (make, $c) => (v, ...args) => streamOf(make(using(v), ...args), $c ?? v.$c);
  const give = (run, ...args) => callClosure(run, args);
  // A closure in the place of a Java interface gives exactly that type.
  const holds = (run, item) => {
    const told = give(run, item);
    return typeof told === "boolean" ? told : fail("ClassCastException", UNTOLD);
  };
  const wholeOf = (run, ...args) => {
    const told = give(run, ...args);
    return typeof told === "number" ? told : fail("ClassCastException", UNTOLD);
  };
  const counted = (n) => (n < 0n ? fail("IllegalArgumentException", String(n)) : Number(n));
  const optional = (found) => object("Optional", { found: found ?? null });
  const optionalOf = (item) => (item === null ? noPointer() : optional({ item }));
  const sortedBy = (items, run) => (run === undefined ? withGroovy(() => ordered(items)) : [...items].sort((a, b) => wholeOf(run, a, b)));
  const folded = (items, run) => items.reduce((a, b) => give(run, a, b));
  const bestOf = (v, run, sign) => {
    const items = [...using(v)];
    return items.length === 0 ? optional(null) : optionalOf(items.reduce((a, b) => (wholeOf(run, a, b) * sign >= 0 ? a : b)));
  };
  const collector = (finish) => object("Collector", { finish });
  const groupedBy = (items, keyFor, finish) => {
    const groups = map([], "hash");
    for (const item of items) {
      const key = give(keyFor, item) ?? noPointer();
      groups.has(key) ? groups.get(key).push(item) : groups.set(key, [item]);
    }
    return map(groups.pairs().map(([key, found]) => [key, finish(found)]), "hash");
  };
  const mapped = (items, keyFor, valueFor, merge) => {
    const made = map([], "hash");
    for (const item of items) {
      const [key, value] = [give(keyFor, item), give(valueFor, item) ?? noPointer()];
      if (!made.has(key)) made.set(key, value);
      else if (merge === undefined) fail("IllegalStateException", `Duplicate key ${javaText(key)} (attempted merging values ${javaText(made.get(key))} and ${javaText(value)})`);
      else made.set(key, give(merge, made.get(key), value));
    }
    return made;
  };
  function streamMethods() {
    const STREAM = {
      filter: staged(function* (items, run) {
        for (const item of items) if (holds(run, item)) yield item;
      }),
      map: staged(function* (items, run) {
        for (const item of items) yield give(run, item);
      }),
      mapToInt: staged(function* (items, run) {
        for (const item of items) yield wholeOf(run, item);
      }, "IntStream"),
      flatMap: staged(function* (items, run) {
        for (const item of items) {
          const inner = give(run, item);
          if (inner !== null) yield* inner.$c === "Stream" ? using(inner) : fail("ClassCastException", UNTOLD);
        }
      }),
      distinct: staged(function* (items) {
        const seen = set([], "hash");
        for (const item of items) if (addItem(seen, item)) yield item;
      }),
      sorted: staged(function* (items, run) {
        yield* sortedBy([...items], run);
      }),
      limit: staged(function* (items, most) {
        let left = counted(most);
        if (left === 0) return;
        for (const item of items) {
          yield item;
          left -= 1;
          if (left === 0) return;
        }
      }),
      skip: staged(function* (items, many) {
        let left = counted(many);
        for (const item of items) if (left === 0) yield item;
        else left -= 1;
      }),
      peek: staged(function* (items, run) {
        for (const item of items) {
          give(run, item);
          yield item;
        }
      }),
      forEach(v, run) {
        for (const item of using(v)) give(run, item);
      },
      collect: (v, by) => by.finish([...using(v)]),
      toList: (v) => [...using(v)],
      toSet: (v) => set([...using(v)], "hash"),
      toArray: (v) => array("Object", [...using(v)]),
      reduce: (v, a, b) => {
        const items = [...using(v)];
        if (b !== undefined) return items.reduce((sum, item) => give(b, sum, item), a);
        return items.length === 0 ? optional(null) : optionalOf(folded(items, a));
      },
      count: (v) => BigInt([...using(v)].length),
      anyMatch(v, run) {
        for (const item of using(v)) if (holds(run, item)) return true;
        return false;
      },
      allMatch(v, run) {
        for (const item of using(v)) if (!holds(run, item)) return false;
        return true;
      },
      noneMatch: (v, run) => !STREAM.anyMatch(v, run),
      findFirst(v) {
        for (const item of using(v)) return optionalOf(item);
        return optional(null);
      },
      findAny: (v) => STREAM.findFirst(v),
      min: (v, run) => bestOf(v, run, -1),
      max: (v, run) => bestOf(v, run, 1),
    };
    const whole = (v, act) => {
      const items = [...using(v)];
      return items.length === 0 ? object("OptionalInt", { found: null }) : object("OptionalInt", { found: { item: act(items) } });
    };
    const got = (v) => (v.found === null ? fail("NoSuchElementException", "No value present") : v.found.item);
    return {
      Stream: STREAM,
      IntStream: {
        ...STREAM,
        map: STREAM.mapToInt,
        mapToObj: staged(function* (items, run) {
          for (const item of items) yield give(run, item);
        }, "Stream"),
        boxed: staged((items) => items, "Stream"),
        sum: (v) => [...using(v)].reduce((a, b) => (a + b) | 0, 0),
        min: (v) => whole(v, (items) => Math.min(...items)),
        max: (v) => whole(v, (items) => Math.max(...items)),
        toArray: (v) => array("int", [...using(v)]),
      },
      Optional: {
        isPresent: (v) => v.found !== null,
        isEmpty: (v) => v.found === null,
        get: got,
        orElse: (v, otherwise) => (v.found === null ? otherwise : v.found.item),
        ifPresent: (v, run) => void (v.found !== null && give(run, v.found.item)),
      },
      OptionalInt: { isPresent: (v) => v.found !== null, getAsInt: got, orElse: (v, otherwise) => (v.found === null ? otherwise : v.found.item) },
      Collector: {},
    };
  }
  function streamStatics() {
    const between = (a, b) => (b - a > mostItems ? unsupported("a stream of this size") : streamOf(a >= b ? [] : range(a, b, false).items, "IntStream"));
    const asTexts = (items) => items.map((item) => (item === null ? "null" : isText(item) || item instanceof Character ? javaText(item) : fail("ClassCastException", UNTOLD)));
    return {
      Stream: { of: (...items) => streamOf(items.length === 1 && isArray(items[0]) ? each(items[0]) : items) },
      IntStream: { range: between, rangeClosed: (a, b) => (b === 2147483647 ? unsupported("a stream of this size") : between(a, b + 1)), of: (...items) => streamOf(items, "IntStream") },
      Collectors: {
        toList: () => collector((items) => items),
        toSet: () => collector((items) => set(items, "hash")),
        joining: (by = "", before = "", behind = "") => collector((items) => before + asTexts(items).join(by) + behind),
        counting: () => collector((items) => BigInt(items.length)),
        groupingBy: (keyFor, inner) => collector((items) => groupedBy(items, keyFor, inner === undefined ? (found) => found : inner.finish)),
        toMap: (keyFor, valueFor, merge) => collector((items) => mapped(items, keyFor, valueFor, merge)),
      },
    };
  }
