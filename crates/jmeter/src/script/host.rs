//! Functions that translated scripts call: patterns, digests, encodings and dates.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use fancy_regex::{Regex, RegexBuilder};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use serde_json::{Value as Json, json};
use sokudo_groovy::portable;

use crate::document::{Document, NodeId, NodeKind, well_formed};
use crate::expression::{digest_of, html_escaped, html_unescaped, time as pattern, xml_escaped};
use crate::run::charset::Charset;

/// Longest pause of one script, milliseconds: an hour.
pub(super) const MOST_SLEEP_MS: i64 = 3_600_000;
/// Most matches of a pattern in a text.
const MOST_MATCHES: usize = 100_000;
/// Most patterns that are kept.
const MOST_PATTERNS: usize = 256;
/// Steps after which a pattern that backtracks is given up.
const MOST_STEPS: usize = 1_000_000;

/// A pattern ready for use; `Err`: why there is none, beginning with `!` if Java has none either.
type Compiled = Result<Regex, String>;

thread_local! {
    static PATTERNS: RefCell<HashMap<String, Rc<Compiled>>> = RefCell::default();
}

/// Matches of a pattern in a text.
///
/// `asked` is `f` for all matches or `m` for one of the whole text, Java's flags, a blank and the
/// pattern. Gives JSON: `{"matches": [[start, end, …]], "groups": n, "names": […]}` in units of
/// UTF-16, or a text that says why there are none.
pub(super) fn regex(asked: &str, text: &str) -> String {
    let compiled = PATTERNS.with_borrow_mut(|known| {
        if known.len() >= MOST_PATTERNS {
            known.clear();
        }
        let compiled = known.entry(asked.to_owned());
        Rc::clone(compiled.or_insert_with(|| Rc::new(compile(asked))))
    });
    let found = match compiled.as_ref() {
        Ok(regex) => matches(regex, text),
        Err(why) => Err(why.clone()),
    };
    found.unwrap_or_else(Json::String).to_string()
}

fn compile(asked: &str) -> Compiled {
    let (how, source) = asked.split_once(' ').ok_or("the pattern")?;
    let flags: u32 = how[1..].parse().map_err(|_| "the flags of a pattern")?;
    let mut java = String::new();
    for (bit, flag) in [(2, "(?i)"), (8, "(?m)"), (32, "(?s)")] {
        if flags & bit != 0 {
            java.push_str(flag);
        }
    }
    // Flags stand in one group at the beginning.
    let java = java.replace(")(?", "") + source;
    let portable = portable(&java).map_err(|fault| format!("`{source}` ({})", fault.0))?;
    let portable = match how.starts_with('m') {
        true => format!(r"\A(?:{portable})\z"),
        false => portable,
    };
    let mut builder = RegexBuilder::new(&portable);
    builder.backtrack_limit(MOST_STEPS);
    builder.build().map_err(|_| format!("`{source}`"))
}

fn matches(regex: &Regex, text: &str) -> Result<Json, String> {
    let mut found = Vec::new();
    let mut units = Units {
        text,
        byte: 0,
        unit: 0,
    };
    for captures in regex.captures_iter(text) {
        let captures = captures.map_err(|_| "a pattern that backtracks this much".to_owned())?;
        if found.len() >= MOST_MATCHES {
            return Err("a pattern with this many matches".into());
        }
        let begin = captures.get(0).map_or(0, |whole| whole.start());
        let base = units.at(begin);
        let mut places = Vec::with_capacity(2 * captures.len());
        for index in 0..captures.len() {
            let group = captures.get(index);
            for at in [group.map(|g| g.start()), group.map(|g| g.end())] {
                places.push(at.map_or(-1, |at| base + signed_units(text, begin, at)));
            }
        }
        found.push(places);
    }
    let names: Vec<&str> = regex
        .capture_names()
        .skip(1)
        .map(Option::unwrap_or_default)
        .collect();
    Ok(json!({ "matches": found, "groups": names.len(), "names": names }))
}

/// Distance between two places in units of UTF-16; groups in what is looked at may lie before.
fn signed_units(text: &str, from: usize, to: usize) -> i64 {
    let count = |range: std::ops::Range<usize>| text[range].encode_utf16().count() as i64;
    match from <= to {
        true => count(from..to),
        false => -count(to..from),
    }
}

/// Counts units of UTF-16 while places in a text move forward.
struct Units<'t> {
    text: &'t str,
    byte: usize,
    unit: i64,
}

impl Units<'_> {
    fn at(&mut self, byte: usize) -> i64 {
        self.unit += signed_units(self.text, self.byte, byte);
        self.byte = byte;
        self.unit
    }
}

/// The digest of bytes, both in hexadecimal; `None`: an algorithm that is not supported.
pub(super) fn digest(algorithm: &str, bytes: &str) -> Option<String> {
    // Java knows the longer digests with the hyphen alone.
    if matches!(algorithm, "SHA224" | "SHA256" | "SHA384" | "SHA512") {
        return None;
    }
    Some(hex(&digest_of(algorithm, &unhex(bytes)?)?))
}

/// The text of bytes in hexadecimal; `None`: they are not UTF-8.
pub(super) fn utf8(bytes: &str) -> Option<String> {
    String::from_utf8(unhex(bytes)?).ok()
}

/// Encodings whose texts and bytes are those of Java, but for the order of bytes in `UTF-16`, which marks
/// tell.
const ENCODINGS: &[&str] = &[
    "UTF-8",
    "US-ASCII",
    "ISO-8859-1",
    "UTF-16BE",
    "UTF-16LE",
    "GBK",
    "gb18030",
    "Shift_JIS",
    "windows-31j",
    "EUC-JP",
    "EUC-KR",
    "windows-1251",
    "KOI8-R",
];

/// The name of an encoding; `None`: it is not supported.
pub(super) fn encoding(name: &str) -> Option<String> {
    let name = Charset::named(name)?.name();
    ENCODINGS.contains(&name).then(|| name.to_owned())
}

/// The bytes of a text in hexadecimal.
pub(super) fn encoded(charset: &str, text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    Charset::named(charset)?.encode(text, &mut bytes);
    Some(hex(&bytes))
}

/// The text of bytes in hexadecimal; `None`: bytes that are not of this encoding, of which Java makes
/// characters of its own.
pub(super) fn decoded(charset: &str, bytes: &str) -> Option<String> {
    let text = Charset::named(charset)?.decode(&unhex(bytes)?);
    (!text.contains('\u{fffd}')).then_some(text)
}

/// A text with or without the escapes of `StringEscapeUtils`.
pub(super) fn escaped(kind: &str, text: &str) -> Option<String> {
    Some(match kind {
        "escapeHtml4" => html_escaped(text),
        "unescapeHtml4" => html_unescaped(text),
        "escapeXml10" => xml_escaped(text),
        // The pairs of a file of properties, in JSON.
        "properties" => json!(crate::properties::parse(text.as_bytes())).to_string(),
        _ => return None,
    })
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// Deepest nesting of elements that scripts read.
const MOST_NESTED: usize = 200;

/// The root element of XML, in JSON: `{"value": [name, prefix, [[name, prefix, value]…], [child or text…]]}`,
/// `{"error": true}` where Java's parser throws, `{"fault": …}` for what is not supported.
pub(super) fn xml(text: &str) -> String {
    let element = |document: &Document| {
        let root = document.node(0).children.iter();
        let mut elements = root.filter(|id| is_element(document, **id));
        elements.next().copied()
    };
    let answer = match Document::xml(text) {
        _ if text.contains("<!DOCTYPE") => json!({ "fault": "a document type" }),
        _ if well_formed::check(text).is_err() => json!({ "error": true }),
        Err(_) => json!({ "error": true }),
        Ok(document) => match element(&document) {
            None => json!({ "error": true }),
            Some(root) => match tree(&document, root, 0) {
                Some(tree) => json!({ "value": tree }),
                None => json!({ "fault": "XML nested this deeply" }),
            },
        },
    };
    answer.to_string()
}

fn is_element(document: &Document, id: NodeId) -> bool {
    matches!(document.node(id).kind, NodeKind::Element(_))
}

/// An element; `None`: it is nested too deeply.
fn tree(document: &Document, id: NodeId, deep: usize) -> Option<Json> {
    let node = document.node(id);
    let NodeKind::Element(name) = &node.kind else {
        return None;
    };
    if deep > MOST_NESTED {
        return None;
    }
    let attributes = node.attributes.iter().filter_map(|id| {
        let NodeKind::Attribute(name, value) = &document.node(*id).kind else {
            return None;
        };
        let is_declaration =
            name.prefix == "xmlns" || name.prefix.is_empty() && name.local == "xmlns";
        (!is_declaration).then(|| json!([name.local, name.prefix, value]))
    });
    let attributes: Vec<Json> = attributes.collect();
    let mut kids: Vec<Json> = Vec::new();
    for kid in &node.children {
        match &document.node(*kid).kind {
            NodeKind::Text(text) => match kids.last_mut() {
                // A comment between two texts does not part them.
                Some(Json::String(before)) => before.push_str(text),
                _ => kids.push(text.clone().into()),
            },
            NodeKind::Element(_) => kids.push(tree(document, *kid, deep + 1)?),
            _ => {}
        }
    }
    Some(json!([name.local, name.prefix, attributes, kids]))
}

/// Answers a question about dates, in JSON: `{"value": …}`, `{"error": …}` where Java throws, and
/// `{"fault": …}` for what is not supported.
pub(super) fn time(what: &str, fields: &str, zone: &TimeZone) -> Option<String> {
    let fields: Json = serde_json::from_str(fields).ok()?;
    let answer = match asked(what, &fields, zone) {
        Ok(value) => json!({ "value": value }),
        Err(Failing::Unsupported(why)) => json!({ "fault": why }),
        Err(Failing::Wrong) => json!({ "error": true }),
    };
    Some(answer.to_string())
}

enum Failing {
    /// Something that is not supported.
    Unsupported(String),
    /// Something that Java refuses, too.
    Wrong,
}

impl From<jiff::Error> for Failing {
    fn from(_: jiff::Error) -> Self {
        Self::Unsupported("a date this far away".into())
    }
}

fn asked(what: &str, fields: &Json, own: &TimeZone) -> Result<Json, Failing> {
    let text = |name: &str| fields[name].as_str().unwrap_or_default();
    let number = |name: &str| fields[name].as_i64().unwrap_or_default();
    let unsupported = |why: String| Failing::Unsupported(why);
    let zone = zone(text("zone"), own)?;
    let moment = || Timestamp::from_millisecond(number("ms")).map(|at| at.to_zoned(zone.clone()));
    let local = || text("at").parse::<DateTime>();
    Ok(match what {
        "zone" => Json::Null,
        "format" => {
            let letters = text("pattern");
            simple_pattern(letters).map_err(unsupported)?;
            let mut out = String::new();
            pattern::write(letters, &moment()?, &mut out).map_err(unsupported)?;
            out.into()
        }
        "parse" => {
            let letters = text("pattern");
            if letters.contains(['E', 'a', 'z', 'Z', 'X', 'h', 'K', 'D']) {
                return Err(unsupported(format!("parsing dates with `{letters}`")));
            }
            match pattern::read(letters, text("text"), None, &zone) {
                Ok(ms) => ms.into(),
                // Java's parser is lenient with numbers out of range and with what follows.
                Err(_) if text("text").bytes().any(|b| b.is_ascii_digit()) => {
                    return Err(unsupported(format!("`{}` as a date", text("text"))));
                }
                Err(_) => return Err(Failing::Wrong),
            }
        }
        "instant" => {
            let at = Timestamp::from_millisecond(number("ms"))?;
            let shown = at.to_zoned(TimeZone::UTC);
            let seconds = shown.strftime("%Y-%m-%dT%H:%M:%S").to_string();
            match shown.millisecond() {
                0 => format!("{seconds}Z").into(),
                ms => format!("{seconds}.{ms:03}Z").into(),
            }
        }
        "localNow" => written(moment()?.datetime()).into(),
        "localAdd" => written(local()?.checked_add(span(text("unit"), number("n"))?)?).into(),
        "localFormat" => {
            let letters = text("pattern");
            let dated = fields["dated"].as_bool() == Some(true);
            if letters.contains(['Y', 'z', 'Z', 'X', 'x', 'V', 'O', 'L'])
                || dated && letters.contains(['H', 'h', 'm', 's', 'S', 'a', 'n'])
            {
                return Err(unsupported(format!("the date pattern `{letters}`")));
            }
            let mut out = String::new();
            pattern::write(letters, &local()?.to_zoned(TimeZone::UTC)?, &mut out)
                .map_err(unsupported)?;
            out.into()
        }
        "localParse" => local_parse(fields)?.into(),
        "zonedFormat" => {
            let letters = text("pattern");
            if letters.contains(['Y', 'z', 'x', 'V', 'O', 'L', 'n']) || letters.contains("ZZZZ") {
                return Err(unsupported(format!("the date pattern `{letters}`")));
            }
            let mut out = String::new();
            pattern::write(letters, &moment()?, &mut out).map_err(unsupported)?;
            out.into()
        }
        "toMs" => {
            let at = local()?.to_zoned(zone)?;
            at.timestamp().as_millisecond().into()
        }
        "offset" => moment()?.offset().seconds().into(),
        "zoneName" => own.iana_name().into(),
        "calendarAdd" => calendar_add(&moment()?, number("field"), number("n"))?.into(),
        "calendarSet" => calendar_set(&moment()?, number("field"), number("n"))?.into(),
        "calendarGet" => calendar_get(&moment()?, number("field"))?.into(),
        other => return Err(unsupported(other.into())),
    })
}

/// A time zone by its name in Java; empty: the own one.
fn zone(name: &str, own: &TimeZone) -> Result<TimeZone, Failing> {
    let unsupported = || Failing::Unsupported(format!("the time zone `{name}`"));
    if name.is_empty() {
        return Ok(own.clone());
    }
    if matches!(name, "UTC" | "GMT" | "Z") {
        return Ok(TimeZone::UTC);
    }
    if let Some(offset) = name
        .strip_prefix("GMT")
        .or_else(|| name.strip_prefix("UTC"))
    {
        // Java takes `UTC+9` for GMT.
        let (sign, digits) = match offset.split_at_checked(1) {
            Some(("+", digits)) if name.starts_with('G') => (1, digits),
            Some(("-", digits)) if name.starts_with('G') => (-1, digits),
            _ => return Err(unsupported()),
        };
        let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
        let (hours, minutes): (i32, i32) = (
            hours.parse().map_err(|_| unsupported())?,
            minutes.parse().map_err(|_| unsupported())?,
        );
        let offset = jiff::tz::Offset::from_seconds(sign * (hours * 3600 + minutes * 60));
        return offset.map(TimeZone::fixed).map_err(|_| unsupported());
    }
    TimeZone::get(name).map_err(|_| unsupported())
}

/// Fails for letters whose meaning in Java's `SimpleDateFormat` is another one.
fn simple_pattern(letters: &str) -> Result<(), String> {
    let mut quoted = false;
    for letter in letters.chars() {
        quoted ^= letter == '\'';
        if !quoted && matches!(letter, 'Y' | 'u' | 'x' | 'L') {
            return Err(format!("the letter `{letter}` of a date pattern"));
        }
    }
    // Of one or two letters Java makes a number of any length.
    let runs = letters.split(|letter| letter != 'S').map(str::len);
    match runs.into_iter().all(|run| run == 0 || run == 3) {
        true => Ok(()),
        false => Err("milliseconds that are not three digits".into()),
    }
}

fn written(at: DateTime) -> String {
    format!(
        "{}.{:03}",
        at.strftime("%Y-%m-%dT%H:%M:%S"),
        at.millisecond()
    )
}

fn span(unit: &str, n: i64) -> Result<Span, Failing> {
    let empty = Span::new();
    Ok(match unit {
        "Years" => empty.try_years(n)?,
        "Months" => empty.try_months(n)?,
        "Weeks" => empty.try_weeks(n)?,
        "Days" => empty.try_days(n)?,
        "Hours" => empty.try_hours(n)?,
        "Minutes" => empty.try_minutes(n)?,
        "Millis" => empty.try_milliseconds(n)?,
        _ => empty.try_seconds(n)?,
    })
}

fn local_parse(fields: &Json) -> Result<String, Failing> {
    let (text, letters) = (
        fields["text"].as_str().unwrap_or_default(),
        fields["pattern"].as_str().unwrap_or_default(),
    );
    let dated = fields["dated"].as_bool() == Some(true);
    if letters.is_empty() {
        let is_whole = text.len() == 10
            || !dated && text.as_bytes().get(10) == Some(&b'T') && !text.ends_with('Z');
        if !is_whole || text.len() > 23 {
            return Err(Failing::Unsupported(format!("`{text}` as a date")));
        }
        let at = match dated {
            true => text
                .parse::<jiff::civil::Date>()
                .map(|date| date.to_datetime(jiff::civil::Time::midnight())),
            false => text.parse::<DateTime>(),
        };
        return at.map(written).map_err(|_| Failing::Wrong);
    }
    let is_plain = !letters.contains(['E', 'a', 'z', 'Z', 'X', 'h', 'K', 'D', 'e', 'n', 'S']);
    if !is_plain {
        return Err(Failing::Unsupported(format!(
            "parsing dates with `{letters}`"
        )));
    }
    let has_time = letters.contains('H');
    if has_time == dated {
        return Err(Failing::Unsupported(format!(
            "parsing this date with `{letters}`"
        )));
    }
    let ms = pattern::read(letters, text, None, &TimeZone::UTC).map_err(|_| Failing::Wrong)?;
    Ok(written(
        Timestamp::from_millisecond(ms)?
            .to_zoned(TimeZone::UTC)
            .datetime(),
    ))
}

/// `Calendar.add`: fields by Java's numbers.
fn calendar_add(at: &Zoned, field: i64, n: i64) -> Result<i64, Failing> {
    let unit = match field {
        1 => "Years",
        2 => "Months",
        3 => "Weeks",
        5..=7 => "Days",
        10 | 11 => "Hours",
        12 => "Minutes",
        13 => "Seconds",
        14 => return Ok(at.timestamp().as_millisecond() + n),
        _ => return Err(Failing::Unsupported("this field of Calendar".into())),
    };
    Ok(at.checked_add(span(unit, n)?)?.timestamp().as_millisecond())
}

fn calendar_set(at: &Zoned, field: i64, n: i64) -> Result<i64, Failing> {
    let with = at.with();
    let beyond = || Failing::Unsupported("this value of a field of Calendar".into());
    let small = i8::try_from(n).map_err(|_| beyond());
    let with = match field {
        1 => with.year(i16::try_from(n).map_err(|_| beyond())?),
        2 => with.month(small? + 1),
        5 => with.day(small?),
        11 => with.hour(small?),
        12 => with.minute(small?),
        13 => with.second(small?),
        14 => with.millisecond(i16::try_from(n).map_err(|_| beyond())?),
        _ => return Err(Failing::Unsupported("this field of Calendar".into())),
    };
    let at = with.build().map_err(|_| beyond())?;
    Ok(at.timestamp().as_millisecond())
}

fn calendar_get(at: &Zoned, field: i64) -> Result<i64, Failing> {
    Ok(match field {
        1 => at.year().into(),
        2 => i64::from(at.month()) - 1,
        5 => at.day().into(),
        6 => at.day_of_year().into(),
        7 => i64::from(at.weekday().to_sunday_one_offset()),
        10 => i64::from(at.hour()) % 12,
        11 => at.hour().into(),
        12 => at.minute().into(),
        13 => at.second().into(),
        14 => at.millisecond().into(),
        _ => return Err(Failing::Unsupported("this field of Calendar".into())),
    })
}
