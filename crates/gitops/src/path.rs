//! Paths from rendered trees and journals: relative, plain, with `/`.

use crate::Error;

/// Accepts only paths whose every part is a plain name.
pub(crate) fn check(path: &str) -> Result<(), Error> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && !part
                .chars()
                .any(|character| character.is_control() || character == '\\')
    };
    if path.split('/').all(is_plain) {
        Ok(())
    } else {
        Err(Error::Escape {
            path: path.escape_debug().to_string(),
        })
    }
}

/// Directory and name; the directory of a top-level name is empty.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The directories above a path, innermost first, the root not among them.
pub(crate) fn parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(split(path).0), |directory| Some(split(directory).0))
        .take_while(|directory| !directory.is_empty())
}

/// `directory/name`, or the name alone below the root.
pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_pass() {
        for path in ["a", "a/b.yaml", ".sops.yaml", "a/..b/c"] {
            check(path).unwrap();
        }
        for path in [
            "", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a\nb", "a\\b", "a\0b",
        ] {
            assert!(check(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn parents_go_up_to_the_root() {
        assert_eq!(parents("a/b/c").collect::<Vec<_>>(), ["a/b", "a"]);
        assert_eq!(parents("a").count(), 0);
    }
}
