
  // --- Objects of JMeter ----------------------------------------------------------------------------------------------
  function jmeterMethods() {
    const ofInner = (v, name) => (Object.hasOwn(v.inner, name) ? v.inner[name] : unsupported(`${name} of a sub-result`));
    const seen = (v, name) => (v.inner === undefined ? host(v.before ? "seenBefore" : "seen", name, "") : ofInner(v, name));
    const outermost = (v) => (v.inner === undefined ? v : unsupported("a change of a sub-result"));
    const change = (name) => (v, value) => void host(outermost(v).before ? "changeBefore" : "change", name, String(value ?? ""));
    // Samplers without URL write "null" in result files.
    const urlAsText = (v) => (seen(v, "url") === "null" ? "" : seen(v, "url"));
    const stop = (what) => (v, wanted) => void (outermost(v), wanted !== false && host("stop", what, ""));
    const flow = (v, action) => void (outermost(v), host("flow", action === null ? "" : action.name, ""));
    const nextLoop = (v, wanted) => void (outermost(v), host("flow", wanted ? "START_NEXT_ITERATION_OF_THREAD" : "", ""));
    const fact = (name) => host("fact", name, "");
    const variable = (v, name) => host("var", name, "");
    const put = (v, name, value) => {
      forget(name);
      value === null ? host("remove", name, "") : host("put", name, value);
    };
    const property = (v, name, otherwise = null) => host("property", name, "") ?? otherwise;
    // What is no text, or has a key that is none, is an object that all users share.
    const keyed = (name) => (typeof name === "string" ? name : name instanceof GString ? `\u0001${name.s}` : unsupported("a key of a property that is no text"));
    const held = (name) => {
      const key = keyed(name);
      return sharedObject(key) ?? (typeof name === "string" ? host("property", name, "") : null);
    };
    const hold = (v, name, value) => {
      if (name === null || value === null) return noPointer();
      const before = held(name);
      const key = keyed(name);
      if (typeof name === "string" && typeof value === "string") {
        shared.delete(key);
        host("setProperty", name, value);
      } else {
        shareObject(key, value);
      }
      return before;
    };
    // Properties that a script made for itself, or those of JMeter.
    const heldIn = (v, name) => (name === null ? noPointer() : v?.own === undefined ? held(name) : v.own.has(name) ? v.own.get(name) : null);
    const holdIn = (v, name, value) => {
      if (v?.own === undefined) return hold(v, name, value);
      const before = value === null ? noPointer() : heldIn(v, name);
      v.own.set(name, value);
      return before;
    };
    // Each `{}` in the first text is replaced by the next argument, as SLF4J does.
    const said = (first, rest) => {
      if (rest.length === 1 && isArray(rest[0])) rest = [...rest[0]];
      const last = rest.at(-1);
      if (last instanceof Thrown) rest = rest.slice(0, -1);
      let out = first === null ? "null" : first;
      let index = 0;
      if (out.includes("\\{}") && rest.length > 0) unsupported("\\{} in a log line");
      out = out.replace(/\{\}/g, (hole) => (index < rest.length ? javaText(rest[index++]) : hole));
      return last instanceof Thrown && index === rest.length ? `${out} ${last.said === UNTOLD ? last.name : text(last)}` : out;
    };
    const logs = (level) => (v, first, ...rest) => void host("log", level, said(first, rest));
    const level = (enabled) => () => enabled();
    const nothing = () => null;
    const number = (name) => (v) => BigInt(seen(v, name) ?? 0);
    // JMeter notes the number of users behind the sampler.
    const users = (name) => (v) => (v.inner !== undefined ? ofInner(v, name) : owner === "Sampler" && !v.before ? 0 : Number(fact(name)));
    const outcomes = (v) => JSON.parse(seen(v, "asserted") ?? "[]").map(([name, failed, error, message]) => object("AssertionResult", { name, failed, error, message }));
    const ofThis = (v) => (v.name === undefined ? v : unsupported("a change of another assertion's result"));
    return {
      JMeterVariables: {
        get: (v, name) => (objectOf(name) === undefined ? variable(v, name) : fail("ClassCastException")),
        put,
        putObject(v, name, value) {
          for (const one of shared.values()) if (one.value === value) unsupported("an object of the properties in a variable");
          forget(name);
          if (value === null) return void host("remove", name, "");
          host("put", name, javaTextOr(value));
          if (!isText(value)) keep(name, value);
          return null;
        },
        getObject: (v, name) => objectOf(name) ?? variable(v, name),
        remove(v, name) {
          const before = objectOf(name) ?? variable(v, name);
          forget(name);
          host("remove", name, "");
          return before;
        },
        getIteration: () => Number(fact("iteration")),
        getThreadName: () => fact("threadName"),
        entrySet: () => JSON.parse(host("names", "", "")).map((name) => new Entry(null, name, objectOf(name) ?? variable(null, name))),
        putAll: (v, of) => of.pairs().forEach(([name, value]) => (isText(value) ? put(v, text(name), plain(value)) : methods.JMeterVariables.putObject(v, text(name), value))),
      },
      Properties: {
        get: heldIn,
        // Of what is no text it knows nothing.
        getProperty(v, name, otherwise = null) {
          if (v.own === undefined) return property(v, name, otherwise);
          const value = heldIn(v, name);
          return typeof value === "string" ? value : otherwise;
        },
        getOrDefault: (v, name, otherwise) => heldIn(v, name) ?? otherwise,
        put: holdIn,
        putIfAbsent: (v, name, value) => heldIn(v, name) ?? (holdIn(v, name, value), null),
        computeIfAbsent(v, name, run) {
          const before = heldIn(v, name);
          if (before !== null) return before;
          const made = callClosure(run, [name]);
          if (made !== null) holdIn(v, name, made);
          return made;
        },
        setProperty: holdIn,
        containsKey: (v, name) => heldIn(v, name) !== null,
        // A stream is read as Java reads it: one byte is one character.
        load(v, of) {
          const written = of.$c === "FileInputStream" ? methods.FileInputStream.getText(of, "ISO-8859-1") : readRest(of);
          for (const [name, value] of JSON.parse(host("escaped", "properties", written))) holdIn(v, name, value);
          return null;
        },
        remove(v, name) {
          const before = heldIn(v, name);
          if (v.own !== undefined) return v.own.delete(name), before;
          shared.delete(keyed(name));
          host("removeProperty", keyed(name), "");
          return before;
        },
      },
      SampleResult: {
        getSampleLabel: (v) => seen(v, "label"),
        setSampleLabel: change("label"),
        getResponseCode: (v) => seen(v, "code"),
        setResponseCode: change("code"),
        setResponseCodeOK: (v) => change("code")(v, "200"),
        getResponseMessage: (v) => seen(v, "message"),
        setResponseMessage: change("message"),
        setResponseMessageOK: (v) => change("message")(v, "OK"),
        setResponseOK(v) {
          change("code")(v, "200");
          change("message")(v, "OK");
          change("success")(v, "true");
        },
        getResponseDataAsString: (v) => seen(v, "text"),
        getResponseData(v) {
          const bytes = seen(v, "body");
          return bytes === null ? encode(seen(v, "text") ?? "") : unhexed(bytes);
        },
        setResponseData: (v, data) => change("text")(v, data === null ? "" : typeof data === "string" ? data : decode(data)),
        getResponseHeaders: (v) => seen(v, "headers"),
        setResponseHeaders: change("headers"),
        getRequestHeaders: (v) => seen(v, "requestHeaders"),
        setRequestHeaders: change("requestHeaders"),
        getSamplerData: (v) => seen(v, "samplerData"),
        setSamplerData: change("samplerData"),
        getQueryString: (v) => seen(v, "requestBody"),
        getContentType: (v) => seen(v, "contentType"),
        setContentType: change("contentType"),
        getUrlAsString: (v) => urlAsText(v),
        getURL: (v) => (urlAsText(v) === "" ? null : object("URL", { s: urlAsText(v) })),
        getTime: number("elapsed"),
        getLatency: number("latency"),
        getConnectTime: number("connect"),
        // JMeter has begun the sample, and ends it behind its script.
        sampleStart: nothing,
        sampleEnd: nothing,
        getSampleCount: () => 1,
        getDataType: (v) => seen(v, "dataType"),
        isStopThread: () => host("fact", "stopsUser", "") === "true",
        getStartTime: number("start"),
        getTimeStamp: number("start"),
        getEndTime: (v) => (owner === "Sampler" && !v.before ? unsupported("the end of a sample that has not ended") : number("end")(v)),
        getIdleTime: number("idle"),
        getBytesAsLong: number("bytes"),
        getBytes: (v) => Number(number("bytes")(v)),
        getHeadersSize: (v) => Number(number("headBytes")(v)),
        getBodySizeAsLong(v) {
          const bytes = number("bytes")(v) - number("headBytes")(v);
          return bytes > 0n ? bytes : number("bodyBytes")(v);
        },
        getGroupThreads: users("groupThreads"),
        getAllThreads: users("allThreads"),
        getSubResults: (v) => array("SampleResult", JSON.parse(seen(v, "inner") ?? unsupported("the sub-results of a transaction")).map((inner) => object("SampleResult", { inner }))),
        getAssertionResults: (v) => array("AssertionResult", outcomes(v)),
        getFirstAssertionFailureMessage: (v) => outcomes(v).find((one) => one.message !== null)?.message ?? null,
        isSuccessful: (v) => seen(v, "success") === "true",
        isResponseCodeOK: (v) => seen(v, "code") === "200",
        getErrorCount: (v) => (seen(v, "success") === "true" ? 0 : 1),
        setSuccessful: change("success"),
        getThreadName: () => fact("threadName"),
        setDataType: (v, type) => (["text", "bin"].includes(type) ? change("dataType")(v, type) : unsupported("this type of data")),
        // JMeter decodes the body when its text is first asked for, which may have been before this script.
        setDataEncoding(v, name) {
          const charset = name === null ? "UTF-8" : charsetOf(name);
          return host("readsAlike", outermost(v).before ? "before" : "", charset) === "true" ? null : unsupported(`${charset} for a body in another encoding`);
        },
        setIgnore: (v) => change("ignored")(v, "true"),
        setTestLogicalAction: flow,
        setStartNextThreadLoop: nextLoop,
        setStopThread: stop("user"),
        setStopTest: stop("test"),
        setStopTestNow: stop("now"),
        toString: (v) => seen(v, "label"),
      },
      Logger: {
        trace: nothing,
        debug: nothing,
        info: logs("info"),
        warn: logs("warn"),
        error: logs("error"),
        isTraceEnabled: level(() => false),
        isDebugEnabled: level(() => false),
        isInfoEnabled: level(() => fact("keepsLog") === "true"),
        isWarnEnabled: level(() => true),
        isErrorEnabled: level(() => true),
      },
      SampleEvent: {
        getResult: () => HOSTS.result,
        getThreadGroup: () => fact("groupName"),
        isTransactionSampleEvent: () => fact("transaction") === "plain",
      },
      AssertionResult: {
        setFailure: (v, failed) => void (ofThis(v), host("judge", "failed", String(failed))),
        isFailure: (v) => v.failed ?? host("judged", "failed", "") === "true",
        setFailureMessage: (v, message) => void (ofThis(v), host("judge", "message", message ?? "")),
        getFailureMessage: (v) => (v.name === undefined ? host("judged", "message", "") : v.message),
        setError: (v, error) => void (ofThis(v), error && host("judge", "failed", "true")),
        isError: (v) => v.error ?? unsupported("isError of this assertion"),
        getName: (v) => v.name ?? fact("label"),
        toString: (v) => methods.AssertionResult.getName(v),
      },
      ...samplerMethods(),
      JMeterContext: {
        getVariables: () => HOSTS.vars,
        getProperties: () => HOSTS.props,
        getPreviousResult: () => sample(),
        getCurrentSampler: () => HOSTS.sampler,
        getThreadNum: () => Number(fact("threadNumber")) - 1,
        getThreadGroup: () => HOSTS.group,
        getThread: () => HOSTS.thread,
        getEngine: () => HOSTS.engine,
        setTestLogicalAction: flow,
        setStartNextThreadLoop: nextLoop,
        setRestartNextLoop: nextLoop,
      },
      ThreadGroup: {
        getName: () => fact("groupName"),
        getNumThreads: () => Number(fact("groupUsers") ?? unsupported("the number of users of this group")),
        getNumberOfThreads: () => Number(fact("groupThreads")),
      },
      TestLogicalAction: { name: (v) => v.name, toString: (v) => v.name },
      Thread: { getName: () => fact("threadName") },
      JMeterThread: {
        getThreadName: () => fact("threadName"),
        getThreadNum: () => Number(fact("threadNumber")) - 1,
        stop: () => void host("stop", "user", ""),
      },
      Engine: {
        askThreadsToStop: () => void host("stop", "test", ""),
        stopTest: (v, isNow = true) => void host("stop", isNow ? "now" : "test", ""),
      },
      BeanShell: { getArgs: () => HOSTS.args },
    };
  }
  // A property as a value of the same type as this one. Of one that is not, JMeter complains in its log.
  const propertyAs = (like, found) => {
    const wrong = () => unsupported(`the property \`${found}\` as ${classOf(like)}`);
    const isSaid = (...words) => words.includes(found.toLowerCase());
    if (typeof like === "boolean" && (isSaid("true", "t") || isSaid("false", "f"))) return isSaid("true", "t");
    const n = /^[+-]?[0-9]{1,19}$/.test(found) ? BigInt(found.replace("+", "")) : wrong();
    if (!fits(typeof like === "bigint" ? 64 : 32, n)) return wrong();
    return typeof like === "bigint" ? n : typeof like === "boolean" ? n === 1n : Number(n);
  };
  function jmeterStatics() {
    const actions = ["CONTINUE", "START_NEXT_ITERATION_OF_THREAD", "START_NEXT_ITERATION_OF_CURRENT_LOOP", "BREAK_CURRENT_LOOP"];
    const stopThread = (name) => (name === host("fact", "threadName", "") ? (host("stop", "user", ""), true) : unsupported("another user's end"));
    return {
      JMeterUtils: {
        getPropDefault(name, otherwise) {
          const found = host("property", name, "") ?? null;
          if (otherwise === null || isText(otherwise)) return (found ?? otherwise) === null ? null : trimmed(found ?? otherwise);
          return found === null ? otherwise : propertyAs(otherwise, trimmed(found));
        },
        getProperty: (name) => host("property", name, ""),
        setProperty: (name, value) => methods.Properties.setProperty(null, name, value),
        getJMeterProperties: () => HOSTS.props,
        getJMeterVersion: () => "5.6.3",
      },
      SampleResult: { TEXT: "text", BINARY: "bin" },
      TestLogicalAction: Object.fromEntries(actions.map((name) => [name, object("TestLogicalAction", { name })])),
      JMeterContextService: { getContext: () => HOSTS.ctx, getNumberOfThreads: () => Number(host("fact", "allThreads", "")) },
      StandardJMeterEngine: {
        stopThread: stopThread,
        stopThreadNow: stopThread,
        stopEngine: () => void host("stop", "test", ""),
        stopEngineNow: () => void host("stop", "now", ""),
      },
    };
  }
  function jmeterConstructors() {
    return samplerConstructors();
  }
  const HOSTS = {
    vars: object("JMeterVariables", {}),
    props: object("Properties", {}),
    ctx: object("JMeterContext", {}),
    log: object("Logger", {}),
    sampler: null,
    result: object("SampleResult", {}),
    previous: object("SampleResult", { before: true }),
    assertion: object("AssertionResult", {}),
    event: object("SampleEvent", {}),
    group: object("ThreadGroup", {}),
    thread: object("JMeterThread", {}),
    engine: object("StandardJMeterEngine", {}),
    out: object("PrintStream", {}),
    bsh: object("BeanShell", {}),
    args: null,
  };
  let owner = "";
  // In a sampler, a preprocessor and a timer it is the sample before, and on a transaction that of the last sampler.
  const sample = () => {
    const isBehind = ["PostProcessor", "Assertion", "Listener"].includes(owner);
    if (isBehind && host("fact", "transaction", "") === null) return HOSTS.result;
    if (host("fact", "keepsPrevious", "") !== "true") return unsupported("the previous result in this element");
    return host("seenBefore", "label", "") === null ? null : HOSTS.previous;
  };
  const evaluate = (script) => (0, eval)(`(function($,$b){"use strict";${script}\n})`);
  // Objects in variables, by user. Their texts stand in the variables themselves.
  const objects_ = new Map();
  const own = () => host("fact", "user", "");
  const objectOf = (name) => objects_.get(own())?.get(name);
  const keep = (name, value) => {
    if (!objects_.has(own())) objects_.set(own(), new Map());
    objects_.get(own()).set(name, value);
  };
  const forget = (name) => objects_.get(own())?.delete(name);
  const javaTextOr = (value) => {
    try {
      return javaText(value);
    } catch (error) {
      if (error instanceof Unsupported) return "";
      throw error;
    }
  };
  // Variables keep the text that their object has in the end.
  const refresh = () => {
    for (const [name, value] of objects_.get(own()) ?? []) host("put", name, javaTextOr(value));
  };

  // --- Classes of scripts ---------------------------------------------------------------------------------------------
  const ownClasses = Object.create(null);
  const dispatched = (all, args) => all.find(([least, most]) => args.length >= least && args.length <= most)?.[2] ?? (() => noMethod(all, "call"));
  const typeOf = (of, name) => {
    for (let at = of; ownClasses[at] !== undefined; at = classes[at].parent) if (name in ownClasses[at].types) return ownClasses[at].types[name];
    return undefined;
  };
  const assignOwn = (v, name, value) => (v.fields[name] = assigned(typeOf(v.$c, name) ?? "", value));
  const define = (name, parent, fields, constants, all) => {
    const own = { fields, types: Object.create(null), constants: Object.create(null), made: Object.fromEntries(constants), statics: Object.create(null), creators: [] };
    ownClasses[name] = own;
    classes[name] = { name, qualified: name, parent, methods: Object.create(null), statics: Object.create(null), fields: [] };
    methods[name] = Object.create(null);
    const table = Object.create(null);
    const add = (called, least, most, run) => {
      (table[called] ??= []).push([least, most, run]);
      for (let count = least; count <= most; count += 1) (classes[name].methods[called] ??= []).push({ groovy: true, types: Array(count).fill("Object"), more: false });
      methods[name][called] = (v, ...args) => dispatched(table[called], args)(v, ...args);
    };
    for (const [called, isStatic, least, most, run] of all) {
      if (called === "") own.creators.push([least, most, run]);
      else if (isStatic) (own.statics[called] ??= []).push([least, most, run]);
      else add(called, least, most, run);
    }
    for (const [field, type] of fields) {
      own.types[field] = type;
      const has = (called, count) => (table[called] ?? []).some(([least, most]) => count >= least && count <= most);
      if (!has(`get${capital(field)}`, 0)) add(`get${capital(field)}`, 0, 0, (v) => v.fields[field] ?? null);
      if (!has(`set${capital(field)}`, 1)) add(`set${capital(field)}`, 1, 1, (v, value) => void assignOwn(v, field, value));
    }
    texts[name] = (v) => (overloads(name, "toString").some((one) => ownClasses[one.of] !== undefined) ? text(call(v, "toString", [])) : unsupported(`the text of ${name}`));
  };
  const newOwn = (of, args) => {
    const v = object(of, { fields: Object.create(null) });
    const line = [];
    for (let at = of; ownClasses[at] !== undefined; at = classes[at].parent) line.unshift(at);
    for (const at of line) for (const [name, , begins] of ownClasses[at].fields) v.fields[name] = begins(v);
    const fitting = ownClasses[of].creators.find(([least, most]) => args.length >= least && args.length <= most);
    if (line.length > 1 && fitting === undefined && line.some((at) => ownClasses[at].creators.length > 0)) return unsupported(`the constructors of ${of}`);
    if (line.length > 1 && fitting !== undefined && line.slice(0, -1).some((at) => ownClasses[at].creators.some(([least]) => least > 0))) return unsupported(`the constructors of ${of}`);
    if (fitting !== undefined) {
      for (const at of line.slice(0, -1)) ownClasses[at].creators.find(([least]) => least === 0)?.[2](v);
      fitting[2](v, ...args);
      return v;
    }
    // Named values of properties.
    ownClasses[of].creators.find(([least]) => least === 0)?.[2](v);
    for (const [name, value] of args[0]?.pairs() ?? []) setProperty(v, text(name), () => value);
    return v;
  };

  // --- Objects in properties ------------------------------------------------------------------------------------------
  // They pass from script to script as texts: each thread has an engine of its own. What this script uses, with its text.
  const shared = new Map();
  const FIELDS = [
    "AtomicBoolean", "AtomicInteger", "AtomicLong", "AtomicReference", "Charset", "Date", "DateTimeFormatter", "GregorianCalendar", "Instant", "JsonSlurper",
    "LocalDate", "LocalDateTime", "LocalTime", "Locale", "OffsetDateTime", "Pattern", "Random", "SecureRandom", "SimpleDateFormat", "StringBuffer",
    "StringBuilder", "TimeZone", "Timestamp", "URL", "UUID", "ZoneId", "ZoneOffset", "ZonedDateTime",
  ];
  const pack = (v, deep = 0) => {
    if (deep > 50) unsupported("an object nested this deeply in a property");
    const packed = (items) => items.map((item) => pack(item, deep + 1));
    if (v === null || v === undefined) return null;
    if (["string", "boolean", "number"].includes(typeof v)) return v;
    if (typeof v === "bigint") return ["l", String(v)];
    if (v instanceof GString) return ["g", v.s];
    if (v instanceof Character) return ["c", v.s];
    if (v instanceof Float) return ["f", String(v.v)];
    if (v instanceof Double) return ["d", Object.is(v.v, -0) ? "-0" : String(v.v)];
    if (v instanceof Byte) return ["y", v.v];
    if (v instanceof BigInteger) return ["B", String(v.v)];
    if (v instanceof BigDecimal) return ["D", String(v.u), v.scale];
    if (v.isView) unsupported("a part of a collection in a property");
    const seal = v.isSealed ? 2 : v.isFixed ? 1 : 0;
    if (isArray(v)) return ["a", v.item, v.item === "byte" ? [...v] : packed(v)];
    if (isList(v)) return v.kind === "NodeList" ? unsupported("a property of class NodeList") : ["L", v.kind ?? "", seal, packed(v)];
    if (v instanceof Range) return ["R", pack(v.from), pack(v.to), v.reverse, packed(v.items)];
    if (v instanceof JavaMap) {
      if (v.otherwise !== undefined) unsupported("a map with a closure in a property");
      const bins = v.bins?.map((keys) => packed(keys)) ?? null;
      return ["M", v.kind, v.capacity, seal, [...v.held.values()].map((pair) => packed(pair)), bins];
    }
    if (v instanceof JavaSet) return ["S", pack(v.held, deep + 1)];
    if (FIELDS.includes(v.$c)) return ["o", v.$c, Object.entries(v).map(([name, value]) => [name, pack(value, deep + 1)])];
    return unsupported(`a property of class ${classOf(v)}`);
  };
  const unpack = (p) => {
    if (!Array.isArray(p)) return p;
    const [kind, a, b, c, d, e] = p;
    const sealedBy = (made, seal) => (seal === 2 ? sealed(made) : seal === 1 ? fixed(made) : made);
    switch (kind) {
      case "l":
        return BigInt(a);
      case "g":
        return new GString(a);
      case "c":
        return char(a);
      case "f":
        return float(Number(a));
      case "d":
        return double(Number(a));
      case "y":
        return new Byte(a);
      case "B":
        return new BigInteger(BigInt(a));
      case "D":
        return new BigDecimal(BigInt(a), b);
      case "a":
        return array(a, a === "byte" ? b : b.map(unpack));
      case "L": {
        const made = c.map(unpack);
        if (a !== "") Object.defineProperty(made, "kind", { value: a });
        return sealedBy(made, b);
      }
      case "R":
        return new Range(unpack(a), unpack(b), c, d.map(unpack));
      case "M": {
        const made = new JavaMap(a);
        for (const [key, value] of d.map((pair) => pair.map(unpack))) made.held.set(keyOf(key), [key, value]);
        made.capacity = b;
        if (e !== null) made.bins = e.map((keys) => keys.map(unpack));
        return sealedBy(made, c);
      }
      case "S": {
        const made = new JavaSet("linked");
        made.held = unpack(a);
        return made;
      }
      default:
        return object(a, Object.fromEntries(b.map(([name, value]) => [name, unpack(value) ?? (value === null && name === "zone" ? undefined : null)])));
    }
  };
  // The object with this key; null: there is none, or it is a text.
  const sharedObject = (key) => {
    if (shared.has(key)) return shared.get(key).value;
    if (host("object", key, "") === null) return null;
    host("alone", "", "");
    const packed = host("object", key, "");
    if (packed === null) return null;
    const value = unpack(JSON.parse(packed));
    shared.set(key, { value, packed });
    return value;
  };
  const keepShared = (key, packed) => {
    const refused = host("putObject", key, packed);
    if (refused !== "") unsupported(refused);
  };
  const shareObject = (key, value) => {
    host("alone", "", "");
    const packed = JSON.stringify(pack(value));
    keepShared(key, packed);
    shared.set(key, { value, packed });
  };
  // Others get what the script made of its objects once it has ended.
  const settleShared = () => {
    try {
      for (const [key, one] of shared) {
        const packed = JSON.stringify(pack(one.value));
        if (packed !== one.packed) keepShared(key, packed);
      }
    } finally {
      shared.clear();
    }
  };

  const $ = {
    unset: Symbol("unset"),
    missing: (name) => fail("MissingPropertyException", UNTOLD),
    set: (v, name) => (v === $.unset ? fail(isGroovy ? "MissingPropertyException" : "RuntimeException", isGroovy ? UNTOLD : UNTOLD) : v),
    t: truth,
    eq: equal,
    // `==` of BeanShell between values that may be objects: those are compared by identity.
    identical: (a, b) => (isNumber(a) && isNumber(b) && a !== null ? unsupported("`==` between numbers that may be objects") : equal(a, b)),
    cmp,
    spaceship: (a, b) => Math.sign(cmp(a, b)),
    add,
    sum: (all) => all.reduce((a, b) => add(a, b)),
    subtract,
    multiply,
    divide,
    quotient: numbers("intdiv", wholeOnly(quotient)),
    remainder,
    power,
    shiftLeft: (a, b) => (isNumber(operand(a)) ? shift((v, by) => v << by)(a, b) : numbers("leftShift")(a, b)),
    shiftRight: shift((v, by) => v >> by),
    shiftUnsigned: shift((v, by, size) => unsigned(size, v) >> by),
    and: numbers("and", wholeOnly((a, b) => a & b)),
    or: numbers("or", wholeOnly((a, b) => a | b)),
    xor: numbers("xor", wholeOnly((a, b) => a ^ b)),
    negative,
    positive: (v) => (isNumber(operand(v)) ? operand(v) : noMethod(v, "positive")),
    inverted: (v) => (isWhole(v) ? (typeof v === "number" ? ~v : long(~v)) : unsupported("`~` of this value")),
    next,
    previous: (v) => next(v, -1),
    first: (v) => v,
    elvis,
    isCase: (of, v) => {
      if (of === null || of === undefined) return v === null || v === undefined;
      if (of.$c === "Class") return isA(v, of.name);
      if (isCollection(of) || isArray(of)) return LIST.contains(of, v) || (of instanceof Range && each(of).some((item) => equal(item, v)));
      if (of instanceof JavaMap) return truth(of.has(v) ? of.get(v) : null);
      if (of.$c === "Pattern") return v !== null && v !== undefined && matchesWhole(of, shown(v));
      if (typeof of === "function") return truth(callClosure(of, [v]));
      return equal(v, of);
    },
    choose(v, cases) {
      for (const [index, of] of cases) if (isGroovy ? $.isCase(of(), v) : isText(v) ? STRING.equals(v, of()) : equal(v, of())) return index;
      return -1;
    },
    class: (name) => object("Class", { name }),
    find: (s, of) => matcher(asPattern(of), shown(s)),
    matches: (s, of) => (s === null || s === undefined ? false : matchesWhole(asPattern(of), shown(s))),
    pattern: (s) => pattern(plain(s)),
    range,
    list: (items) => items,
    map: (pairs) => map(pairs),
    gstring: (parts) => new GString(parts.map((part) => (typeof part === "string" ? part : part[0] instanceof Range ? listed(part[0].items, groovyText) : groovyText(part[0]))).join("")),
    char,
    double,
    float,
    decimal,
    bigInteger,
    closure,
    open,
    define,
    own: (v, name) => v.fields[name] ?? null,
    setOwn: (v, name, value) => assignOwn(v, name, value),
    constant: (of, name) => (ownClasses[of].constants[name] ??= { value: ownClasses[of].made[name]() }).value,
    ownStatic: (of, name, args) => dispatched(ownClasses[of].statics[name], args)(...args) ?? null,
    newOwn,
    // The object that a closure of a JsonBuilder describes by calls, each of which is an entry.
    jsonObject(describe) {
      const made = map([]);
      describe(made);
      return made;
    },
    jsonEntry(made, name, args) {
      if (args.some((arg) => typeof arg === "function")) unsupported("this closure of a JsonBuilder");
      const value = args.length === 1 ? args[0] : args;
      made.set(name, value);
      return value ?? null;
    },
    jsonItems: (items, describe) => (isCollection(items) || isArray(items) ? each(items).map(describe) : unsupported("a closure of a JsonBuilder for this value")),
    jsonRoot: (builder, name, value) => (builder.content = map([[name, value]])),
    reference,
    classReference,
    // Entries that `*:` puts into a map.
    pairs: (v) => (v === null || v === undefined ? [] : v instanceof JavaMap ? v.pairs() : unsupported("`*:` of this value")),
    // Scripts of other users wait until this one has ended.
    alone: () => void host("alone", "", ""),
    call,
    safeCall: (v, name, args) => (v === null || v === undefined ? null : call(v, name, args())),
    spreadCall: (v, name, args) => (v === null || v === undefined ? null : each(v).map((item) => $.safeCall(item, name, args))),
    property,
    safeProperty: (v, name) => (v === null || v === undefined ? null : property(v, name)),
    spreadProperty: (v, name) => (v === null || v === undefined ? null : each(v).map((item) => (item === null ? null : property(item, name)))),
    key: (v) => plain(v),
    setProperty,
    at,
    setAt,
    static: invokeStatic,
    field: (of, name) => statics[of][name],
    new: make,
    newArray,
    array: (item, items) => array(item, items.map((one) => stored(item, assigned(item, one)))),
    each,
    many,
    nth: at,
    before: (change) => {
      change.before = true;
      return change;
    },
    cast,
    as,
    assigned,
    passed,
    isA,
    isAny: (v, names) => names.some((name) => isA(v, name)),
    thrown: (v) => (v instanceof Thrown ? v : noPointer()),
    declared: (type, v) => (!isGroovy && isNumber(v) && ["int", "long"].includes(type) ? cast(type, v) : assigned(type, v)),
    // What is not Java's goes through every `catch` of the script.
    caught(error) {
      if (error instanceof Thrown) return error;
      throw error;
    },
    failed: () => fail("AssertionError"),
    print: () => null,
  };
  const compiled = new Map();
  const describedAs = (v) => (Array.isArray(v) || v instanceof Range ? (isArray(v) ? "Array" : "List") : v instanceof JavaMap ? "Map" : v instanceof JavaSet ? "Set" : classOf(v));
  // What the outside calls with the JavaScript that a script was translated to.
  return {
    compile(number, script, forgets) {
      if (forgets) compiled.clear();
      compiled.set(number, evaluate(script));
    },
    // Gives the value of a script as a text or null, and the variables of the element that it set.
    run(dialect, number, begins) {
      isGroovy = dialect === "groovy";
      const given = JSON.parse(begins);
      owner = given.owner;
      HOSTS.args = array("String", given.args ?? []);
      HOSTS.sampler = beginRequest();
      const $b = { ...HOSTS, SampleResult: HOSTS.result, sampleResult: HOSTS.result, sampleEvent: HOSTS.event, AssertionResult: HOSTS.assertion, OUT: HOSTS.out, ...given };
      $b.args = HOSTS.args;
      for (const name of ["data", "ResponseData"]) if (typeof given[name] === "string") $b[name] = methods.SampleResult.getResponseData(HOSTS.result);
      $b.threadName = host("fact", "threadName", "");
      // Read where a script has this variable, and only there. Functions do not have it before the first result.
      const missing = () => (owner === "Function" ? fail("MissingPropertyException") : null);
      Object.defineProperty($b, "prev", { get: () => sample() ?? missing() });
      let value, outputs;
      try {
        [value, outputs] = compiled.get(number)($, $b);
        refuseSpilled();
      } finally {
        spilled = [];
        settleShared();
        endRequest();
      }
      refresh();
      const set = {};
      for (const name of Object.keys(outputs)) {
        const one = outputs[name];
        if (name in given && (isText(one) || ["boolean", "number"].includes(typeof one))) set[name] = text(one);
      }
      return JSON.stringify([value === null || value === undefined ? null : javaText(value), set]);
    },
    // Gives class and text of the value, or the exception that ended the script.
    describe(dialect, script) {
      isGroovy = dialect === "groovy";
      try {
        const [value] = evaluate(script)($, HOSTS);
        refuseSpilled();
        return value === null || value === undefined ? "null" : `${describedAs(value)}:${isArray(value) ? listed(value, javaText) : isGroovy ? groovyText(value) : javaText(value)}`;
      } catch (error) {
        if (error instanceof Thrown) return `!${classes[error.$c]?.qualified ?? error.$c}${typeof error.said === "string" ? `:${error.said}` : ""}`;
        throw error;
      }
    },
    // Members of the library that nothing carries out: a script could call them, and fail only then.
    unmade() {
      const isMade = (act) => act !== undefined && !(typeof act === "function" && /^(\([^)]*\)|\w+)\s*=>\s*unsupported\(/.test(act.toString()));
      const inherited = (name, member) => {
        for (let at = name; at; at = classes[at]?.parent) if (methods[at] !== undefined && Object.hasOwn(methods[at], member)) return methods[at][member];
        return undefined;
      };
      const missing = [];
      for (const { name, methods: own, statics: shared, fields } of Object.values(classes)) {
        for (const member of Object.keys(own)) if (!isMade(inherited(name, member))) missing.push(`${name}.${member}`);
        for (const member of Object.keys(shared)) {
          const act = member === "new" ? (inherits(name, "Throwable") ? true : constructors[name]) : statics[name]?.[member];
          if (!isMade(act)) missing.push(`static ${name}.${member}`);
        }
        for (const field of fields) if (statics[name]?.[field] === undefined) missing.push(`static ${name}.${field}`);
      }
      return missing.join("\n");
    },
  };
})
