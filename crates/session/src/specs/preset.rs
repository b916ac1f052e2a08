//! Settings for kinds of links: starting points, which each option that is given overrides.

/// A kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Preset {
    /// A fast, short link: one connection, compression as long as it outruns the link.
    Lan,
    /// A long link: more connections, for windows and losses that bound each of them.
    Wan,
    /// A thin link: higher compression, small frames.
    Slow,
}

impl Preset {
    /// Options and their values, as typed.
    pub fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Lan => &[
                ("connections", "1"),
                ("level", "auto"),
                ("batch", "1MiB"),
                ("chunk", "1MiB"),
            ],
            Self::Wan => &[
                ("connections", "8"),
                ("level", "auto"),
                ("batch", "1MiB"),
                ("chunk", "1MiB"),
            ],
            Self::Slow => &[
                ("connections", "2"),
                ("level", "3"),
                ("batch", "256KiB"),
                ("chunk", "256KiB"),
            ],
        }
    }
}
