//! Rows of what goes on for long: one for each thing that is kept, such as a specification.

use serde::Serialize;
use sokudo_model::{Text, secrets};

use crate::feed::Words;

/// A row as it is told.
#[derive(Debug, Clone)]
pub struct Row {
    /// Name of its subject.
    pub name: String,
    /// `green`, `yellow` or `red`.
    pub light: &'static str,
    /// Its description, in parts.
    pub parts: Vec<Text>,
}

impl Row {
    pub(crate) fn hide_secrets(&mut self) {
        self.name = secrets::hidden(&self.name).into_owned();
        self.parts.iter_mut().for_each(secrets::hide_words);
    }

    /// As pages get it.
    pub(crate) fn shown(self, both: impl Fn(&Text) -> Words) -> Shown {
        let parts: Vec<Words> = self.parts.iter().map(both).collect();
        let joined = |of: fn(&Words) -> &str| {
            let parts: Vec<&str> = parts.iter().map(of).collect();
            parts.join(" · ")
        };
        Shown {
            name: self.name,
            light: self.light,
            said: Words {
                en: joined(|part| &part.en),
                ja: joined(|part| &part.ja),
            },
        }
    }
}

/// A row as pages get it.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Shown {
    name: String,
    light: &'static str,
    said: Words,
}

/// Puts a row at its place; places that nothing was said of yet stay empty.
pub(crate) fn put(rows: &mut Vec<Shown>, place: usize, row: Shown) {
    /// More rows than this are not shown.
    const MOST: usize = 1_000;
    if place >= MOST {
        return;
    }
    if rows.len() <= place {
        rows.resize(place + 1, Shown::default());
    }
    rows[place] = row;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_places_and_a_bound_holds() {
        let words = |text: &Text| Words::same(text.as_words().unwrap_or_default());
        let row = |name: &str| Row {
            name: name.into(),
            light: "green",
            parts: vec!["copies".into(), "lag 2 s".into()],
        };
        let mut rows = Vec::new();
        put(&mut rows, 1, row("b").shown(words));
        put(&mut rows, 0, row("a").shown(words));
        put(&mut rows, 1, row("c").shown(words));
        put(&mut rows, usize::MAX, row("d").shown(words));
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
        assert_eq!(rows[0].said.en, "copies · lag 2 s");
    }
}
