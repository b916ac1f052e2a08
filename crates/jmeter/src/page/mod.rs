//! Links of a page to its embedded resources.
//!
//! ```text
//! text/html, xml ─► html ─┐
//! text/css ───────► css ──┴─► links as they are written, with what they are relative to
//! ```
//!
//! The links are those that JMeter 5.6 finds with its default parsers: images, scripts, style
//! sheets, icons, frames, objects, backgrounds, and imports of style sheets. Any text is accepted:
//! invalid parts are skipped. One pass, no recursion; texts and their number are bounded.

mod css;
mod entity;
mod html;

/// Most links of one document; further ones are ignored.
pub const MOST_LINKS: usize = 4_096;
/// Longest link, bytes; longer ones are ignored.
const MOST_LINK_BYTES: usize = 8_192;

/// The kind of a document with links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// HTML, XHTML, WML or other XML.
    Markup,
    /// A style sheet.
    Style,
}

impl PageKind {
    /// The kind of a document with this `Content-Type`; `None`: it has no links.
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

/// A link or base of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageLink {
    /// URL of an embedded resource, entities replaced.
    Link(String),
    /// Base URL of the links after it.
    Base(String),
}

/// All links of a document in document order, duplicates included.
pub fn links(kind: PageKind, text: &str) -> Vec<PageLink> {
    let mut found = Findings::default();
    match kind {
        PageKind::Markup => html::scan(text, &mut found),
        PageKind::Style => css::scan(text, &mut found),
    }
    found.0
}

/// The links found so far.
#[derive(Default)]
struct Findings(Vec<PageLink>);

impl Findings {
    fn is_full(&self) -> bool {
        self.0.len() >= MOST_LINKS
    }

    /// Adds a URL: surrounding blanks and line ends inside are removed.
    fn link(&mut self, written: &str) {
        let link = entity::decoded(written.trim()).replace(['\r', '\n'], "");
        if !link.is_empty() && link.len() <= MOST_LINK_BYTES && !self.is_full() {
            self.0.push(PageLink::Link(link));
        }
    }

    fn base(&mut self, written: &str) {
        if !written.is_empty() && written.len() <= MOST_LINK_BYTES && !self.is_full() {
            self.0.push(PageLink::Base(written.into()));
        }
    }
}

#[cfg(test)]
mod tests;
