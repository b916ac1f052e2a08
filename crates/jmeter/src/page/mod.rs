//! What does a page need besides itself?
//!
//! ```text
//! text/html, xml ─► html ─┐
//! text/css ───────► css ──┴─► links as they are written, with what they are relative to
//! ```
//!
//! The links are those that JMeter 5.6 finds with its usual parsers: images, scripts, style sheets,
//! icons, frames, objects, backgrounds, and what style sheets import. Any text is a page: what
//! cannot be read is passed over. One pass, no recursion; texts and their number are bounded.

mod css;
mod entity;
mod html;

/// Most links of one document; further ones are not asked for.
pub const MOST_LINKS: usize = 4_096;
/// Longest link, bytes; a longer one is passed over.
const MOST_LINK_BYTES: usize = 8_192;

/// What a document is, as far as links in it are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// HTML, XHTML, WML or other XML.
    Markup,
    /// A style sheet.
    Style,
}

impl Kind {
    /// The kind of a document of this `Content-Type`; `None`: there are no links in it.
    pub fn of(content_type: &str) -> Option<Self> {
        const MARKUP: &[&str] = &[
            "text/html",
            "application/xhtml+xml",
            "application/xml",
            "text/xml",
            "text/vnd.wap.wml",
        ];
        let media = content_type.split(';').next().unwrap_or_default().trim();
        let is = |name: &&str| media.eq_ignore_ascii_case(name);
        match () {
            () if MARKUP.iter().any(is) => Some(Self::Markup),
            () if is(&"text/css") => Some(Self::Style),
            () => None,
        }
    }
}

/// Something found in a document, in the order in which it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The address of something that belongs to the page, entities undone.
    Link(String),
    /// What links from here on are relative to.
    Base(String),
}

/// All links of a document, doubled ones too.
pub fn links(kind: Kind, text: &str) -> Vec<Found> {
    let mut found = Findings::default();
    match kind {
        Kind::Markup => html::scan(text, &mut found),
        Kind::Style => css::scan(text, &mut found),
    }
    found.0
}

/// What was found so far.
#[derive(Default)]
struct Findings(Vec<Found>);

impl Findings {
    fn is_full(&self) -> bool {
        self.0.len() >= MOST_LINKS
    }

    /// An address as it is written: blanks around it and line ends in it do not count.
    fn link(&mut self, written: &str) {
        let link = entity::decoded(written.trim()).replace(['\r', '\n'], "");
        if !link.is_empty() && link.len() <= MOST_LINK_BYTES && !self.is_full() {
            self.0.push(Found::Link(link));
        }
    }

    fn base(&mut self, written: &str) {
        if !written.is_empty() && written.len() <= MOST_LINK_BYTES && !self.is_full() {
            self.0.push(Found::Base(written.into()));
        }
    }
}

#[cfg(test)]
mod tests;
