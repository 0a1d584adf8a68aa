//! Names of buckets, checked before anything is sent. The texts are those of the client that the original uses.

const INVALID: &str = "Bucket name contains invalid characters";

/// Whether there may be a bucket of this name.
pub(super) fn check(name: &str) -> Result<(), String> {
    common(name)?;
    let inner = |letter: char| letter.is_ascii_alphanumeric() || ".-_:".contains(letter);
    shaped(name, inner, |letter| letter.is_ascii_alphanumeric())
}

/// Whether a bucket of this name may be made.
pub(super) fn check_strictly(name: &str) -> Result<(), String> {
    common(name)?;
    let outer = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    shaped(name, |letter| outer(letter) || ".-".contains(letter), outer)
}

fn common(name: &str) -> Result<(), String> {
    let fault = if name.trim().is_empty() {
        "Bucket name cannot be empty"
    } else if name.len() < 3 {
        "Bucket name cannot be shorter than 3 characters"
    } else if name.len() > 63 {
        "Bucket name cannot be longer than 63 characters"
    } else if is_address(name) {
        "Bucket name cannot be an ip address"
    } else if ["..", ".-", "-."].iter().any(|pair| name.contains(pair)) {
        INVALID
    } else {
        return Ok(());
    };
    Err(fault.to_owned())
}

fn is_address(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() == 4 && parts.iter().all(number)
}

fn shaped(
    name: &str,
    inner: impl Fn(char) -> bool,
    outer: impl Fn(char) -> bool,
) -> Result<(), String> {
    if name.chars().all(inner) && name.starts_with(&outer) && name.ends_with(&outer) {
        Ok(())
    } else {
        Err(INVALID.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_looked_for_is_more_than_what_may_be_made() {
        for good in ["golden-photos", "a.b", "123", &"x".repeat(63)] {
            assert_eq!(
                (check(good), check_strictly(good)),
                (Ok(()), Ok(())),
                "{good}"
            );
        }
        for old in ["Golden_Photos", "a:b"] {
            assert_eq!(
                (check(old), check_strictly(old)),
                (Ok(()), Err(INVALID.to_owned())),
                "{old}"
            );
        }
    }

    #[test]
    fn faults_are_named() {
        let faults = [
            ("", "Bucket name cannot be empty"),
            ("ab", "Bucket name cannot be shorter than 3 characters"),
            (
                &"x".repeat(64),
                "Bucket name cannot be longer than 63 characters",
            ),
            ("10.0.0.1", "Bucket name cannot be an ip address"),
            ("a..b", INVALID),
            ("-ab", INVALID),
            ("ab-", INVALID),
            ("a/b", INVALID),
            ("süß", INVALID),
        ];
        for (name, fault) in faults {
            assert_eq!(check(name), Err(fault.to_owned()), "{name}");
        }
    }
}
