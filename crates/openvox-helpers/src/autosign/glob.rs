//! Patterns for names, as Go's `filepath.Match` reads them.
//!
//! `*` is any run of characters but `/`, `?` one of them, `[a-z]` and `[^a]` are classes (`!` is a character like any
//! other, `]` cannot come first), a backslash takes the next character as it is. A pattern that is malformed matches
//! nothing.

/// A pattern.
#[derive(Debug)]
pub(super) struct Glob {
    /// None if the pattern is malformed.
    tokens: Option<Vec<Token>>,
}

#[derive(Debug)]
enum Token {
    Any,
    One,
    Literal(char),
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Token {
    /// Whether it stands for this one character; a run stands for none by itself.
    fn accepts(&self, character: char) -> bool {
        match self {
            Self::Any => false,
            Self::One => character != '/',
            Self::Literal(own) => *own == character,
            Self::Class { negated, ranges } => {
                let mut ranges = ranges.iter();
                ranges.any(|(low, high)| (*low..=*high).contains(&character)) != *negated
            }
        }
    }
}

impl Glob {
    pub(super) fn new(pattern: &str) -> Self {
        let mut rest = pattern.chars();
        let mut tokens = Vec::new();
        let mut next = || -> Option<Option<Token>> {
            Some(Some(match rest.next() {
                None => return Some(None),
                Some('*') => Token::Any,
                Some('?') => Token::One,
                Some('\\') => Token::Literal(rest.next()?),
                Some('[') => class(&mut rest)?,
                Some(character) => Token::Literal(character),
            }))
        };
        let tokens = loop {
            match next() {
                Some(Some(token)) => tokens.push(token),
                Some(None) => break Some(tokens),
                None => break None,
            }
        };
        Self { tokens }
    }

    /// Whether the whole text matches. A run is lengthened only as long as the one after it has not been tried, so the
    /// time is at most the product of both lengths.
    pub(super) fn matches(&self, text: &str) -> bool {
        let Some(tokens) = &self.tokens else {
            return false;
        };
        let text: Vec<char> = text.chars().collect();
        let (mut token, mut at) = (0, 0);
        // The last run: the token after it, and where its text ends so far.
        let mut run: Option<(usize, usize)> = None;
        loop {
            match (tokens.get(token), text.get(at)) {
                (None, None) => return true,
                (Some(Token::Any), _) => {
                    token += 1;
                    run = Some((token, at));
                }
                (Some(single), Some(character)) if single.accepts(*character) => {
                    token += 1;
                    at += 1;
                }
                _ => match run {
                    Some((after, end)) if text.get(end).is_some_and(|next| *next != '/') => {
                        run = Some((after, end + 1));
                        (token, at) = (after, end + 1);
                    }
                    _ => return false,
                },
            }
        }
    }
}

/// Reads a class after its bracket.
fn class(rest: &mut std::str::Chars<'_>) -> Option<Token> {
    let negated = rest.as_str().starts_with('^');
    if negated {
        rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        if !ranges.is_empty() && rest.as_str().starts_with(']') {
            rest.next();
            return Some(Token::Class { negated, ranges });
        }
        let low = bound(rest)?;
        let high = if rest.as_str().starts_with('-') {
            rest.next();
            bound(rest)?
        } else {
            low
        };
        ranges.push((low, high));
    }
}

/// Reads one end of a range; there has to be something after it.
fn bound(rest: &mut std::str::Chars<'_>) -> Option<char> {
    let character = match rest.next()? {
        '-' | ']' => return None,
        '\\' => rest.next()?,
        character => character,
    };
    (!rest.as_str().is_empty()).then_some(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, matching, others) in [
            ("web", &["web"][..], &["webs", "aweb", "WEB", ""][..]),
            (
                "*.x.org",
                &["a.x.org", "a.b.x.org", ".x.org"],
                &["x.org", "a.x.org.evil", "a/b.x.org"],
            ),
            ("*", &["", "a.b"], &["a/b", "/"]),
            ("**", &["", "a.b"], &["a/b"]),
            ("a*b*c", &["abc", "axbxc", "abbcc"], &["acb", "ab"]),
            ("*/*", &["a/b", "/"], &["a/b/c", "ab"]),
            ("w?b", &["wxb", "w€b"], &["wb", "w/b", "wxxb"]),
            ("n[0-9]", &["n7"], &["nx", "n77", "n"]),
            ("n[^0-9]", &["nx", "n/"], &["n7"]),
            ("n[!0-9]", &["n!", "n5"], &["nx"]),
            ("[a-cx]", &["b", "x"], &["d", "-"]),
            (r"a\*b", &["a*b"], &["axb"]),
            (r"[\]]", &["]"], &["a"]),
            (r"[\-x]", &["-", "x"], &["a"]),
            ("[z-a]", &[], &["a", "z", "m"]),
            ("", &[""], &["a"]),
        ] {
            let glob = Glob::new(pattern);
            for name in matching {
                assert!(glob.matches(name), "{pattern} should match {name}");
            }
            for name in others {
                assert!(!glob.matches(name), "{pattern} should not match {name}");
            }
        }
    }

    #[test]
    fn a_malformed_pattern_matches_nothing() {
        for pattern in [
            "[", "[a", "[]a]", "[a-]", "a[]b", "[^]", r"a\", r"[\", "[-a]", "*[",
        ] {
            let glob = Glob::new(pattern);
            assert!(glob.tokens.is_none(), "{pattern}");
            for name in ["", "a", "]", "[", pattern] {
                assert!(!glob.matches(name), "{pattern} should not match {name}");
            }
        }
    }

    #[test]
    fn many_runs_take_no_more_than_the_product_of_the_lengths() {
        let glob = Glob::new(&"*a".repeat(500));
        assert!(!glob.matches(&format!("{}b", "a".repeat(5000))));
    }
}
