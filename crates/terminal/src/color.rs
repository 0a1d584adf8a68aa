//! When to use colours.

use clap::ValueEnum;

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// If the output is a terminal
    Auto,
    #[expect(missing_docs, reason = "a text here would show in the help")]
    Always,
    #[expect(missing_docs, reason = "a text here would show in the help")]
    Never,
}

impl Color {
    /// Decides about colours for everything that is printed from here on.
    pub fn choose(self) {
        match self {
            Self::Auto => {}
            Self::Always => anstream::ColorChoice::Always.write_global(),
            Self::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}
