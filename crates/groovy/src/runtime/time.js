
  // --- Dates and times of java.time -----------------------------------------------------------------------------------
  // What stands on no clock is kept as the text `YYYY-MM-DDThh:mm:ss.mmm` in `at`, which orders as the times do; a
  // moment as milliseconds in `ms`, with its zone where it has one.
  const DAY = 86_400_000;
  const SIZES = { MILLIS: 1, SECONDS: 1000, MINUTES: 60_000, HOURS: 3_600_000, DAYS: DAY, WEEKS: 7 * DAY };
  const UNIT_NAMES = { MILLIS: "Millis", SECONDS: "Seconds", MINUTES: "Minutes", HOURS: "Hours", DAYS: "Days", WEEKS: "Weeks", MONTHS: "Months", YEARS: "Years" };
  const WEEKDAYS = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
  const MONTHS = ["JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER"];
  const digits = (n, size) => String(n).padStart(size, "0");
  const isTimed = ($c) => $c !== "LocalDate";
  const isDated = ($c) => $c !== "LocalTime";
  const isZoned = (v) => v?.$c === "ZonedDateTime" || v?.$c === "OffsetDateTime";
  const localFrom = ($c, at) => object($c, { at: $c === "LocalDate" ? `${at.slice(0, 10)}T00:00:00.000` : $c === "LocalTime" ? `1970-01-01${at.slice(10)}` : at });
  const instant = (ms) => object("Instant", { ms });
  const zoned = ($c, ms, zone) => object($c, { ms, zone });
  const localAt = (ms, zone) => time("localNow", { ms, zone });
  const atOf = (v) => v.at ?? localAt(v.ms, v.zone.zone);
  const msIn = (at, zone) => time("toMs", { at, zone });
  const localMs = (at) => Date.parse(`${at}Z`);
  const atFrom = (ms) => new Date(ms).toISOString().slice(0, 23);
  const offsetId = (seconds) => (seconds === 0 ? "Z" : seconds % 60 !== 0 ? unsupported("an offset with seconds") : `${seconds < 0 ? "-" : "+"}${digits(Math.floor(Math.abs(seconds) / 3600), 2)}:${digits((Math.abs(seconds) / 60) % 60, 2)}`);
  const zoneOffset = (seconds) => object("ZoneOffset", { id: offsetId(seconds), zone: seconds === 0 ? "UTC" : `GMT${offsetId(seconds)}` });
  const offsetAt = (v) => time("offset", { ms: v.ms, zone: v.zone.zone });
  const zoneOf = (id) => {
    if (id === "Z") return zoneOffset(0);
    const offset = /^([+-])(\d\d):(\d\d)$/.exec(id);
    if (offset !== null) return zoneOffset((offset[1] === "-" ? -1 : 1) * (Number(offset[2]) * 3600 + Number(offset[3]) * 60));
    if (!/^([A-Z][A-Za-z_]*(\/[A-Z][A-Za-z_]*)+|UTC|GMT)$/.test(id)) unsupported(`the zone \`${id}\``);
    time("zone", { zone: id });
    return object("ZoneId", { id, zone: id });
  };
  const ownZone = () => object("ZoneId", { id: time("zoneName", {}), zone: "" });
  // A date or time of its parts; Java refuses those that do not exist.
  const localOf = ($c, [y, mo, d], [h, mi, s, ms]) => {
    const at = `${digits(y, 4)}-${digits(mo, 2)}-${digits(d, 2)}T${digits(h, 2)}:${digits(mi, 2)}:${digits(s, 2)}.${digits(ms, 3)}`;
    if (y < 0 || y > 9999) unsupported("a date this far away");
    const made = localMs(at);
    return Number.isNaN(made) || atFrom(made) !== at ? fail("DateTimeException") : localFrom($c, at);
  };
  const nanos = (n) => (n % 1_000_000 === 0 ? n / 1_000_000 : unsupported("parts of milliseconds"));
  // Longer texts of seconds than milliseconds cannot be kept.
  const isoAt = (s) => {
    const [, minutes, seconds, fraction] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/.exec(s) ?? [];
    if (minutes === undefined) return /^[+-]|\d{5}-/.test(s) ? unsupported(`\`${s}\` as a date`) : fail("DateTimeParseException");
    if (/[1-9]/.test((fraction ?? "").slice(3))) unsupported("parts of milliseconds");
    const at = `${minutes}:${seconds ?? "00"}.${(fraction ?? "").slice(0, 3).padEnd(3, "0")}`;
    const made = localMs(at);
    return Number.isNaN(made) || atFrom(made) !== at ? fail("DateTimeParseException") : at;
  };
  const localParse = ($c, s, by) => {
    if (by !== undefined && by.iso === undefined) {
      if ($c === "LocalTime") unsupported("parsing this time");
      const found = time("localParse", { text: s, pattern: by.pattern, dated: $c === "LocalDate" });
      return found === null ? fail("DateTimeParseException") : localFrom($c, found);
    }
    const own = { LocalDate: ["ISO_LOCAL_DATE", "ISO_DATE"], LocalDateTime: ["ISO_LOCAL_DATE_TIME", "ISO_DATE_TIME"], LocalTime: ["ISO_LOCAL_TIME"] }[$c];
    if (by !== undefined && !own.includes(by.iso)) unsupported(`parsing with ${by.iso}`);
    return localFrom($c, isoAt($c === "LocalDate" ? `${s}T00:00` : $c === "LocalTime" ? `1970-01-01T${s}` : s));
  };
  const zonedParse = ($c, s) => {
    const [, local, offset, region] = /^(.*?)(Z|[+-]\d\d:\d\d)(?:\[(.+)\])?$/.exec(s) ?? [];
    if (local === undefined || ($c !== "ZonedDateTime" && region !== undefined) || ($c === "Instant" && offset !== "Z")) return fail("DateTimeParseException");
    const zone = zoneOf(offset);
    const ms = msIn(isoAt(local), zone.zone);
    return $c === "Instant" ? instant(ms) : zoned($c, ms, region === undefined ? zone : zoneOf(region));
  };
  const fraction = (at) => (at.slice(20) === "000" ? "" : `.${at.slice(20).replace(/0+$/, "")}`);
  const localText = (at) => `${at.slice(0, 16)}${at.slice(17) === "00.000" ? "" : `:${at.slice(17, 19)}${at.slice(20) === "000" ? "" : at.slice(19)}`}`;
  const region = (v) => (v.$c === "ZonedDateTime" && v.zone.$c === "ZoneId" ? `[${v.zone.id}]` : "");
  const zonedText = (v) => `${localText(atOf(v))}${offsetId(offsetAt(v))}${region(v)}`;
  const iso = (name, v) => {
    const lacks = () => unsupported(`${name} for this value`);
    if (name === "ISO_INSTANT") return v.ms === undefined ? lacks() : texts.Instant(v);
    if (v.$c === "Instant") return lacks();
    const [at, offset] = [atOf(v), isZoned(v) ? offsetId(offsetAt(v)) : null];
    const [day, clock] = [() => (isDated(v.$c) ? at.slice(0, 10) : lacks()), () => (isTimed(v.$c) ? at.slice(11, 19) + fraction(at) : lacks())];
    switch (name) {
      case "ISO_LOCAL_DATE":
        return day();
      case "ISO_DATE":
        return day() + (offset ?? "");
      case "BASIC_ISO_DATE":
        return day().replace(/-/g, "") + (offset ?? "").replace(":", "");
      case "ISO_LOCAL_TIME":
        return clock();
      case "ISO_LOCAL_DATE_TIME":
        return `${day()}T${clock()}`;
      case "ISO_DATE_TIME":
        return `${day()}T${clock()}${offset ?? ""}${region(v)}`;
      default:
        return offset === null ? lacks() : `${day()}T${clock()}${offset}${name === "ISO_ZONED_DATE_TIME" ? region(v) : ""}`;
    }
  };
  // The letters of a pattern without what stands in quotes.
  const lettersOf = (pattern) => pattern.replace(/'[^']*'/g, "");
  const formatBy = (by, v) => {
    if (by.zone !== undefined && v.ms !== undefined) v = zoned("ZonedDateTime", v.ms, by.zone);
    if (by.iso !== undefined) return iso(by.iso, v);
    if (v?.$c === "Instant") unsupported("a pattern for an Instant");
    if (isZoned(v)) {
      if (/(^|[^X])X([^X]|$)/.test(lettersOf(by.pattern)) && offsetAt(v) % 3600 !== 0) unsupported("`X` for this offset");
      return time("zonedFormat", { ms: v.ms, zone: v.zone.zone, pattern: by.pattern });
    }
    if (v?.$c === "LocalTime" && /[a-zA-Z]/.test(lettersOf(by.pattern).replace(/[HhmsSak]/g, ""))) unsupported("this pattern for a time");
    return ["LocalDateTime", "LocalDate", "LocalTime"].includes(v?.$c) ? time("localFormat", { at: v.at, pattern: by.pattern, dated: v.$c === "LocalDate" }) : unsupported("a format of this value");
  };
  const formatterOf = (pattern, locale) => {
    if (locale?.id === "" && /MMM|E|a/.test(lettersOf(pattern))) unsupported("names of Locale.ROOT");
    return object("DateTimeFormatter", { pattern });
  };
  const moved = (v, unit, n) => {
    const size = SIZES[unit];
    if (v.$c === "Instant" || (isZoned(v) && size < DAY)) {
      return size > DAY || size === undefined ? unsupported(`${unit} of an Instant`) : object(v.$c, { ...v, ms: v.ms + n * size });
    }
    if ((v.$c === "LocalDate" && size < DAY) || (v.$c === "LocalTime" && !(size < DAY))) unsupported(`${unit} of a ${v.$c}`);
    const at = time("localAdd", { at: atOf(v), unit: UNIT_NAMES[unit], n });
    return isZoned(v) ? zoned(v.$c, msIn(at, v.zone.zone), v.zone) : localFrom(v.$c, at);
  };
  const changedAt = (v, at) => (isZoned(v) ? zoned(v.$c, msIn(at, v.zone.zone), v.zone) : localFrom(v.$c, at));
  const truncatedBy = (v, unit) => {
    const size = SIZES[unit];
    if (size === undefined || size > DAY) unsupported(`truncatedTo(${unit})`);
    if (v.$c === "Instant") return instant(Math.floor(v.ms / size) * size);
    return changedAt(v, atFrom(Math.floor(localMs(atOf(v)) / size) * size));
  };
  const monthsOf = (at) => (Number(at.slice(0, 4)) * 12 + Number(at.slice(5, 7)) - 1) * 32 + Number(at.slice(8, 10));
  const betweenIn = (unit, a, b) => {
    if (a.$c !== b.$c) return unsupported("a time between values of different classes");
    const size = SIZES[unit];
    if (a.ms !== undefined && (a.$c === "Instant" || size < DAY)) return size === undefined || size > DAY ? unsupported(`${unit} between Instants`) : BigInt(Math.trunc((b.ms - a.ms) / size));
    const [from, to] = [atOf(a), isZoned(b) ? localAt(b.ms, a.zone.zone) : b.at];
    if ((a.$c === "LocalDate" && size < DAY) || (a.$c === "LocalTime" && !(size < DAY))) unsupported(`${unit} of a ${a.$c}`);
    if (size !== undefined) return BigInt(Math.trunc((localMs(to) - localMs(from)) / size));
    const [begins, ends] = [from.slice(10), to.slice(10)];
    const correction = to > from && ends < begins ? -DAY : to < from && ends > begins ? DAY : 0;
    const months = Math.trunc((monthsOf(atFrom(localMs(to) + correction)) - monthsOf(from)) / 32);
    return BigInt(unit === "YEARS" ? Math.trunc(months / 12) : months);
  };
  const lengthOfMonth = (year, month) => new Date(Date.UTC(year, month, 0)).getUTCDate();
  const partsOf = (at) => [at.slice(0, 4), at.slice(5, 7), at.slice(8, 10), at.slice(11, 13), at.slice(14, 16), at.slice(17, 19), at.slice(20)].map(Number);
  // A copy with another year, month, day, hour, minute, second or millisecond.
  const withPart = (index) => (v, n) => {
    const parts = partsOf(atOf(v));
    parts[index] = index === 6 ? nanos(n) : n;
    // A day that the month does not have becomes its last, unless it is the day that was asked for.
    if (index < 2 && parts[1] >= 1 && parts[1] <= 12) parts[2] = Math.min(parts[2], lengthOfMonth(parts[0], parts[1]));
    return changedAt(v, localOf("LocalDateTime", parts.slice(0, 3), parts.slice(3)).at);
  };
  const duration = (ms) => object("Duration", { ms });
  function timeMethods() {
    const part = (index) => (v) => partsOf(atOf(v))[index];
    const orderOf = (v) => (v.ms === undefined ? v.at : v.ms);
    const named = { getValue: (v) => v.value, name: (v) => v.name };
    const common = ($c) => {
      const made = {};
      for (const [unit, name] of Object.entries(UNIT_NAMES)) {
        made[`plus${name}`] = (v, n) => moved(v, unit, Number(n));
        made[`minus${name}`] = (v, n) => moved(v, unit, -Number(n));
      }
      return {
        ...made,
        plus: (v, n, unit) => (unit === undefined ? moved(v, "MILLIS", n.ms) : moved(v, unit.name, Number(n))),
        minus: (v, n, unit) => (unit === undefined ? moved(v, "MILLIS", -n.ms) : moved(v, unit.name, -Number(n))),
        isBefore: (a, b) => orderOf(a) < orderOf(b),
        isAfter: (a, b) => orderOf(a) > orderOf(b),
        isEqual: (a, b) => orderOf(a) === orderOf(b),
        // Of dates Java gives the difference of the first part that differs.
        compareTo: (a, b) => (orderOf(a) === orderOf(b) && !isZoned(a) ? 0 : $c === "Instant" ? Math.sign(a.ms - b.ms) : unsupported("compareTo of dates")),
        truncatedTo: (v, unit) => truncatedBy(v, unit.name),
        format: (v, by) => formatBy(by, v),
        getYear: part(0),
        getMonthValue: part(1),
        getMonth: (v) => object("Month", { value: part(1)(v), name: MONTHS[part(1)(v) - 1] }),
        getDayOfMonth: part(2),
        getDayOfYear: (v) => Math.floor((localMs(atOf(v)) - Date.UTC(part(0)(v), 0, 1)) / DAY) + 1,
        getDayOfWeek(v) {
          const value = ((((Math.floor(localMs(atOf(v)) / DAY) + 3) % 7) + 7) % 7) + 1;
          return object("DayOfWeek", { value, name: WEEKDAYS[value - 1] });
        },
        getHour: part(3),
        getMinute: part(4),
        getSecond: part(5),
        getNano: (v) => part(6)(v) * 1_000_000,
        withYear: withPart(0),
        withMonth: withPart(1),
        withDayOfMonth: withPart(2),
        withHour: withPart(3),
        withMinute: withPart(4),
        withSecond: withPart(5),
        withNano: withPart(6),
        lengthOfMonth: (v) => lengthOfMonth(part(0)(v), part(1)(v)),
        isLeapYear: (v) => lengthOfMonth(part(0)(v), 2) === 29,
        toEpochDay: (v) => BigInt(localMs(v.at) / DAY),
        toEpochMilli: (v) => BigInt(v.ms),
        getEpochSecond: (v) => BigInt(Math.floor(v.ms / 1000)),
        toEpochSecond: (v, zone) => BigInt(Math.floor((zone === undefined ? v.ms : msIn(v.at, zone.zone)) / 1000)),
        toInstant: (v, zone) => instant(zone === undefined ? v.ms : msIn(v.at, zone.zone)),
        toLocalDate: (v) => localFrom("LocalDate", atOf(v)),
        toLocalTime: (v) => localFrom("LocalTime", atOf(v)),
        toLocalDateTime: (v) => localFrom("LocalDateTime", atOf(v)),
        atStartOfDay: (v) => localFrom("LocalDateTime", v.at),
        atTime: (v, h, m, s = 0) => localOf("LocalDateTime", partsOf(v.at).slice(0, 3), [h, m, s, 0]),
        atZone: (v, zone) => zoned("ZonedDateTime", v.ms ?? msIn(v.at, zone.zone), zone),
        atOffset: (v, zone) => zoned("OffsetDateTime", v.ms ?? msIn(v.at, zone.zone), zone),
        getOffset: (v) => zoneOffset(offsetAt(v)),
        getZone: (v) => v.zone,
        withZoneSameInstant: (v, zone) => zoned("ZonedDateTime", v.ms, zone),
        atZoneSameInstant: (v, zone) => zoned("ZonedDateTime", v.ms, zone),
        withOffsetSameInstant: (v, zone) => zoned("OffsetDateTime", v.ms, zone),
        toOffsetDateTime: (v) => zoned("OffsetDateTime", v.ms, zoneOffset(offsetAt(v))),
        toZonedDateTime: (v) => zoned("ZonedDateTime", v.ms, v.zone),
      };
    };
    const inUnit = (size) => (v) => BigInt(Math.floor(v.ms / size));
    return {
      ...Object.fromEntries(["Instant", "LocalDateTime", "LocalDate", "LocalTime", "ZonedDateTime", "OffsetDateTime"].map(($c) => [$c, common($c)])),
      ZoneId: { getId: (v) => v.id ?? unsupported("the name of this zone") },
      DayOfWeek: named,
      Month: named,
      ChronoUnit: { between: (v, a, b) => betweenIn(v.name, a, b) },
      // Java cuts what is less than a unit off towards zero, but seconds, which it rounds down.
      Duration: {
        toMillis: (v) => BigInt(v.ms),
        toSeconds: inUnit(1000),
        getSeconds: inUnit(1000),
        toMinutes: (v) => inUnit(1000)(v) / 60n,
        toHours: (v) => inUnit(1000)(v) / 3600n,
        toDays: (v) => inUnit(1000)(v) / 86_400n,
      },
      DateTimeFormatter: { format: (v, of) => formatBy(v, of), withZone: (v, zone) => object("DateTimeFormatter", { ...v, zone }) },
    };
  }
  function timeStatics() {
    const nowIn = ($c) => (zone) => localFrom($c, localAt(now(), zone === undefined ? "" : zone.zone));
    const zonedNow = ($c) => (zone) => ($c === "OffsetDateTime" ? methods.ZonedDateTime.toOffsetDateTime : (v) => v)(zoned("ZonedDateTime", now(), zone ?? ownZone()));
    const ofInstant = ($c) => (v, zone) => ($c === "OffsetDateTime" ? methods.ZonedDateTime.toOffsetDateTime(zoned("ZonedDateTime", v.ms, zone)) : zoned($c, v.ms, zone));
    const isos = ["ISO_DATE", "ISO_LOCAL_DATE", "ISO_LOCAL_TIME", "ISO_LOCAL_DATE_TIME", "ISO_DATE_TIME", "ISO_OFFSET_DATE_TIME", "ISO_ZONED_DATE_TIME", "ISO_INSTANT", "BASIC_ISO_DATE"];
    const lasting = (size) => (n) => duration(Number(n) * size);
    return {
      Instant: { now: () => instant(now()), parse: (s) => zonedParse("Instant", s), ofEpochMilli: (ms) => instant(Number(ms)), ofEpochSecond: (s) => instant(Number(s) * 1000), EPOCH: instant(0) },
      LocalDateTime: {
        now: nowIn("LocalDateTime"),
        parse: (s, by) => localParse("LocalDateTime", s, by),
        of: (a, b, ...rest) => (rest.length === 0 ? object("LocalDateTime", { at: a.at.slice(0, 10) + b.at.slice(10) }) : localOf("LocalDateTime", [a, b, rest[0]], [rest[1], rest[2], rest[3] ?? 0, 0])),
        ofInstant: (v, zone) => localFrom("LocalDateTime", localAt(v.ms, zone.zone)),
        ofEpochSecond: (s, n, zone) => localFrom("LocalDateTime", localAt(Number(s) * 1000 + nanos(n), zone.zone)),
      },
      LocalDate: {
        now: nowIn("LocalDate"),
        parse: (s, by) => localParse("LocalDate", s, by),
        of: (y, m, d) => localOf("LocalDate", [y, m, d], [0, 0, 0, 0]),
        ofEpochDay: (n) => localFrom("LocalDate", atFrom(Number(n) * DAY)),
      },
      LocalTime: { now: nowIn("LocalTime"), parse: (s) => localParse("LocalTime", s), of: (h, m, s = 0) => localOf("LocalTime", [1970, 1, 1], [h, m, s, 0]) },
      ZonedDateTime: {
        now: zonedNow("ZonedDateTime"),
        parse: (s) => zonedParse("ZonedDateTime", s),
        ofInstant: ofInstant("ZonedDateTime"),
        of(...of) {
          const zone = of.at(-1);
          const at = of.length === 2 ? of[0].at : localOf("LocalDateTime", of.slice(0, 3), [...of.slice(3, 6), nanos(of[6])]).at;
          return zoned("ZonedDateTime", msIn(at, zone.zone), zone);
        },
      },
      OffsetDateTime: { now: zonedNow("OffsetDateTime"), parse: (s) => zonedParse("OffsetDateTime", s), ofInstant: ofInstant("OffsetDateTime") },
      ZoneId: { of: zoneOf, systemDefault: ownZone },
      ZoneOffset: { of: (id) => (/^(Z|[+-]\d\d:\d\d)$/.test(id) ? zoneOf(id) : unsupported(`the offset \`${id}\``)), ofHours: (n) => (Math.abs(n) > 18 ? fail("DateTimeException") : zoneOffset(n * 3600)), UTC: zoneOffset(0) },
      ChronoUnit: Object.fromEntries(Object.keys(UNIT_NAMES).map((name) => [name, object("ChronoUnit", { name })])),
      Duration: {
        between: (a, b) => duration(Number(betweenIn("MILLIS", a, b))),
        ofMillis: lasting(1),
        ofSeconds: lasting(1000),
        ofMinutes: lasting(60_000),
        ofHours: lasting(3_600_000),
        ofDays: lasting(DAY),
      },
      DateTimeFormatter: { ofPattern: formatterOf, ...Object.fromEntries(isos.map((name) => [name, object("DateTimeFormatter", { iso: name })])) },
    };
  }
