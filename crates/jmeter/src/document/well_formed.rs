//! Check that a text is well-formed XML, with the messages of JMeter's parser.

/// Message where the text ends within an element.
const UNFINISHED: &str = "XML document structures must start and end within the same entity.";
const ENDED: &str = "Premature end of file.";

/// Fault of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct XmlFault {
    /// The message.
    pub says: String,
    /// Before it the text has a document type.
    pub has_type: bool,
}

/// Fails if a text is not well-formed XML. True: it has a document type.
pub(crate) fn check(text: &str) -> Result<bool, XmlFault> {
    let text = text.trim_start_matches('\u{feff}');
    let mut scanner = Scanner {
        rest: text,
        has_type: false,
    };
    match scanner.document() {
        Ok(()) => Ok(scanner.has_type),
        Err(says) => Err(XmlFault {
            says,
            has_type: scanner.has_type,
        }),
    }
}

struct Scanner<'t> {
    rest: &'t str,
    has_type: bool,
}

impl<'t> Scanner<'t> {
    fn takes(&mut self, wanted: &str) -> bool {
        let behind = self.rest.strip_prefix(wanted);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    /// Skips blanks; true if there were some.
    fn blanks(&mut self) -> bool {
        let behind = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let skipped = behind.len() < self.rest.len();
        self.rest = behind;
        skipped
    }

    /// Skips everything up to and including a text. Fails if it does not occur.
    fn until(&mut self, end: &str) -> Result<&'t str, String> {
        let (inside, behind) = self.rest.split_once(end).ok_or(UNFINISHED)?;
        self.rest = behind;
        Ok(inside)
    }

    fn name(&mut self) -> Option<&'t str> {
        let starts = |c: char| c.is_alphabetic() || matches!(c, '_' | ':');
        let goes_on = |c: char| starts(c) || c.is_alphanumeric() || matches!(c, '-' | '.' | '·');
        if !self.rest.starts_with(starts) {
            return None;
        }
        let end = self.rest.find(|c| !goes_on(c)).unwrap_or(self.rest.len());
        let (name, behind) = self.rest.split_at(end);
        self.rest = behind;
        Some(name)
    }

    fn document(&mut self) -> Result<(), String> {
        let begins = |c: char| c.is_ascii_whitespace();
        if self
            .rest
            .strip_prefix("<?xml")
            .is_some_and(|behind| behind.starts_with(begins))
        {
            self.until("?>")?;
        }
        self.prolog()?;
        self.element()?;
        loop {
            self.blanks();
            if self.rest.is_empty() {
                return Ok(());
            }
            if !self.rest.starts_with('<') {
                return Err("Content is not allowed in trailing section.".into());
            }
            if !self.comment_or_instruction()? {
                return Err(
                    "The markup in the document following the root element must be well-formed."
                        .into(),
                );
            }
        }
    }

    /// Everything before the root element.
    fn prolog(&mut self) -> Result<(), String> {
        loop {
            self.blanks();
            if self.rest.is_empty() {
                return Err(ENDED.into());
            }
            if !self.rest.starts_with('<') {
                return Err("Content is not allowed in prolog.".into());
            }
            if self.comment_or_instruction()? {
                continue;
            }
            if self.takes("<!DOCTYPE") {
                self.has_type = true;
                self.document_type()?;
                continue;
            }
            let starts = |c: char| c.is_alphabetic() || matches!(c, '_' | ':');
            return match self.rest[1..].starts_with(starts) {
                true => Ok(()),
                false => Err(
                    "The markup in the document preceding the root element must be well-formed."
                        .into(),
                ),
            };
        }
    }

    fn comment_or_instruction(&mut self) -> Result<bool, String> {
        if self.takes("<!--") {
            return self.until("-->").map(|_| true);
        }
        if !self.takes("<?") {
            return Ok(false);
        }
        let target = self.name().unwrap_or_default();
        if target.eq_ignore_ascii_case("xml") {
            return Err(
                "The processing instruction target matching \"[xX][mM][lL]\" is not allowed."
                    .into(),
            );
        }
        self.until("?>").map(|_| true)
    }

    /// A document type, whose beginning was taken.
    fn document_type(&mut self) -> Result<(), String> {
        let mut is_inside = false;
        loop {
            let at = self
                .rest
                .find(['>', '[', ']', '"', '\''])
                .ok_or(UNFINISHED)?;
            let sign = self.rest.as_bytes()[at];
            self.rest = &self.rest[at + 1..];
            match sign {
                b'[' => is_inside = true,
                b']' => is_inside = false,
                b'>' if !is_inside => return Ok(()),
                b'>' => {}
                quote => drop(self.until(char::from(quote).encode_utf8(&mut [0; 4]))?),
            }
        }
    }

    /// The root element with everything in it.
    fn element(&mut self) -> Result<(), String> {
        let mut open: Vec<&str> = Vec::new();
        loop {
            if self.takes("</") {
                self.end_tag(open.pop().unwrap_or_default())?;
            } else if self.comment_or_instruction()? {
            } else if self.takes("<![CDATA[") {
                self.until("]]>")?;
            } else if self.takes("<") {
                open.extend(self.start_tag()?);
            }
            if open.is_empty() {
                return Ok(());
            }
            self.characters()?;
        }
    }

    fn end_tag(&mut self, open: &str) -> Result<(), String> {
        if self.name() != Some(open) {
            return Err(format!(
                "The element type \"{open}\" must be terminated by the matching end-tag \"</{open}>\"."
            ));
        }
        self.blanks();
        match self.takes(">") {
            true => Ok(()),
            false => Err(format!(
                "The end-tag for element type \"{open}\" must end with a '>' delimiter."
            )),
        }
    }

    /// A start tag whose bracket was taken; `None`: the element is empty.
    fn start_tag(&mut self) -> Result<Option<&'t str>, String> {
        let name = self.name().ok_or(
            "The content of elements must consist of well-formed character data or markup.",
        )?;
        let mut known = std::collections::HashSet::new();
        loop {
            let is_apart = self.blanks();
            if self.rest.is_empty() {
                return Err(UNFINISHED.into());
            }
            if self.takes("/>") {
                return Ok(None);
            }
            if self.takes(">") {
                return Ok(Some(name));
            }
            let attribute = self.name().filter(|_| is_apart).ok_or_else(|| {
                format!("Element type \"{name}\" must be followed by either attribute specifications, \">\" or \"/>\".")
            })?;
            self.value(name, attribute)?;
            if !known.insert(attribute) {
                return Err(format!(
                    "Attribute \"{attribute}\" was already specified for element \"{name}\"."
                ));
            }
        }
    }

    /// The value of an attribute.
    fn value(&mut self, name: &str, attribute: &str) -> Result<(), String> {
        self.blanks();
        if !self.takes("=") {
            return Err(format!(
                "Attribute name \"{attribute}\" associated with an element type \"{name}\" must be followed by the ' = ' character."
            ));
        }
        self.blanks();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let quote = quote.ok_or_else(|| {
            format!(
                "Open quote is expected for attribute \"{attribute}\" associated with an  element type  \"{name}\"."
            )
        })?;
        self.rest = &self.rest[1..];
        loop {
            let at = self.rest.find([quote, '<', '&']).ok_or(UNFINISHED)?;
            let sign = self.rest.as_bytes()[at];
            self.rest = &self.rest[at + 1..];
            match sign {
                b'<' => {
                    return Err(format!(
                        "The value of attribute \"{attribute}\" associated with an element type \"{name}\" must not contain the '<' character."
                    ));
                }
                b'&' => self.reference()?,
                _ => return Ok(()),
            }
        }
    }

    /// Text up to the next tag.
    fn characters(&mut self) -> Result<(), String> {
        loop {
            let at = self
                .rest
                .find(['<', '&', ']'])
                .ok_or_else(|| self.invalid(UNFINISHED))?;
            let (text, behind) = self.rest.split_at(at);
            if let Some(says) = invalid_character(text) {
                return Err(says);
            }
            self.rest = behind;
            if behind.starts_with('<') {
                return Ok(());
            }
            if behind.starts_with("]]>") {
                return Err("The character sequence \"]]>\" must not appear in content unless used to mark the end of a CDATA section.".into());
            }
            self.rest = &behind[1..];
            if behind.starts_with('&') {
                self.reference()?;
            }
        }
    }

    /// The message about the rest of the text, if there is one about its characters.
    fn invalid(&self, otherwise: &str) -> String {
        invalid_character(self.rest).unwrap_or_else(|| otherwise.into())
    }

    /// A reference whose `&` was taken.
    fn reference(&mut self) -> Result<(), String> {
        if self.takes("#") {
            let digits = self.until(";")?;
            let code = match digits.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => digits.parse(),
            };
            let character = code.ok().and_then(char::from_u32).filter(|c| is_valid(*c));
            return match character {
                Some(_) => Ok(()),
                None => Err(format!(
                    "Character reference \"&#{digits}\" is an invalid XML character."
                )),
            };
        }
        let name = self
            .name()
            .ok_or("The entity name must immediately follow the '&' in the entity reference.")?;
        if !self.takes(";") {
            return Err(format!(
                "The reference to entity \"{name}\" must end with the ';' delimiter."
            ));
        }
        match matches!(name, "lt" | "gt" | "amp" | "quot" | "apos") || self.has_type {
            true => Ok(()),
            false => Err(format!(
                "The entity \"{name}\" was referenced, but not declared."
            )),
        }
    }
}

fn is_valid(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

fn invalid_character(text: &str) -> Option<String> {
    let found = text.chars().find(|character| !is_valid(*character))?;
    Some(format!(
        "An invalid XML character (Unicode: 0x{:x}) was found in the element content of the document.",
        u32::from(found)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_the_words_of_jmeters_parser() {
        for (text, says) in [
            ("", ENDED),
            (" \n", ENDED),
            ("text", "Content is not allowed in prolog."),
            (
                "<a><b></a>",
                "The element type \"b\" must be terminated by the matching end-tag \"</b>\".",
            ),
            ("<a>", UNFINISHED),
            ("<a", UNFINISHED),
            (
                "<a/><b/>",
                "The markup in the document following the root element must be well-formed.",
            ),
            (
                "<a x=1/>",
                "Open quote is expected for attribute \"x\" associated with an  element type  \"a\".",
            ),
            (
                "<a x=\"1\" x=\"2\"/>",
                "Attribute \"x\" was already specified for element \"a\".",
            ),
            (
                "<a>&undef;</a>",
                "The entity \"undef\" was referenced, but not declared.",
            ),
            (
                "<a>&</a>",
                "The entity name must immediately follow the '&' in the entity reference.",
            ),
            (
                "</a>",
                "The markup in the document preceding the root element must be well-formed.",
            ),
            (
                "<a><</a>",
                "The content of elements must consist of well-formed character data or markup.",
            ),
            ("<?xml version=\"1.0\"?>", ENDED),
            ("<a/>x", "Content is not allowed in trailing section."),
            (
                "\n<?xml version=\"1.0\"?><a/>",
                "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
            ),
            (
                "<a b/>",
                "Attribute name \"b\" associated with an element type \"a\" must be followed by the ' = ' character.",
            ),
            (
                "<a b=\"<\"/>",
                "The value of attribute \"b\" associated with an element type \"a\" must not contain the '<' character.",
            ),
            ("<!-- x", UNFINISHED),
            (
                "<![CDATA[x]]>",
                "The markup in the document preceding the root element must be well-formed.",
            ),
        ] {
            assert_eq!(
                check(text).map_err(|fault| fault.says),
                Err(says.into()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_well_formed_has_no_fault() {
        for (text, has_type) in [
            ("<a/>", false),
            (
                "\u{feff}<?xml version=\"1.0\"?>\n<!-- c --><?p i?><n:a b='1' c=\"&lt;\">x<b>&#65;<![CDATA[<]]></b>]</n:a>\n",
                false,
            ),
            ("<!DOCTYPE a [<!ENTITY e \">\">]><a>&e;</a>", true),
        ] {
            assert_eq!(check(text), Ok(has_type), "{text}");
        }
    }
}
