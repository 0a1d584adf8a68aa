//! The expression that names the OpenShift versions a bundle is offered to.

use std::{fmt, str::FromStr};

/// Versions of OpenShift: `v4.N` and later, exactly `=v4.N`, or `v4.N-v4.M` with both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenShiftVersions {
    /// This minor version and later ones.
    From(u32),
    /// This minor version only.
    Only(u32),
    /// These minor versions and all between them.
    Between(u32, u32),
}

/// Not an expression of OpenShift versions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an expression of OpenShift versions: use `v4.13`, `=v4.13` or `v4.13-v4.15`")]
pub struct OpenShiftVersionsError(String);

impl FromStr for OpenShiftVersions {
    type Err = OpenShiftVersionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let versions = if let Some(only) = text.strip_prefix('=') {
            minor(only).map(Self::Only)
        } else if let Some((first, last)) = text.split_once('-') {
            let ends = minor(first)
                .zip(minor(last))
                .filter(|(first, last)| first <= last);
            ends.map(|(first, last)| Self::Between(first, last))
        } else {
            minor(text).map(Self::From)
        };
        versions.ok_or_else(|| OpenShiftVersionsError(text.to_owned()))
    }
}

impl fmt::Display for OpenShiftVersions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::From(minor) => write!(formatter, "v4.{minor}"),
            Self::Only(minor) => write!(formatter, "=v4.{minor}"),
            Self::Between(first, last) => write!(formatter, "v4.{first}-v4.{last}"),
        }
    }
}

/// The N of `v4.N`, written without sign or leading zeros.
fn minor(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("v4.")?;
    let number = digits.parse::<u32>().ok()?;
    (number.to_string() == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_the_three_forms_and_prints_them_as_they_were() {
        for text in ["v4.13", "=v4.9", "v4.13-v4.15", "v4.13-v4.13", "v4.0"] {
            assert_eq!(text.parse::<OpenShiftVersions>().unwrap().to_string(), text);
        }
        assert!(crate::OLDEST_OPENSHIFT.parse::<OpenShiftVersions>().is_ok());
    }

    #[test]
    fn refuses_everything_else() {
        let table = [
            "",
            "4.13",
            "v4",
            "v4.",
            "v5.1",
            "v4.13,v4.14",
            "v4.13 - v4.15",
            " v4.13",
            "v4.15-v4.13",
            "==v4.13",
            "=v4.13-v4.14",
            "v4.13-",
            "-v4.13",
            "v4.+3",
            "v4.013",
            "v4.1.2",
            "v4.99999999999",
        ];
        for text in table {
            let error = text.parse::<OpenShiftVersions>().unwrap_err();
            assert!(
                error.to_string().starts_with(&format!("`{text}` is not")),
                "{text}"
            );
        }
    }
}
