//! Writes the record as one self-contained HTML page.
//!
//! The page carries its style, its script and its data; a content security policy that names the
//! script by its hash makes sure that nothing else runs and nothing is fetched, whatever stands in
//! host names and labels. Both languages are in the page: elements with a `lang` attribute that is
//! not the page's are hidden by the style sheet. Without the script everything but zooming,
//! sorting and switching still works: charts are drawn a second time as plain SVG.

mod blocks;
mod data;
mod sheet;

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use sokudo_i18n::Lang;
use sokudo_model::{Record, Text, harmless::turns};

use crate::block::{Block, Phrase, Speaker};
use crate::chart::Chart;
use crate::unbroken::unbroken;
use crate::view::View;

pub use sheet::{Part, Sheet};

/// The page's script, built from `ui/`.
const SCRIPT: &str = include_str!("../../../../ui/dist/report.js");
/// The page's style sheet, built from `ui/`.
const STYLE: &str = include_str!("../../../../ui/dist/report.css");

/// A half-filled circle; drawn, because fonts differ.
const THEME_SIGN: &str = "<svg viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" aria-hidden=\"true\"><circle cx=\"8\" cy=\"8\" r=\"6\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.4\"/><path d=\"M8 2a6 6 0 0 1 0 12z\" fill=\"currentColor\"/></svg>";
/// A printer.
const PRINT_SIGN: &str = "<svg viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" aria-hidden=\"true\"><path d=\"M4.5 6V2.5h7V6M4.5 11.5h-2v-5h11v5h-2M4.5 9.5h7v4h-7z\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.3\" stroke-linejoin=\"round\"/></svg>";

/// The whole report; `lang` is the language it opens in.
pub fn html(record: &Record, lang: Lang) -> String {
    let view = View::new(record);
    write(&sheet::of_record(&view), lang)
}

/// Writes a page; `lang` is the language it opens in.
pub fn write(sheet: &Sheet, lang: Lang) -> String {
    let page = Page {
        sheet,
        speaker: Speaker::new(),
    };
    let mut body = String::new();
    page.header(&mut body, lang);
    body.push_str("<main>");
    for part in &sheet.parts {
        page.part(&mut body, part);
    }
    body.push_str("</main>");
    let _ = write!(body, "<footer>{}</footer>", page.say(&sheet.footer));
    let mut charts = Vec::new();
    sheet
        .parts
        .iter()
        .for_each(|part| collect(&part.blocks, &mut charts));
    let data = data::json(sheet, &page.speaker, &charts);
    page.document(lang, &body, &data)
}

fn collect<'a>(blocks: &'a [Block], out: &mut Vec<&'a Chart>) {
    for block in blocks {
        match block {
            Block::Chart(chart) => out.push(chart),
            Block::Details { blocks, .. } => collect(blocks, out),
            _ => {}
        }
    }
}

/// State that all parts of one page need.
struct Page<'a> {
    sheet: &'a Sheet,
    speaker: Speaker,
}

impl Page<'_> {
    /// The phrase, escaped: once where the languages agree, else in one element per language.
    fn say(&self, phrase: &Phrase) -> String {
        let said = Lang::ALL.map(|lang| self.speaker.say(lang, phrase));
        let escape = |words: &str| with_code(&escape(&unbroken(words)));
        if said[0] == said[1] {
            return escape(&said[0]);
        }
        let mut out = String::new();
        for (lang, words) in Lang::ALL.iter().zip(&said) {
            let _ = write!(out, "<span lang=\"{lang}\">{}</span>", escape(words));
        }
        out
    }

    fn words(&self, key: &str) -> String {
        self.say(&Text::new(key).into())
    }

    fn document(&self, lang: Lang, body: &str, data: &str) -> String {
        let hash = base64(&Sha256::digest(SCRIPT.as_bytes()));
        format!(
            "<!doctype html>\n<html lang=\"{lang}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"sokudo {version}\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n\
             <script type=\"application/json\" id=\"data\">{data}</script>\n\
             <script>{SCRIPT}</script>\n</body>\n</html>\n",
            version = env!("CARGO_PKG_VERSION"),
            title = escape(&self.sheet.title),
        )
    }

    fn header(&self, out: &mut String, lang: Lang) {
        out.push_str(
            "<header class=\"top\"><div class=\"bar\"><span class=\"brand\">sokudo</span>",
        );
        let parts: Vec<String> = self.sheet.what.iter().map(|p| self.say(p)).collect();
        let what = parts.join(" <span class=\"dot\">·</span> ");
        let _ = write!(out, "<h1>{what}</h1>");
        out.push_str("<div class=\"tools\" role=\"toolbar\">");
        for option in Lang::ALL {
            let pressed = option == lang;
            let _ = write!(
                out,
                "<button type=\"button\" class=\"quiet\" data-lang=\"{option}\" aria-pressed=\"{pressed}\" lang=\"\">{}</button>",
                option.own_name()
            );
        }
        for (action, sign, key) in [
            ("theme", THEME_SIGN, "report-tool-theme"),
            ("print", PRINT_SIGN, "report-tool-print"),
        ] {
            let _ = write!(
                out,
                "<button type=\"button\" class=\"quiet sign\" data-do=\"{action}\">{sign}<span class=\"hidden\">{}</span></button>",
                self.words(key)
            );
        }
        out.push_str("</div></div>");
        self.contents(out);
        out.push_str("</header>");
    }

    /// Links to the sections, in one line.
    fn contents(&self, out: &mut String) {
        out.push_str("<nav class=\"contents\">");
        for part in &self.sheet.parts {
            if let Some(title) = &part.title {
                let _ = write!(out, "<a href=\"#{}\">{}</a>", part.name, self.say(title));
            }
        }
        out.push_str("</nav>");
    }

    fn part(&self, out: &mut String, part: &Part) {
        let _ = write!(out, "<section id=\"{}\">", part.name);
        if let Some(title) = &part.title {
            self.element(out, "h2", "", title);
        }
        part.blocks.iter().for_each(|b| self.block(out, b));
        out.push_str("</section>");
    }
}

/// Escapes text for use between tags and inside quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Text that changes its own direction could pretend to be something else.
            c if turns(c) => out.push('\u{fffd}'),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escaped text in which what stands between two backquotes, as commands and options do, is code.
fn with_code(escaped: &str) -> String {
    let mut parts = escaped.split('`');
    let mut out = parts.next().unwrap_or_default().to_owned();
    while let Some(code) = parts.next() {
        match parts.next() {
            Some(after) => {
                let _ = write!(out, "<code>{code}</code>{after}");
            }
            // Without a second one it is a character like others.
            None => {
                let _ = write!(out, "`{code}");
            }
        }
    }
    out
}

/// Base64 with padding (RFC 4648 section 4), the form of hashes in content security policies.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads() {
        assert_eq!(base64(b"M"), "TQ==");
        assert_eq!(base64(b"Ma"), "TWE=");
        assert_eq!(base64(b"Man"), "TWFu");
    }

    #[test]
    fn nothing_breaks_out_of_text() {
        assert_eq!(escape("<b a='\"'>&"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;");
        assert_eq!(escape("a\u{202e}b\u{0}"), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn what_stands_in_backquotes_is_code() {
        for (text, html) in [
            (
                "run `a <b>` or `c`.",
                "run <code>a &lt;b&gt;</code> or <code>c</code>.",
            ),
            ("a ` b", "a ` b"),
            ("`a` ` b", "<code>a</code> ` b"),
            ("", ""),
        ] {
            assert_eq!(with_code(&escape(text)), html);
        }
    }
}
