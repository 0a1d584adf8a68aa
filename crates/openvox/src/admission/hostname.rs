//! Names of hosts, as Kubernetes judges them.

use std::net::IpAddr;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LONGEST: usize = 253;

/// What is wrong with a name; `None` if it is a host name once it is in lower case.
pub(super) fn problem(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let mut texts = Vec::new();
    if name.len() > LONGEST {
        texts.push(format!("must be no more than {LONGEST} characters"));
    }
    if !name.split('.').all(is_label) {
        texts.push(SUBDOMAIN.to_owned());
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn is_label(label: &str) -> bool {
    let is_outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = label.as_bytes();
    bytes.first().is_some_and(|&first| is_outer(first))
        && bytes.last().is_some_and(|&last| is_outer(last))
        && bytes.iter().all(|&byte| is_outer(byte) || byte == b'-')
}

/// The same for a name that may be an address.
pub(super) fn problem_unless_address(name: &str) -> Option<String> {
    match name.parse::<IpAddr>() {
        Ok(_) => None,
        Err(_) => problem(name),
    }
}
