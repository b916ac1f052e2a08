// The objects that scripts can use, implemented with host(name, a, b), which takes texts and returns a text or null.
(function (outside) {
  const host = (name, a, b) => outside(name, a, b) ?? null;
  const text = (value) => (value === undefined || value === null ? null : String(value));
  const number = (value) => Number(value ?? 0);

  // Random numbers and the clock are those of the run.
  Math.random = () => Number(host("random", "", ""));
  const Moment = Date;
  const now = () => Number(host("now", "", ""));
  function RunDate(...parts) {
    if (!new.target) return new Moment(now()).toString();
    return parts.length === 0 ? new Moment(now()) : new Moment(...parts);
  }
  RunDate.prototype = Moment.prototype;
  RunDate.now = now;
  RunDate.parse = Moment.parse;
  RunDate.UTC = Moment.UTC;
  Moment.prototype.constructor = RunDate;
  globalThis.Date = RunDate;

  // An unknown name is an error, not undefined.
  const closed = (name, known) =>
    new Proxy(known, {
      get(target, key) {
        if (key in target || typeof key === "symbol") return target[key];
        throw new TypeError(`${name}.${String(key)} is not known here`);
      },
    });

  const names = () => JSON.parse(host("names", "", ""));
  const variable = (name) => host("var", String(name), "");
  const put = (name, value) => {
    const said = text(value);
    said === null ? host("remove", String(name), "") : host("put", String(name), said);
  };
  const vars = closed("vars", {
    get: variable,
    put,
    getObject: variable,
    putObject: put,
    remove(name) {
      const before = variable(name);
      host("remove", String(name), "");
      return before;
    },
    getIteration: () => number(host("fact", "iteration", "")),
    getThreadName: () => host("fact", "threadName", ""),
    entrySet: () => names().map((key) => ({ key, value: variable(key), getKey: () => key, getValue: () => variable(key) })),
  });

  const property = (name, otherwise) => host("property", String(name), "") ?? otherwise ?? null;
  const setProperty = (name, value) => {
    const before = property(name);
    host("setProperty", String(name), text(value) ?? "");
    return before;
  };
  const props = closed("props", {
    get: (name) => property(name),
    getProperty: property,
    getOrDefault: property,
    put: setProperty,
    setProperty,
    containsKey: (name) => property(name) !== null,
  });

  const stop = (what) => (wanted) => void (wanted !== false && host("stop", what, ""));
  const missing = (what) => {
    throw new TypeError(`${what} are not known here`);
  };
  // A sub-result, to read.
  const inner = (of) =>
    closed("the sub-result", {
      getSampleLabel: () => of.label,
      getResponseCode: () => of.code,
      getResponseMessage: () => of.message,
      getResponseDataAsString: () => of.text,
      getResponseHeaders: () => of.headers,
      getRequestHeaders: () => of.requestHeaders,
      getSamplerData: () => of.samplerData,
      getQueryString: () => of.requestBody,
      getUrlAsString: () => (of.url === "null" ? "" : of.url),
      getStartTime: () => number(of.start),
      getEndTime: () => number(of.end),
      getTime: () => number(of.elapsed),
      getLatency: () => number(of.latency),
      getConnectTime: () => number(of.connect),
      getBytesAsLong: () => number(of.bytes),
      getBytes: () => number(of.bytes),
      isSuccessful: () => of.success === "true",
      isResponseCodeOK: () => of.code === "200",
    });
  // The sample of an element, or the one before.
  const sampled = (read, write) => {
    const seen = (name) => host(read, name, "");
    const change = (name) => (value) => void host(write, name, text(value) ?? "");
    return closed("prev", {
      getSampleLabel: () => seen("label"),
      setSampleLabel: change("label"),
      getResponseCode: () => seen("code"),
      setResponseCode: change("code"),
      setResponseCodeOK: () => void host(write, "code", "200"),
      getResponseMessage: () => seen("message"),
      setResponseMessage: change("message"),
      setResponseMessageOK: () => void host(write, "message", "OK"),
      setResponseOK() {
        host(write, "code", "200");
        host(write, "message", "OK");
        host(write, "success", "true");
      },
      getResponseDataAsString: () => seen("text"),
      setResponseData: change("text"),
      getResponseHeaders: () => seen("headers"),
      getRequestHeaders: () => seen("requestHeaders"),
      getSamplerData: () => seen("samplerData"),
      getQueryString: () => seen("requestBody"),
      getUrlAsString: () => seen("url"),
      getURL: () => seen("url"),
      getTime: () => number(seen("elapsed")),
      getLatency: () => number(seen("latency")),
      getConnectTime: () => number(seen("connect")),
      getBytesAsLong: () => number(seen("bytes")),
      getBytes: () => number(seen("bytes")),
      getHeadersSize: () => number(seen("headBytes")),
      getBodySizeAsLong: () => Math.max(number(seen("bytes")) - number(seen("headBytes")), 0) || number(seen("bodyBytes")),
      isSuccessful: () => seen("success") === "true",
      isResponseCodeOK: () => seen("code") === "200",
      setSuccessful: change("success"),
      getThreadName: () => host("fact", "threadName", ""),
      getSubResults: () => JSON.parse(seen("inner") ?? missing("the sub-results of a transaction")).map(inner),
      getErrorCount: () => (seen("success") === "true" ? 0 : 1),
      setDataType() {},
      setIgnore: () => void host(write, "ignored", "true"),
      setStopThread: stop("user"),
      setStopTest: stop("test"),
      setStopTestNow: stop("now"),
    });
  };
  const result = sampled("seen", "change");
  const before = sampled("seenBefore", "changeBefore");

  // Each `{}` in the first text is replaced by the next argument.
  const said = (first, ...rest) => [String(first).replace(/\{\}/g, (hole) => (rest.length > 0 ? String(rest.shift()) : hole)), ...rest.map(String)].join(" ");
  const log = closed("log", {
    trace() {},
    debug() {},
    info: (...words) => void host("log", "info", said(...words)),
    isDebugEnabled: () => false,
    isInfoEnabled: () => host("fact", "keepsLog", "") === "true",
    warn: (...words) => void host("log", "warn", said(...words)),
    error: (...words) => void host("log", "error", said(...words)),
  });

  const sampler = closed("sampler", { getName: () => host("fact", "sampler", "") });
  const judge = closed("AssertionResult", {
    setFailure: (failed) => void host("judge", "failed", String(failed)),
    isFailure: () => host("judged", "failed", "") === "true",
    setFailureMessage: (message) => void host("judge", "message", text(message) ?? ""),
    getFailureMessage: () => host("judged", "message", ""),
  });
  const group = closed("threadGroup", { getName: () => host("fact", "groupName", "") });
  const thread = closed("thread", {
    getThreadName: () => host("fact", "threadName", ""),
    getThreadNum: () => number(host("fact", "threadNumber", "")) - 1,
    stop: () => host("stop", "user", ""),
  });
  const transaction = () => host("fact", "transaction", "");
  // In a sampler, a preprocessor and a timer it is the sample before, and on a transaction that of the last sampler.
  const sample = () => {
    const isBehind = ["PostProcessor", "Assertion", "Listener"].includes(host("fact", "owner", ""));
    if (isBehind && transaction() === null) return result;
    return host("seenBefore", "label", "") === null ? null : before;
  };
  const ctx = closed("ctx", {
    getVariables: () => vars,
    getProperties: () => props,
    getPreviousResult: sample,
    getCurrentSampler: () => sampler,
    getThreadNum: () => number(host("fact", "threadNumber", "")) - 1,
    getThreadGroup: () => group,
    getThread: () => thread,
    getEngine: () => ({ askThreadsToStop: () => host("stop", "test", ""), stopTest: () => host("stop", "now", "") }),
  });
  const event = closed("sampleEvent", {
    getResult: () => result,
    getThreadGroup: () => host("fact", "groupName", ""),
    isTransactionSampleEvent: () => transaction() === "plain",
  });
  const OUT = { println: () => {}, print: () => {} };

  const own = new Set(Reflect.ownKeys(globalThis));
  const clean = () => {
    for (const key of Reflect.ownKeys(globalThis)) if (!own.has(key)) delete globalThis[key];
  };
  const evaluate = (function () {
    return function (vars, props, ctx, log, prev, SampleResult, sampleResult, sampler, AssertionResult, OUT, Label, Parameters, args, threadName, sampleEvent) {
      return eval(arguments[15]);
    };
  })();
  return function (script) {
    const prev = sample();
    const parameters = host("fact", "parameters", "") ?? "";
    const args = parameters.split(/\s+/).filter((word) => word !== "");
    try {
      return text(
        evaluate(vars, props, ctx, log, prev, result, result, sampler, judge, OUT, host("fact", "label", ""), parameters, args, host("fact", "threadName", ""), event, script),
      );
    } finally {
      clean();
    }
  };
});
