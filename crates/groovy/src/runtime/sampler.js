
  // --- The current sampler and its request ----------------------------------------------------------------------------
  // Parts that a script does not set are rendered by the outside whenever they are read, as in JMeter. What it set is told
  // to the outside once it has ended.
  let lent = null;
  // The cookie manager of the sampler; undefined: not asked for.
  let jar = undefined;
  const cookieManager = () => {
    if (jar !== undefined) return jar;
    const told = host("cookies", "describe", "");
    if (told === null) return (jar = null);
    const items = JSON.parse(told).map((one) => object("Cookie", { ...one, expires_s: BigInt(one.expires_s) }));
    return (jar = object("CookieManager", { items, isTouched: false }));
  };
  const endCookies = () => {
    if (!jar?.isTouched) return;
    const plain = ({ name, value, domain, host_only, path, secure, expires_s }) => ({ name, value, domain, host_only, path, secure, expires_s: String(expires_s) });
    if (host("cookies", "change", JSON.stringify(jar.items.map(plain))) === null) unsupported("this change of the cookies");
  };
  const addCookie = (manager, cookie) => {
    const isSame = (kept) => kept.name === cookie.name && kept.path === cookie.path && kept.domain === cookie.domain;
    manager.items = changed(manager).filter((kept) => !isSame(kept));
    if (cookie.value !== "") manager.items.push(cookie);
  };
  const setOfCookie = (name) => (cookie, value) => {
    cookie[name] = value;
    if (jar?.items.includes(cookie)) jar.isTouched = true;
  };
  const beginRequest = () => {
    lent = null;
    jar = undefined;
    const told = host("request", "describe", "");
    if (told === null) return object("Sampler", {});
    const { arguments: count, headers } = JSON.parse(told);
    const numbered = ($c, length) => Array.from({ length }, (_, from) => object($c, { from, isOwn: true }));
    lent = {
      fields: {},
      arguments: object("Arguments", { items: numbered("HTTPArgument", count), isOurs: true, isTouched: false }),
      manager: headers === null ? null : object("HeaderManager", { items: numbered("Header", headers), isOurs: true, isTouched: false }),
    };
    return object("HTTPSamplerProxy", {});
  };
  const endRequest = () => {
    endCookies();
    if (lent === null) return;
    const { fields, arguments: list, manager } = lent;
    if (Object.keys(fields).length === 0 && !list.isTouched && !manager?.isTouched) return;
    const from = (item) => item.from ?? null;
    const argument = (item) => ({ from: from(item), is_own: item.isOwn === true, name: item.name, value: item.value, encode: item.encode, separator: item.separator, content_type: item.type });
    const header = (item) => ({ from: from(item), is_own: item.isOwn === true, name: item.name, value: item.value });
    const left = {
      fields,
      arguments: list.isTouched ? { is_replaced: !list.isOurs, items: list.items.map(argument) } : null,
      headers: manager?.isTouched ? { is_replaced: !manager.isOurs, items: manager.items.map(header) } : null,
    };
    if (host("request", "change", JSON.stringify(left)) === null) unsupported("this change of the sampler");
  };
  const rendered = (what) => {
    const told = host("request", "get", what);
    return told.startsWith("=") ? told.slice(1) : unsupported(told.slice(1));
  };
  const field = (name) => lent.fields[name] ?? rendered(name);
  const setField = (name) => (v, value) => {
    // JMeter removes such a property for good.
    if (value === null) unsupported("null for a property of the sampler");
    lent.fields[name] = String(value);
  };
  const part = (list, name) => (item) => item[name] ?? (item.from === undefined ? "" : rendered(`${list} ${item.from} ${name}`));
  const touched = (item) => {
    for (const list of lent === null ? [] : [lent.arguments, lent.manager]) if (list?.items.includes(item)) list.isTouched = true;
  };
  const setPart = (name) => (item, value) => {
    if (value === null) unsupported("null for a part of the sampler");
    item[name] = value;
    touched(item);
  };
  const flag = (text) => text === "true";
  const ARGUMENT = { name: part("argument", "name"), value: part("argument", "value"), separator: part("argument", "separator") };
  const isEncoded = (item) => item.encode ?? (item.from === undefined ? false : flag(rendered(`argument ${item.from} encode`)));
  const HEADER = { name: part("header", "name"), value: part("header", "value") };
  const argumentOf = (name, value, { separator = "=", decodes = false } = {}) => {
    if (name === null || value === null) unsupported("null for a part of the sampler");
    const plainly = (text) => (decodes ? urlDecoded(text) : text);
    return object("HTTPArgument", { name: plainly(name), value: plainly(value), encode: true, separator });
  };
  const changed = (list) => {
    list.isTouched = true;
    return list.items;
  };
  // An argument that is added is another one than that of the plan, even if a script took it from there.
  const addArgument = (list, item) => void changed(list).push(item.isOwn ? object(item.$c, { ...item, isOwn: false }) : item);
  const without = (list, gone) => {
    list.items = changed(list).filter((item) => !gone(item));
    return null;
  };
  const itemAt = (list, index) => (index < 0 || index >= list.items.length ? fail("IndexOutOfBoundsException", index < 0 ? UNTOLD : `Index ${index} out of bounds for length ${list.items.length}`) : list.items[index]);
  const encodedAs = (item, text) => (isEncoded(item) ? javaUrl(text) : text);
  const queryString = () => {
    if (!["", "UTF-8"].includes(field("encoding").trim().toUpperCase())) unsupported("a query in this encoding");
    const named = lent.arguments.items.filter((item) => ARGUMENT.name(item) !== "");
    return named.map((item) => encodedAs(item, ARGUMENT.name(item)) + ARGUMENT.separator(item) + encodedAs(item, ARGUMENT.value(item))).join("&");
  };
  const pathOf = () => field("path").replace(/ /g, "%20");
  const protocolOf = () => field("protocol") || "http";
  const portOf = () => {
    const number = /^[+-]?\d+$/.test(field("port").trim()) ? Number(field("port").trim()) : 0;
    return number !== 0 ? number : protocolOf().toLowerCase() === "https" ? 443 : 80;
  };
  const urlOf = () => {
    const path = pathOf();
    if (/^https?:\/\//.test(path)) return object("URL", { s: path });
    const query = ["GET", "DELETE", "OPTIONS"].includes(field("method")) ? queryString() : "";
    const mark = query === "" ? "" : path.includes("?") ? "&" : "?";
    const isDefault = portOf() === (protocolOf().toLowerCase() === "https" ? 443 : 80);
    return object("URL", { s: `${protocolOf()}://${field("domain")}${isDefault ? "" : `:${portOf()}`}${path.startsWith("/") ? "" : "/"}${path}${mark}${query}` });
  };
  const setPath = (v, path) => {
    setField("path")(v, path);
    const begins = path.indexOf("?");
    if (/^https?:\/\//.test(path) || !["GET", "DELETE"].includes(field("method")) || begins < 0) return;
    setField("path")(v, path.slice(0, begins));
    for (const pair of path.slice(begins + 1).split("&")) {
      const sign = pair.indexOf("=");
      const [name, value] = sign < 0 ? [pair, ""] : [pair.slice(0, sign), pair.slice(sign + 1)];
      if (name === "") continue;
      const item = argumentOf(name, value, { separator: sign < 0 ? "" : "=", decodes: true });
      if (item.name === javaUrl(item.name) && item.value === javaUrl(item.value)) item.encode = false;
      addArgument(lent.arguments, item);
    }
  };
  const parsedUrl = (v) => {
    const found = /^(https?):\/\/([^/?#:]*)(?::(\d+))?([^?#]*)(?:\?([^#]*))?$/.exec(v.s);
    return found ?? unsupported("a part of this URL");
  };
  const managerOf = (list) => {
    if (lent.manager === null) return list.items;
    const names = lent.manager.items.map((item) => HEADER.name(item).toLowerCase());
    return [...lent.manager.items, ...list.items.filter((item) => !names.includes(HEADER.name(item).toLowerCase()))];
  };
  function samplerMethods() {
    const plainArgument = (list, name, value) => {
      // Such an argument is not one of HTTP: in a query it is encoded, elsewhere the sample fails.
      if (!["GET", "DELETE", "OPTIONS"].includes(field("method"))) unsupported("addArgument(name, value) of the arguments of a request with a body");
      addArgument(list, argumentOf(name, value));
    };
    return {
      Sampler: {
        getName: () => lent?.name ?? host("fact", "sampler", ""),
        setName(v, name) {
          if (lent !== null) lent.name = name;
          host("rename", name, "");
        },
        getThreadName: () => host("fact", "threadName", ""),
        setEnabled: () => null,
      },
      HTTPSamplerBase: {
        getArguments: () => lent.arguments,
        setArguments(v, list) {
          lent.arguments = list;
          changed(list);
        },
        addArgument(v, name, value, separator) {
          addArgument(lent.arguments, argumentOf(name, value, { separator }));
        },
        addNonEncodedArgument(v, name, value, separator) {
          const item = argumentOf(name, value, { separator });
          item.encode = false;
          addArgument(lent.arguments, item);
        },
        addEncodedArgument(v, name, value, separator) {
          const item = argumentOf(name, value, { separator, decodes: true });
          if (item.name === javaUrl(item.name) && item.value === javaUrl(item.value)) item.encode = false;
          addArgument(lent.arguments, item);
        },
        hasArguments: () => lent.arguments.items.length > 0,
        getHeaderManager: () => lent.manager,
        setHeaderManager(v, list) {
          const merged = managerOf(list);
          const isOurs = lent.manager === null && list.isOurs;
          lent.manager = lent.manager === null ? list : object("HeaderManager", { items: merged.map((item) => object("Header", { ...item })), isOurs });
          changed(lent.manager);
        },
        getDomain: () => field("domain"),
        setDomain: setField("domain"),
        getPath: pathOf,
        setPath,
        getPort: portOf,
        setPort: setField("port"),
        getProtocol: protocolOf,
        setProtocol: (v, name) => setField("protocol")(v, name === null ? noPointer() : name.toLowerCase()),
        getMethod: () => field("method"),
        setMethod: setField("method"),
        getContentEncoding: () => field("encoding"),
        setContentEncoding: setField("encoding"),
        getPostBodyRaw: () => flag(field("raw")),
        setPostBodyRaw: setField("raw"),
        getFollowRedirects: () => flag(field("follow")),
        setFollowRedirects: setField("follow"),
        getAutoRedirects: () => flag(field("auto")),
        setAutoRedirects: setField("auto"),
        getUseKeepAlive: () => flag(field("keep")),
        setUseKeepAlive: setField("keep"),
        getDoMultipart: () => flag(field("multipart")),
        setDoMultipart: setField("multipart"),
        setDoMultipartPost: setField("multipart"),
        setConnectTimeout: setField("connect"),
        setResponseTimeout: setField("response"),
        getQueryString: queryString,
        getUrl: urlOf,
        getCookieManager: cookieManager,
        getProperty(v, name) {
          if (name === "HTTPSampler.cookie_manager") return object("JMeterProperty", { held: cookieManager() });
          if (name === "HTTPSampler.header_manager") return object("JMeterProperty", { held: lent.manager });
          return unsupported(`the property ${name} of the sampler`);
        },
      },
      JMeterProperty: { getObjectValue: (v) => v.held },
      CookieManager: {
        getCookieCount: (v) => v.items.length,
        get: itemAt,
        add: addCookie,
        remove: (v, index) => void changed(v).splice(v.items.indexOf(itemAt(v, index)), 1),
      },
      Cookie: {
        getName: (v) => v.name,
        setName: setOfCookie("name"),
        getValue: (v) => v.value,
        setValue: setOfCookie("value"),
        getDomain: (v) => v.domain,
        setDomain: setOfCookie("domain"),
        getPath: (v) => v.path,
        setPath: setOfCookie("path"),
        getSecure: (v) => v.secure,
        setSecure: setOfCookie("secure"),
        getExpires: (v) => v.expires_s,
        setExpires: (v, seconds) => setOfCookie("expires_s")(v, BigInt(seconds)),
      },
      Arguments: {
        getArgumentCount: (list) => list.items.length,
        getArgument: (list, index) => (index >= list.items.length ? null : itemAt(list, index)),
        addArgument(list, a, b) {
          b === undefined ? addArgument(list, a) : plainArgument(list, a, b);
        },
        removeArgument: (list, what) => (typeof what === "number" ? without(list, (item) => item === list.items[what]) : without(list, (item) => ARGUMENT.name(item) === what)),
        removeAllArguments: (list) => without(list, () => true),
        getArgumentsAsMap: (list) => {
          const made = map([]);
          for (const item of list.items) if (!made.has(ARGUMENT.name(item))) made.set(ARGUMENT.name(item), ARGUMENT.value(item));
          return made;
        },
      },
      Argument: {
        getName: ARGUMENT.name,
        setName: setPart("name"),
        getValue: ARGUMENT.value,
        setValue: setPart("value"),
        getMetaData: ARGUMENT.separator,
        setMetaData: setPart("separator"),
      },
      HTTPArgument: {
        isAlwaysEncoded: isEncoded,
        setAlwaysEncoded: setPart("encode"),
        setContentType: setPart("type"),
      },
      HeaderManager: {
        add: (list, item) => void changed(list).push(item),
        get: itemAt,
        getHeader: itemAt,
        size: (list) => list.items.length,
        remove: (list, index) => without(list, (item) => item === itemAt(list, index)),
        removeHeaderNamed: (list, name) => without(list, (item) => HEADER.name(item).toLowerCase() === (name === null ? null : name.toLowerCase())),
        getFirstHeaderNamed: (list, name) => list.items.find((item) => HEADER.name(item).toLowerCase() === (name === null ? null : name.toLowerCase())) ?? null,
      },
      Header: { getName: HEADER.name, setName: setPart("name"), getValue: HEADER.value, setValue: setPart("value"), toString: (item) => `${HEADER.name(item)}\t${HEADER.value(item)}` },
      URL: {
        toString: (v) => v.s,
        toExternalForm: (v) => v.s,
        getProtocol: (v) => parsedUrl(v)[1],
        getHost: (v) => parsedUrl(v)[2],
        getPort: (v) => Number(parsedUrl(v)[3] ?? -1),
        getPath: (v) => parsedUrl(v)[4],
        getQuery: (v) => parsedUrl(v)[5] ?? null,
      },
    };
  }
  function samplerConstructors() {
    return {
      HTTPArgument(name, value, third, fourth) {
        const separator = typeof third === "string" ? third : "=";
        return argumentOf(name, value, { separator, decodes: third === true || fourth === true });
      },
      Arguments: () => object("Arguments", { items: [], isOurs: false, isTouched: true }),
      HeaderManager: () => object("HeaderManager", { items: [], isOurs: false, isTouched: true }),
      Cookie(name = "", value = "", domain = "", path = "", secure = false, expires_s = 0n) {
        const dotless = domain.startsWith(".") ? domain.slice(1) : domain;
        return object("Cookie", { name, value, domain: dotless, host_only: domain === "", path, secure, expires_s: BigInt(expires_s) });
      },
      Header: (name = "", value = "") => object("Header", { name: name ?? unsupported("null for a part of the sampler"), value: value ?? unsupported("null for a part of the sampler") }),
    };
  }
