
  // --- Files, their readers and writers -------------------------------------------------------------------------------
  // What a plan may use is decided by the outside with every call. A refusal ends the script past its own `catch`: it
  // is no exception of Java.
  const askFile = (what, path, more = {}, $c = "FileNotFoundException") => {
    if (path.includes("\0")) unsupported("a file whose name has a null character");
    const missing = (why) => fail($c, $c === "NoSuchFileException" ? path : `${path} (${why})`);
    if (path === "") return ["about", "list"].includes(what) ? null : missing("No such file or directory");
    const told = JSON.parse(host("file", what, JSON.stringify({ path, ...more })) ?? '{"refused":"it cannot be used here"}');
    if (told.refused !== undefined) throw new Unsupported(`the file \`${path}\`: ${told.refused}`);
    return told.error === undefined ? told.value : missing(told.error);
  };
  const folders = () => askFile("folders", ".");
  const about = (path) => askFile("about", path);
  const asHex = (bytes) => ({ bytes: hex(bytes) });
  const fileBytes = (path, $c) => signed((askFile("bytes", path, {}, $c).match(/../g) ?? []).map((pair) => parseInt(pair, 16)));
  const charsetName = (v) => (v === undefined ? "UTF-8" : typeof v === "string" ? v : v.name);
  const fileText = (path, charset, $c) => askFile("read", path, { charset: charsetName(charset) }, $c);
  // Groovy takes the mark in front of a text for none of it where no charset is named.
  const ownText = (path, charset) => {
    const s = fileText(path, charset);
    return charset === undefined && s.startsWith("\ufeff") ? s.slice(1) : s;
  };
  const putFile = (path, what, appends, $c) => void askFile("write", path, { ...what, appends }, $c);
  const textFor = (s, charset) => ({ text: s, charset: charsetName(charset) });

  // As java.io.File takes a name: without doubled slashes, and without one at the end.
  const cleanPath = (s) => s.replace(/\/+/g, "/").replace(/(.)\/$/, "$1");
  const file = (s) => object("File", { path: cleanPath(s) });
  const path = (s) => object("Path", { path: cleanPath(s) });
  const under = (parent, child) => (child === "" ? parent : cleanPath(parent === "" ? `/${child}` : `${parent}/${child}`));
  const isAbsolute = (s) => s.startsWith("/");
  const wholePath = (s) => (isAbsolute(s) ? s : under(folders()[0], s));
  const nameOf = (s) => s.slice(s.lastIndexOf("/") + 1);
  const parentOf = (s) => {
    const at = s.lastIndexOf("/");
    return at < 0 || s === "/" ? null : at === 0 ? "/" : s.slice(0, at);
  };
  const mayBe = (make) => (s) => (s === null ? null : make(s));
  const makeFolders = (s) => {
    if (s === "" || about(s) !== null) return false;
    if (askFile("make", s)) return true;
    const parent = parentOf(wholePath(s));
    return parent !== null && (makeFolders(parent) || about(parent) !== null) && askFile("make", s);
  };
  const notNull = (value) => (value === null ? unsupported("null for a file") : value);

  // A writer keeps what it is given until it is flushed or closed, and then writes it at once. Java's writers do so
  // when they hold 8192 characters, too; how much of a longer text stands in a file that is never closed is not told.
  const MOST_KEPT = 8192;
  let spilled = [];
  const stream = (path, appends) => {
    putFile(path, { text: "" }, appends);
    return { path, isClosed: false };
  };
  const putOut = (to, what) => (to.isClosed ? fail("IOException", "Stream Closed") : putFile(to.path, what, true));
  const newWriter = ($c, of) => object($c, { kept: "", isClosed: false, ...of });
  const fileWriter = ($c, to, charset) => newWriter($c, { to, charset: charsetName(charset) });
  const bufferedWriter = (inner) => newWriter("BufferedWriter", { inner });
  const writerFor = (path, charset, appends) => bufferedWriter(fileWriter("FileWriter", stream(path, appends), charset));
  const printWriter = (inner, flushes = false) => newWriter("PrintWriter", { inner, flushes });
  const streamClosed = () => fail("IOException", "Stream closed");
  // A PrintWriter tells nobody of its troubles.
  const quietly = (w, act) => {
    if (w.$c !== "PrintWriter") return act();
    try {
      return act();
    } catch (error) {
      if (!(error instanceof Thrown) || !inherits(error.$c, "IOException")) throw error;
      return null;
    }
  };
  const pour = (w) => {
    const s = w.kept;
    w.kept = "";
    if (s === "") return;
    w.inner === undefined ? putOut(w.to, textFor(s, w.charset)) : putText(w.inner, s);
  };
  const putText = (w, s) => {
    if (w.$c === "PrintWriter") return w.isClosed ? null : quietly(w, () => putText(w.inner, s));
    if (w.isClosed) return streamClosed();
    w.kept = joined(w.kept, s);
    if (w.kept.length <= MOST_KEPT) return null;
    pour(w);
    if (!spilled.includes(w)) spilled.push(w);
    return null;
  };
  const flushWriter = (w) =>
    quietly(w, () => {
      if (w.isClosed) return w.$c === "PrintWriter" ? null : streamClosed();
      pour(w);
      if (w.inner !== undefined) flushWriter(w.inner);
      return null;
    });
  const closeWriter = (w) =>
    quietly(w, () => {
      if (w.isClosed) return null;
      try {
        pour(w);
      } finally {
        w.isClosed = true;
        if (w.inner !== undefined) closeWriter(w.inner);
        else w.to.isClosed = true;
      }
      return null;
    });
  const refuseSpilled = () => {
    const isLost = (w) => !w.isClosed && (w.kept !== "" || (w.inner?.kept ?? "") !== "");
    const lost = spilled.some(isLost);
    spilled = [];
    if (lost) unsupported("a writer of more than 8 KiB that is not closed");
  };
  const closing = (w, run, close) => {
    try {
      const value = callClosure(run, [w]);
      if (close === closeWriter) flushWriter(w);
      return value;
    } finally {
      close(w);
    }
  };
  const withCharset = (act) => (v, a, b) => (b === undefined ? act(v, undefined, a) : act(v, a, b));

  const newReader = ($c, s) => object($c, { s, at: 0, isClosed: false });
  const reading = (r) => (r.isClosed ? streamClosed() : r);
  const readLine = (r) => {
    const { s, at } = reading(r);
    if (at >= s.length) return null;
    const end = /\r\n|\n|\r/g;
    end.lastIndex = at;
    const found = end.exec(s);
    r.at = found === null ? s.length : end.lastIndex;
    return s.slice(at, found?.index);
  };
  const readRest = (r) => {
    const { s, at } = reading(r);
    r.at = s.length;
    r.isClosed = true;
    return s.slice(at);
  };
  const closeReader = (r) => void (r.isClosed = true);
  const eachLineOf = (s, first, run) => {
    let last = null;
    lines(s).forEach((line, i) => (last = callClosure(run, run.count === 2 ? [line, first + i] : [line])));
    return last;
  };
  const eachPart = (s, by, run) => {
    let last = null;
    for (const line of lines(s)) last = callClosure(run, [line === "" ? [""] : splitBy(asPattern(by), line, 0)]);
    return last;
  };
  const streamText = (v, charset) => {
    if (v.isClosed) return fail("IOException", "Stream Closed");
    v.isClosed = true;
    return fileText(v.path, charset);
  };
  const printed = (w, s) => {
    putText(w, s);
    if (w.flushes) flushWriter(w);
  };
  function fileMethods() {
    const READER = {
      readLine,
      read(r) {
        const { s, at } = reading(r);
        if (at >= s.length) return -1;
        r.at += 1;
        return s.charCodeAt(at);
      },
      ready: (r) => reading(r).at < r.s.length,
      close: closeReader,
      getText: readRest,
      readLines: (r) => lines(readRest(r)),
      eachLine: (r, a, b) => (b === undefined ? eachLineOf(readRest(r), 1, a) : eachLineOf(readRest(r), a, b)),
      splitEachLine: (r, by, run) => eachPart(readRest(r), by, run),
      withReader: (r, run) => closing(r, run, closeReader),
    };
    const WRITER = {
      write: (w, s) => putText(w, typeof s === "number" ? String.fromCharCode(s & 0xffff) : s),
      append(w, s) {
        putText(w, s === null ? "null" : s instanceof Character ? s.s : isText(s) ? plain(s) : unsupported("append of this value"));
        return w;
      },
      flush: flushWriter,
      close: closeWriter,
      leftShift(w, v) {
        putText(w, groovyText(v));
        return w;
      },
      newLine: (w) => putText(w, "\n"),
      writeLine(w, s) {
        putText(w, s);
        return putText(w, "\n");
      },
      withWriter: (w, run) => closing(w, run, closeWriter),
    };
    const PRINT = {
      print: (w, v) => void putText(w, shown(v)),
      println: (w, v) => printed(w, `${v === undefined ? "" : shown(v)}\n`),
      printf(w, of, ...args) {
        printed(w, format(of, ...args));
        return w;
      },
    };
    return {
      File: {
        toString: (v) => v.path,
        getName: (v) => nameOf(v.path),
        getPath: (v) => v.path,
        getParent: (v) => parentOf(v.path),
        getParentFile: (v) => mayBe(file)(parentOf(v.path)),
        getAbsolutePath: (v) => wholePath(v.path),
        getAbsoluteFile: (v) => file(wholePath(v.path)),
        toPath: (v) => path(v.path),
        isAbsolute: (v) => isAbsolute(v.path),
        exists: (v) => about(v.path) !== null,
        isFile: (v) => about(v.path)?.folder === false,
        isDirectory: (v) => about(v.path)?.folder === true,
        canRead: (v) => about(v.path) !== null,
        canWrite: (v) => about(v.path) !== null,
        length: (v) => {
          const found = about(v.path);
          return found?.folder ? unsupported("the length of a folder") : BigInt(found?.bytes ?? 0);
        },
        size: (v) => methods.File.length(v),
        lastModified: (v) => BigInt(about(v.path)?.changed ?? 0),
        mkdir: (v) => v.path !== "" && about(v.path) === null && askFile("make", v.path),
        mkdirs: (v) => makeFolders(v.path),
        delete: (v) => v.path !== "" && about(v.path) !== null && askFile("remove", v.path),
        createNewFile(v) {
          if (about(v.path) !== null) return false;
          try {
            putFile(v.path, { text: "" }, true);
          } catch (error) {
            if (error instanceof Thrown) fail("IOException", UNTOLD);
            throw error;
          }
          return true;
        },
        list: (v) => mayBe((names) => array("String", names))(askFile("list", v.path)),
        listFiles: (v) => mayBe((names) => array("File", names.map((name) => file(under(v.path, name)))))(askFile("list", v.path)),
        eachFile(v, run) {
          const names = askFile("list", v.path) ?? fail("FileNotFoundException", v.path);
          for (const name of names) callClosure(run, [file(under(v.path, name))]);
          return null;
        },
        getText: (v, charset) => ownText(v.path, charset),
        setText: (v, s, charset) => putFile(v.path, textFor(s, charset), false),
        write: (v, s, charset) => putFile(v.path, textFor(s, charset), false),
        append: (v, of, charset) => putFile(v.path, isArray(notNull(of)) && of.item === "byte" ? asHex(of) : textFor(groovyText(of), charset), true),
        leftShift(v, of) {
          methods.File.append(v, of);
          return v;
        },
        readLines: (v, charset) => lines(ownText(v.path, charset)),
        eachLine(v, ...rest) {
          const run = rest.pop();
          const first = typeof rest.at(-1) === "number" ? rest.pop() : 1;
          return eachLineOf(ownText(v.path, rest[0]), first, run);
        },
        splitEachLine: (v, by, run) => eachPart(ownText(v.path), by, run),
        getBytes: (v) => fileBytes(v.path),
        readBytes: (v) => fileBytes(v.path),
        setBytes: (v, bytes) => putFile(v.path, asHex(bytes), false),
        newReader: (v, charset) => newReader("BufferedReader", ownText(v.path, charset)),
        newInputStream: (v) => constructors.FileInputStream(v),
        withInputStream: (v, run) => closing(constructors.FileInputStream(v), run, methods.FileInputStream.close),
        withReader: withCharset((v, charset, run) => closing(newReader("BufferedReader", ownText(v.path, charset)), run, closeReader)),
        newWriter: (v, a, b) => (typeof a === "boolean" ? writerFor(v.path, undefined, a) : writerFor(v.path, a, b === true)),
        newPrintWriter: (v, charset) => printWriter(writerFor(v.path, charset, false)),
        withWriter: withCharset((v, charset, run) => closing(writerFor(v.path, charset, false), run, closeWriter)),
        withWriterAppend: withCharset((v, charset, run) => closing(writerFor(v.path, charset, true), run, closeWriter)),
        withPrintWriter: withCharset((v, charset, run) => closing(printWriter(writerFor(v.path, charset, false)), run, closeWriter)),
      },
      Path: {
        toString: (v) => v.path,
        toFile: (v) => file(v.path),
        getFileName: (v) => path(nameOf(v.path)),
        getParent: (v) => mayBe(path)(parentOf(v.path)),
        resolve: (v, other) => (isAbsolute(other) ? path(other) : path(v.path === "" ? other : under(v.path, other))),
        toAbsolutePath: (v) => path(wholePath(v.path)),
      },
      Reader: READER,
      Writer: WRITER,
      PrintWriter: PRINT,
      FileInputStream: {
        getText: (v, charset) => streamText(v, charset),
        readLines: (v, charset) => lines(streamText(v, charset)),
        eachLine: (v, run) => eachLineOf(streamText(v), 1, run),
        getBytes(v) {
          if (v.isClosed) return fail("IOException", "Stream Closed");
          v.isClosed = true;
          return fileBytes(v.path);
        },
        readAllBytes: (v) => methods.FileInputStream.getBytes(v),
        close: (v) => void (v.isClosed = true),
      },
      FileOutputStream: {
        write: (v, bytes) => putOut(v, asHex(typeof bytes === "number" ? [bytes] : bytes)),
        leftShift(v, of) {
          putOut(v, isArray(of) ? asHex(of) : textFor(groovyText(notNull(of))));
          return v;
        },
        flush: () => null,
        close: (v) => void (v.isClosed = true),
      },
      Scanner: {
        hasNextLine: (v) => (v.isClosed ? fail("IllegalStateException", "Scanner closed") : v.at < v.s.length),
        nextLine: (v) => (v.isClosed ? fail("IllegalStateException", "Scanner closed") : (readLine(v) ?? fail("NoSuchElementException", "No line found"))),
        close: closeReader,
      },
      FileServer: {
        getBaseDir: () => folders()[1],
        getScriptName: () => host("fact", "plan", ""),
      },
    };
  }
  const NO_PATH = "NoSuchFileException";
  // What `Files` opens: by default a file that is made or emptied.
  const openedBy = (at, options, what) => {
    const names = options.map((option) => option.name);
    const found = about(at) !== null;
    const makes = names.length === 0 || names.some((name) => name.startsWith("CREATE"));
    if (found && names.includes("CREATE_NEW")) return fail("FileAlreadyExistsException", at);
    if (!found && !makes) return fail(NO_PATH, at);
    const empties = names.length === 0 || names.includes("TRUNCATE_EXISTING");
    const appends = names.includes("APPEND");
    if (found && !empties && !appends) return unsupported("writing over the beginning of a file");
    if (empties && appends) return fail("IllegalArgumentException", "APPEND + TRUNCATE_EXISTING not allowed");
    putFile(at, what, appends, NO_PATH);
    return path(at);
  };
  const linesText = (items) => each(items).map((line) => `${isText(line) ? plain(line) : fail("ClassCastException")}\n`).join("");
  // Commons IO makes the folders of a file that it writes.
  const commonsWrite = (v, s, charset, appends) => {
    const parent = parentOf(v.path);
    if (parent !== null) makeFolders(parent);
    putFile(v.path, textFor(s === null ? "" : s, charset), appends);
  };
  function fileStatics() {
    return {
      File: { separator: "/", pathSeparator: ":" },
      Paths: { get: (first, ...more) => path([first, ...more].filter((part) => part !== "").join("/")) },
      Path: { of: (first, ...more) => statics.Paths.get(first, ...more) },
      StandardOpenOption: Object.fromEntries(["APPEND", "CREATE", "CREATE_NEW", "TRUNCATE_EXISTING", "WRITE"].map((name) => [name, object("StandardOpenOption", { name })])),
      Files: {
        readAllBytes: (v) => fileBytes(v.path, NO_PATH),
        readString: (v, charset) => fileText(v.path, charset, NO_PATH),
        readAllLines: (v, charset) => lines(fileText(v.path, charset, NO_PATH)),
        lines: (v) => streamOf(lines(fileText(v.path, undefined, NO_PATH))),
        write: (v, what, ...options) => openedBy(v.path, options, isArray(what) ? asHex(what) : textFor(linesText(what))),
        writeString: (v, s, ...options) => openedBy(v.path, options, textFor(s)),
        exists: (v) => about(v.path) !== null,
        notExists: (v) => about(v.path) === null,
        isDirectory: (v) => about(v.path)?.folder === true,
        isRegularFile: (v) => about(v.path)?.folder === false,
        size: (v) => (about(v.path) === null ? fail(NO_PATH, v.path) : methods.File.length(v)),
        delete: (v) => void (about(v.path) === null ? fail(NO_PATH, v.path) : askFile("remove", v.path) || unsupported("deleting this folder")),
        deleteIfExists: (v) => about(v.path) !== null && (askFile("remove", v.path) || unsupported("deleting this folder")),
        createDirectories(v) {
          makeFolders(v.path);
          return about(v.path)?.folder ? v : unsupported("making this folder");
        },
      },
      FileUtils: {
        readFileToString: (v, charset) => fileText(v.path, charset, NO_PATH),
        readLines: (v, charset) => lines(fileText(v.path, charset, NO_PATH)),
        readFileToByteArray: (v) => fileBytes(v.path, NO_PATH),
        writeStringToFile: (v, s, a, b) => (typeof a === "boolean" ? commonsWrite(v, s, undefined, a) : commonsWrite(v, s, a ?? undefined, b === true)),
      },
      FileServer: { getFileServer: () => object("FileServer", {}) },
    };
  }
  function fileConstructors() {
    const pathOf = (v) => (typeof v === "string" ? cleanPath(v) : v.path);
    const bufferedFile = (v, charset) => bufferedWriter(fileWriter("OutputStreamWriter", stream(pathOf(v), false), charset));
    return {
      File: (a, b) => (b === undefined ? file(a) : file(under(pathOf(a), b))),
      FileReader: (v, charset) => newReader("FileReader", fileText(pathOf(v), charset)),
      StringReader: (s) => newReader("StringReader", s),
      BufferedReader: (r) => newReader("BufferedReader", reading(r).s.slice(r.at)),
      InputStreamReader: (v, charset) => newReader("InputStreamReader", streamText(v, charset)),
      FileInputStream(v) {
        const at = pathOf(v);
        const found = about(at);
        if (found === null || found.folder) fail("FileNotFoundException", `${at} (${found === null ? "No such file or directory" : "Is a directory"})`);
        return object("FileInputStream", { path: at, isClosed: false });
      },
      FileOutputStream: (v, appends) => object("FileOutputStream", stream(pathOf(v), appends === true)),
      FileWriter: (v, a, b) => fileWriter("FileWriter", stream(pathOf(v), a === true || b === true), typeof a === "boolean" ? undefined : a),
      OutputStreamWriter: (to, charset) => fileWriter("OutputStreamWriter", to, charset),
      BufferedWriter: (inner) => bufferedWriter(inner),
      PrintWriter: (v, a) => (v.$c !== undefined && inherits(v.$c, "Writer") ? printWriter(v, a === true) : printWriter(bufferedFile(v, a))),
      Scanner: (v, charset) => newReader("Scanner", fileText(v.path, charset)),
    };
  }
