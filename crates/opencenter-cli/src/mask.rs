//! What looks like a secret, in texts that others wrote.

use std::sync::LazyLock;

use mainstay_opencenter::finding::Finding;
use regex::Regex;

/// What to look for, and what stands in its place.
const RULES: [(&str, &str); 5] = [
    // Access keys of AWS; their ends tell which one it is.
    (r"\b(AKIA|ASIA)[A-Z0-9]{12}([A-Z0-9]{4})\b", "$1***$2"),
    // Tokens and keys that are known by how they begin.
    (
        r"(?i)\b(gh[pousr]_|github_pat_|glpat-|xox[abpr]-|age-secret-key-1)[a-z0-9_-]{8,}",
        "$1***",
    ),
    (
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        "***",
    ),
    // A name that says that a secret follows. Where our own texts explain how to give one, none follows.
    (
        r#"(?i)((?:password|passwd|passphrase|secret|token|api[_-]?key|(?:access|private|secret)[_-]key)["']?\s*=\s*)(?:"[^"]*"|'[^']*'|[^\s,;&"'@<$`*-][^\s,;&"'`]*)"#,
        "$1***",
    ),
    // A sign-in in a header or in an address.
    (
        r"(?i)(\b(?:bearer|basic)\s+|://[^\s/:@]+:)[a-z0-9._~+/=%!-]{4,}(@|\s|$)",
        "$1***$2",
    ),
];

/// A private key, from its first line on.
const PRIVATE_KEY: &str = "-----BEGIN";

static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let compiled = RULES
        .iter()
        .map(|(rule, instead)| (Regex::new(rule), *instead));
    compiled
        .filter_map(|(rule, instead)| Some((rule.ok()?, instead)))
        .collect()
});

/// Hides what looks like a secret in text that we did not write ourselves.
pub(crate) fn mask(text: &str) -> String {
    let mut masked = text.to_owned();
    for (rule, instead) in COMPILED.iter() {
        if rule.is_match(&masked) {
            masked = rule.replace_all(&masked, *instead).into_owned();
        }
    }
    if !masked.contains(PRIVATE_KEY) {
        return masked;
    }
    let lines = masked
        .lines()
        .map(|line| match line.split_once(PRIVATE_KEY) {
            Some((before, _)) => format!("{before}***"),
            None => line.to_owned(),
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// Hides what looks like a secret in all that a finding says.
pub(crate) fn mask_finding(finding: &mut Finding) {
    finding.message = mask(&finding.message);
    finding.got = finding.got.take().map(|got| mask(&got));
    finding.help = finding.help.take().map(|help| mask(&help));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_an_expression() {
        assert_eq!(COMPILED.len(), RULES.len());
    }

    #[test]
    fn hides_what_looks_like_a_secret_and_nothing_else() {
        for (text, expected) in [
            ("key AKIAIOSFODNN7EXAMPLE is bad", "key AKIA***MPLE is bad"),
            ("password=hunter2 user=ann", "password=*** user=ann"),
            ("DB_PASSWORD = 'a b' end", "DB_PASSWORD = *** end"),
            ("?token=abc&x=1", "?token=***&x=1"),
            (
                "aws_secret_access_key=wJal/XUt",
                "aws_secret_access_key=***",
            ),
            (
                "application_credential_secret=xyz",
                "application_credential_secret=***",
            ),
            ("ghp_0123456789abcdef0123", "ghp_***"),
            ("glpat-0123456789abcdef", "glpat-***"),
            ("AGE-SECRET-KEY-1QQQQQQQQQQQQ", "AGE-SECRET-KEY-1***"),
            (
                "Authorization: Bearer abcdef.ghi",
                "Authorization: Bearer ***",
            ),
            ("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "***"),
            (
                "https://ann:hunter2@example.org/x",
                "https://ann:***@example.org/x",
            ),
            ("-----BEGIN PRIVATE KEY-----", "***"),
            ("`admin_password` is empty", "`admin_password` is empty"),
            (
                "set it with admin_password=@FILE",
                "set it with admin_password=@FILE",
            ),
            (
                "ssh://git@example.org:2222/x",
                "ssh://git@example.org:2222/x",
            ),
            ("the token of the secret", "the token of the secret"),
        ] {
            assert_eq!(mask(text), expected);
        }
    }
}
