//! The macros that sections and choices are declared with: type and facts from one text.

/// Declares sections: for each a struct, and the table about its fields.
///
/// A field reads `/// description`, `name: Type`, optionally `as "yaml-key"`, then facts in brackets; each fact is a
/// method of [`Field`].
macro_rules! section {
    (@key $name:ident) => { stringify!($name) };
    (@key $name:ident $key:literal) => { $key };
    (@open) => { false };
    (@open open) => { true };
    ($(
        $(#[doc = $summary:literal])+
        struct $section:ident $(($open:ident))? {
            $(
                $(#[doc = $description:literal])+
                $name:ident $(as $key:literal)? : $type:ty $([$($fact:ident $(($($argument:expr),+))?),+])?;
            )*
        }
    )+) => {$(
        $(#[doc = $summary])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(default)]
        pub struct $section {
            $(
                $(#[doc = $description])+
                $(#[serde(rename = $key)])?
                pub $name: $type,
            )*
        }

        impl $section {
            /// The facts about this section.
            pub const SECTION: &'static crate::config::field::Section = &crate::config::field::Section {
                name: stringify!($section),
                documentation: concat!($($summary),+),
                fields: &[$(
                    crate::config::field::Field::new(
                        section!(@key $name $($key)?),
                        concat!($($description),+),
                        <$type as crate::config::field::Described>::SHAPE,
                    )
                    $($(.$fact($($($argument),+)?))+)?
                ),*],
                open: section!(@open $($open)?),
            };
        }

        impl crate::config::field::Described for $section {
            const SHAPE: crate::config::field::Shape = crate::config::field::Shape::object(Self::SECTION);
        }
    )+};
}

/// Declares words that a field may take: an enum, its words, and the default (the first).
macro_rules! choice {
    ($(
        $(#[doc = $summary:literal])+
        enum $choice:ident {
            $($(#[doc = $description:literal])+ $variant:ident = $word:literal,)+
        }
    )+) => {$(
        $(#[doc = $summary])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
        pub enum $choice {
            $($(#[doc = $description])+ #[serde(rename = $word)] $variant,)+
        }

        impl $choice {
            /// The accepted words, the default first.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            const VARIANTS: &'static [Self] = &[$(Self::$variant),+];

            /// The word in YAML.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The variant that a word stands for.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::VARIANTS.iter().copied().find(|variant| variant.as_str() == word)
            }
        }

        impl Default for $choice {
            fn default() -> Self {
                let [first, ..] = Self::VARIANTS else { unreachable!("the macro takes at least one") };
                *first
            }
        }

        impl std::fmt::Display for $choice {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl crate::config::field::Described for $choice {
            const SHAPE: crate::config::field::Shape = crate::config::field::Shape::choice(Self::WORDS);
        }
    )+};
}

pub(crate) use {choice, section};
