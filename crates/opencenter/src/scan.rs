//! The search for secrets in the files of a repository. Pure: one file in, findings out, never a secret in them.

use mainstay_yaml::{Document, Limits, SourceName, parse_bytes};
use serde_json::Value;

use crate::{
    config::is_placeholder,
    finding::{Code, Finding},
};

/// Directories that are never looked into: Git's own, and caches of tools.
pub const SKIPPED_DIRECTORIES: &[&str] = &[
    ".git",
    ".terraform",
    ".terragrunt-cache",
    ".venv",
    ".cache",
    "node_modules",
    "__pycache__",
];

/// Beginnings of the tokens of Git services, and how long what follows is at least.
const TOKENS: &[(&str, usize)] = &[
    ("ghp_", 36),
    ("gho_", 36),
    ("ghu_", 36),
    ("ghs_", 36),
    ("ghr_", 36),
    ("github_pat_", 22),
    ("glpat-", 20),
    ("gldt-", 20),
    ("glrt-", 20),
];

/// Parts of keys whose values are secrets wherever they stand.
const SECRET_WORDS: &[&str] = &[
    "password",
    "secret",
    "token",
    "apikey",
    "api_key",
    "access_key",
    "private_key",
];

/// Endings of keys that only name a secret.
const NAMING_WORDS: &[&str] = &[
    "name",
    "ref",
    "file",
    "path",
    "key_id",
    "namespace",
    "enabled",
    "regex",
];

/// Looks through one file. Only files with the extension `yaml` or `yml` are taken for YAML.
pub fn scan(file: &str, bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Ok(text) = str::from_utf8(bytes) {
        scan_text(file, text, &mut findings);
    }
    let extension = std::path::Path::new(file).extension();
    if extension.is_some_and(|extension| extension == "yaml" || extension == "yml") {
        scan_yaml(file, bytes, &mut findings);
    }
    findings
}

fn scan_text(file: &str, text: &str, findings: &mut Vec<Finding>) {
    for (index, line) in text.lines().enumerate() {
        let mut report = |code: Code, message: &str| {
            let mut finding = Finding::new(code, "", message);
            finding.file = Some(file.to_owned());
            finding.line = u32::try_from(index + 1).ok();
            finding.column = Some(1);
            findings.push(finding);
        };
        if line.contains("AGE-SECRET-KEY-") {
            report(Code::Oc7010, "the line holds an age private key");
        }
        if holds_private_key(line) {
            report(Code::Oc7011, "the line begins a private key");
        }
        if holds_token(line) || holds_login(line) {
            report(
                Code::Oc7012,
                "the line holds a Git token or a password in an address",
            );
        }
    }
}

/// `-----BEGIN … PRIVATE KEY-----`, whatever the algorithm.
fn holds_private_key(line: &str) -> bool {
    line.split("-----BEGIN ")
        .skip(1)
        .filter_map(|rest| rest.split("-----").next())
        .any(|label| label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK"))
}

fn holds_token(line: &str) -> bool {
    TOKENS.iter().any(|(start, length)| {
        line.match_indices(start).any(|(index, _)| {
            let rest = line.get(index + start.len()..).unwrap_or_default();
            let run = rest
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
            run.count() >= *length
        })
    })
}

/// `https://user:password@host`.
fn holds_login(line: &str) -> bool {
    line.split("https://").skip(1).any(|rest| {
        let authority = rest
            .split(|character: char| {
                matches!(character, '/' | '"' | '\'') || character.is_whitespace()
            })
            .next()
            .unwrap_or_default();
        authority
            .rsplit_once('@')
            .and_then(|(login, _)| login.split_once(':'))
            .is_some_and(|(_, password)| {
                // An expression stands for a password, it is none.
                !password.is_empty() && !password.starts_with(['$', '{', '<'])
            })
    })
}

fn scan_yaml(file: &str, bytes: &[u8], findings: &mut Vec<Finding>) {
    let source = SourceName::new(file);
    match parse_bytes(bytes, &source, &Limits::default()) {
        Ok(documents) => {
            for document in &documents {
                let mut scanner = Scanner {
                    document,
                    encrypted: document.value.get("sops").is_some(),
                    findings,
                };
                scanner.document();
            }
        }
        Err(error) => {
            let message = "the file is not YAML, so it was not searched for unencrypted secrets";
            findings.push(
                Finding::new(Code::Oc7018, "", message)
                    .in_file(&source)
                    .at(error.position()),
            );
        }
    }
}

struct Scanner<'a> {
    document: &'a Document,
    encrypted: bool,
    findings: &'a mut Vec<Finding>,
}

impl Scanner<'_> {
    fn report(&mut self, code: Code, pointer: &str, message: String) {
        let path = pointer.trim_start_matches('/').replace('/', ".");
        let finding = Finding::new(code, path, message)
            .in_file(self.document.source_name())
            .at(self.document.position(pointer).value);
        self.findings.push(finding);
    }

    fn document(&mut self) {
        let value = self.document.value.clone();
        if self.encrypted {
            self.metadata(&value);
        }
        self.object("", &value);
    }

    /// A Kubernetes object, a list of them, or anything else.
    fn object(&mut self, pointer: &str, value: &Value) {
        let kind = value
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let items = value.get("items").and_then(Value::as_array);
        match (kind, items) {
            ("Secret", _) => self.secret(pointer, value),
            (_, Some(items)) if kind.ends_with("List") => {
                for (index, item) in items.iter().enumerate() {
                    self.object(&format!("{pointer}/items/{index}"), item);
                }
            }
            _ => self.stubs_by_key(pointer, value),
        }
    }

    fn secret(&mut self, pointer: &str, value: &Value) {
        if !self.encrypted {
            self.report(
                Code::Oc7013,
                pointer,
                "the Secret has no `sops` block".to_owned(),
            );
        }
        for block in ["data", "stringData"] {
            let Some(entries) = value.get(block).and_then(Value::as_object) else {
                continue;
            };
            for (key, entry) in entries {
                let pointer = format!("{pointer}/{block}/{}", escaped(key));
                let text = entry.as_str().unwrap_or_default();
                if self.encrypted && !text.is_empty() && !text.starts_with("ENC[") {
                    self.report(Code::Oc7015, &pointer, format!("`{key}` is not encrypted"));
                }
                let decoded = (block == "data").then(|| decode_base64(text)).flatten();
                self.stub(&pointer, decoded.as_deref().unwrap_or(text));
            }
        }
    }

    fn stub(&mut self, pointer: &str, text: &str) {
        if text.eq_ignore_ascii_case("CHANGEME") {
            self.report(
                Code::Oc7016,
                pointer,
                "the secret is still to be filled in".to_owned(),
            );
        } else if is_placeholder(text) {
            self.report(
                Code::Oc7017,
                pointer,
                "the secret is a placeholder".to_owned(),
            );
        }
    }

    /// Stand-ins in values whose keys say that they are secrets.
    fn stubs_by_key(&mut self, pointer: &str, value: &Value) {
        match value {
            Value::Object(entries) => {
                for (key, entry) in entries {
                    let inner = format!("{pointer}/{}", escaped(key));
                    match entry {
                        Value::String(text) if is_secret_key(key) => self.stub(&inner, text),
                        _ => self.stubs_by_key(&inner, entry),
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.stubs_by_key(&format!("{pointer}/{index}"), item);
                }
            }
            _ => {}
        }
    }

    fn metadata(&mut self, value: &Value) {
        let sops = value.get("sops").unwrap_or(&Value::Null);
        let sealed = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str).unwrap_or_default();
            text.starts_with("ENC[AES256_GCM,")
        };
        if !sealed(sops.get("mac")) {
            let message = "`sops.mac` is missing or not encrypted".to_owned();
            self.report(Code::Oc7014, "/sops", message);
        }
        let keys = sops.get("age").and_then(Value::as_array);
        let is_usable = |key: &Value| {
            let text = |name: &str| key.get(name).and_then(Value::as_str).unwrap_or_default();
            text("recipient").starts_with("age1")
                && text("enc").starts_with("-----BEGIN AGE ENCRYPTED FILE-----")
        };
        if !keys.is_some_and(|keys| keys.iter().any(is_usable)) {
            let message = "`sops.age` has no entry that could be decrypted".to_owned();
            self.report(Code::Oc7014, "/sops", message);
        }
    }
}

fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('-', "_");
    SECRET_WORDS.iter().any(|word| key.contains(word))
        && !NAMING_WORDS.iter().any(|word| key.ends_with(word))
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The text behind base64, if it is text.
fn decode_base64(text: &str) -> Option<String> {
    let mut bits = 0_u32;
    let mut count = 0;
    let mut bytes = Vec::with_capacity(text.len());
    for byte in text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=')
    {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(file: &str, text: &str) -> Vec<(u16, Option<u32>)> {
        let findings = scan(file, text.as_bytes());
        for finding in &findings {
            assert!(
                !finding.to_text().contains("hunter2"),
                "{}",
                finding.to_text()
            );
        }
        findings
            .iter()
            .map(|finding| (finding.code.number(), finding.line))
            .collect()
    }

    const SEALED: &str = "\
kind: Secret
stringData: {a: 'ENC[AES256_GCM,data:x]'}
sops:
  mac: ENC[AES256_GCM,data:x]
  age: [{recipient: age1x, enc: '-----BEGIN AGE ENCRYPTED FILE-----'}]
";

    #[test]
    fn finds_keys_and_tokens_in_any_file() {
        let token = format!("x\nurl: ghp_{}", "a".repeat(36));
        assert_eq!(codes("notes.txt", &token), [(7012, Some(2))]);
        for (line, code) in [
            ("k: AGE-SECRET-KEY-1QQQ", 7010),
            ("-----BEGIN OPENSSH PRIVATE KEY-----", 7011),
            ("-----BEGIN PRIVATE KEY-----", 7011),
            ("git clone https://bot:hunter2@git.example.com/x.git", 7012),
        ] {
            assert_eq!(codes("a.sh", line), [(code, Some(1))], "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_a_key_passes() {
        for line in [
            "-----BEGIN CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----",
            "https://git.example.com/a@b:c",
            "https://bot:${TOKEN}@git.example.com",
            "ghp_short",
            "recipient: age1qqq",
        ] {
            assert_eq!(codes("a.sh", line), [], "{line}");
        }
    }

    #[test]
    fn a_secret_must_be_encrypted_wherever_it_stands() {
        assert_eq!(
            codes("s.yaml", "kind: Secret\nstringData: {a: hunter2}\n"),
            [(7013, Some(1))]
        );
        let list = "kind: List\nitems:\n- kind: Secret\n  data: {}\n- kind: ConfigMap\n";
        assert_eq!(codes("s.yaml", list), [(7013, Some(3))]);
        assert_eq!(codes("s.yaml", SEALED), []);
        let two = format!("{SEALED}---\nkind: Secret\n");
        assert_eq!(codes("s.yaml", &two), [(7013, Some(7))]);
    }

    #[test]
    fn an_encrypted_secret_must_be_whole() {
        let plain_field = SEALED.replace("a: 'ENC[AES256_GCM,data:x]'", "a: hunter2");
        assert_eq!(codes("s.yaml", &plain_field), [(7015, Some(2))]);
        let plain_code = SEALED.replace("mac: ENC[AES256_GCM,data:x]", "mac: x");
        assert_eq!(codes("s.yaml", &plain_code), [(7014, Some(4))]);
        let no_key = SEALED.replace("age1x", "x");
        assert_eq!(codes("s.yaml", &no_key), [(7014, Some(4))]);
    }

    #[test]
    fn stand_ins_are_found_in_secrets_and_behind_telling_keys() {
        let secret = "kind: Secret\ndata:\n  a: Q0hBTkdFTUU=\n  b: UExBQ0VIT0xERVItWA==\n";
        assert_eq!(
            codes("s.yaml", secret),
            [(7013, Some(1)), (7016, Some(3)), (7017, Some(4))]
        );
        let values =
            "grafana:\n  adminPassword: CHANGEME\n  secretName: PLACEHOLDER-X\n  note: CHANGEME\n";
        assert_eq!(codes("values.yaml", values), [(7016, Some(2))]);
    }

    #[test]
    fn a_file_that_is_not_yaml_says_so() {
        assert_eq!(
            codes("s.yaml", "a: [\n").first().map(|finding| finding.0),
            Some(7018)
        );
        assert_eq!(codes("s.txt", "a: [\n"), []);
    }
}
