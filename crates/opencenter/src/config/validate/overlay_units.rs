//! Rules of the customer layer and of the SOPS unit.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use super::Validator;
use crate::{
    config::{CustomerManaged, SopsUnit, path},
    finding::{Code, Finding, Severity},
};

const CUSTOMER: &str = "opencenter.gitops.overlay_units.customer_managed";
const SOPS: &str = "opencenter.gitops.overlay_units.sops";

pub(super) fn check(validator: &mut Validator<'_>) {
    let units = &validator.config.opencenter.gitops.overlay_units;
    if units.customer_managed.enabled {
        repository(validator, &units.customer_managed);
        kustomizations(validator, &units.customer_managed);
        secret(validator, &units.customer_managed);
    }
    if units.sops.enabled {
        sops(validator, &units.sops);
    }
}

fn repository(validator: &mut Validator<'_>, customer: &CustomerManaged) {
    let Some(address) = customer.repository_url.as_deref() else {
        return;
    };
    let path = format!("{CUSTOMER}.repository_url");
    let Some((scheme, rest)) = address.split_once("://") else {
        validator.report_text(
            Code::Oc4004,
            path,
            "the repository address has no scheme",
            address,
        );
        return;
    };
    if !matches!(scheme, "ssh" | "https") {
        validator.report_text(
            Code::Oc4005,
            path,
            "the repository address must be ssh or https",
            scheme,
        );
        return;
    }
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let host = host.split(':').next().unwrap_or_default();
    if host.is_empty() {
        validator.report(Code::Oc4006, path, "the repository address has no host");
    } else if rest.contains(char::is_whitespace)
        || rest.contains(char::is_control)
        || !rest.contains('/')
    {
        validator.report(
            Code::Oc4004,
            path,
            "the repository address cannot be understood",
        );
    } else if !validator.options.allowed_hosts.is_empty()
        && !validator
            .options
            .allowed_hosts
            .iter()
            .any(|allowed| allowed == host)
    {
        validator.report_text(
            Code::Oc4030,
            path,
            "the host is not on the list of allowed hosts",
            host,
        );
    }
}

fn kustomizations(validator: &mut Validator<'_>, customer: &CustomerManaged) {
    let list = format!("{CUSTOMER}.kustomizations");
    if customer.kustomizations.is_empty() && validator.config.lookup(&list).is_some() {
        validator.report(
            Code::Oc4007,
            list.as_str(),
            "the list of kustomizations is empty",
        );
    }
    let mut names = BTreeSet::new();
    let mut edges: BTreeMap<&str, &[String]> = BTreeMap::new();
    for (index, kustomization) in customer.kustomizations.iter().enumerate() {
        let place = path::item(&list, index);
        if let Some(inside) = kustomization.path.as_deref() {
            let path = format!("{place}.path");
            if !inside.starts_with('/') {
                let finding = Finding::new(Code::Oc4010, path, "path must start with \"/\"");
                let help =
                    format!("use an absolute path inside the customer repository, e.g. /{inside}");
                validator.push(finding.got(super::quoted(inside)).help(help));
            } else if inside.split('/').any(|step| step == "..") {
                validator.report_text(Code::Oc2003, path, "the path leaves the repository", inside);
            }
        }
        if let Some(name) = kustomization.name.as_deref() {
            if !names.insert(name) {
                let path = format!("{place}.name");
                validator.report_text(
                    Code::Oc4011,
                    path,
                    "another kustomization has the same name",
                    name,
                );
            }
            edges.insert(
                name,
                kustomization.depends_on.as_deref().unwrap_or_default(),
            );
        }
    }
    if let Some(cycle) = find_cycle(&edges) {
        let message = format!(
            "kustomizations depend on each other in a cycle: {}",
            cycle.join(" → ")
        );
        validator.report(Code::Oc4012, list, message);
    }
}

/// A way from a unit back to itself, if there is one.
fn find_cycle<'a>(edges: &BTreeMap<&'a str, &'a [String]>) -> Option<Vec<&'a str>> {
    let mut done = BTreeSet::new();
    for start in edges.keys() {
        // Depth first with an explicit trail: each entry is a unit and how many of its edges were followed.
        let mut trail: Vec<(&str, usize)> = vec![(start, 0)];
        while let Some((name, followed)) = trail.last_mut() {
            let next = edges.get(*name).and_then(|targets| targets.get(*followed));
            *followed += 1;
            let Some(next) = next.map(String::as_str) else {
                done.insert(*name);
                trail.pop();
                continue;
            };
            if let Some(position) = trail.iter().position(|(visited, _)| *visited == next) {
                let mut cycle: Vec<_> = trail
                    .iter()
                    .skip(position)
                    .map(|(visited, _)| *visited)
                    .collect();
                cycle.extend(cycle.first().copied());
                return Some(cycle);
            }
            if let Some((name, _)) = edges
                .get_key_value(next)
                .filter(|(name, _)| !done.contains(*name))
            {
                trail.push((name, 0));
            }
        }
    }
    None
}

fn secret(validator: &mut Validator<'_>, customer: &CustomerManaged) {
    let config = validator.config;
    if let Some(reference) = &customer.secret_ref {
        let name = reference
            .strip_prefix("customer_managed.")
            .unwrap_or(reference);
        if !config.secrets.customer_managed.contains_key(name) {
            let path = format!("{CUSTOMER}.secret_ref");
            let message = format!("there is no entry `secrets.customer_managed.{name}`");
            validator.report_text(Code::Oc4017, path, message, reference);
            return;
        }
    }
    if !config.emits_customer_secret() {
        return;
    }
    let address = customer.repository_url.as_deref().unwrap_or_default();
    if address.starts_with("https://") {
        let path = format!("{CUSTOMER}.repository_url");
        validator.report(
            Code::Oc4013,
            path,
            "a key Secret is of no use for an https repository",
        );
        return;
    }
    let found = config.customer_repository_keys();
    let holder = found
        .as_ref()
        .map_or("secrets.overlay_units.customer_managed", |(path, _)| {
            path.as_str()
        });
    let keys = found.as_ref().map(|(_, keys)| *keys);
    for (code, field, value) in [
        (
            Code::Oc4014,
            "identity",
            keys.and_then(|keys| keys.identity.as_ref()),
        ),
        (
            Code::Oc4015,
            "identity_pub",
            keys.and_then(|keys| keys.identity_pub.as_ref()),
        ),
        (
            Code::Oc4016,
            "known_hosts",
            keys.and_then(|keys| keys.known_hosts.as_ref()),
        ),
    ] {
        let place = format!("{holder}.{field}");
        match value {
            None => validator.report(
                code,
                place,
                format!("`{field}` of the customer repository is missing"),
            ),
            Some(secret) if secret.is_placeholder() => {
                let severity = match validator.options.purpose {
                    crate::config::Purpose::Deploy => Severity::Error,
                    _ => Severity::Warning,
                };
                let message = format!("`{place}` is still a placeholder");
                validator.push(Finding::new(Code::Oc3031, place, message).severity(severity));
            }
            Some(_) => {}
        }
    }
}

fn sops(validator: &mut Validator<'_>, unit: &SopsUnit) {
    let list = format!("{SOPS}.rules");
    if unit.rules.is_empty() && validator.config.lookup(&list).is_some() {
        validator.report(Code::Oc4021, list.as_str(), "the list of rules is empty");
    }
    for (index, rule) in unit.rules.iter().enumerate() {
        let place = path::item(&list, index);
        for (field, expression) in [
            ("path_regex", rule.path_regex.as_deref()),
            ("encrypted_regex", rule.encrypted_regex.as_deref()),
        ] {
            if let Some(Err(error)) = expression.map(Regex::new) {
                let message = format!("`{field}` does not compile: {error}");
                let path = format!("{place}.{field}");
                validator.report_text(Code::Oc4025, path, message, expression.unwrap_or_default());
            }
        }
        let recipients = format!("{place}.age_recipients");
        if rule.age_recipients.is_empty() && validator.config.lookup(&recipients).is_some() {
            validator.report(
                Code::Oc4023,
                recipients.as_str(),
                "the list of recipients is empty",
            );
        }
        for (index, recipient) in rule.age_recipients.iter().enumerate() {
            let place = path::item(&recipients, index);
            if recipient.trim().is_empty() {
                validator.report(Code::Oc4024, place, "the recipient is empty");
            } else if !is_age_recipient(recipient) {
                validator.report_text(
                    Code::Oc4026,
                    place,
                    "this is not an age recipient",
                    recipient,
                );
            }
        }
    }
}

/// Whether a text looks like an age recipient: `age1` and 58 letters of the bech32 alphabet.
pub(crate) fn is_age_recipient(text: &str) -> bool {
    const ALPHABET: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    text.strip_prefix("age1").is_some_and(|data| {
        data.len() == 58 && data.chars().all(|letter| ALPHABET.contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(edges: &[(&'static str, &[&str])]) -> Option<String> {
        let owned: Vec<(&str, Vec<String>)> = edges
            .iter()
            .map(|(name, targets)| {
                (
                    *name,
                    targets.iter().map(|target| (*target).to_owned()).collect(),
                )
            })
            .collect();
        let edges: BTreeMap<&str, &[String]> = owned
            .iter()
            .map(|(name, targets)| (*name, targets.as_slice()))
            .collect();
        find_cycle(&edges).map(|cycle| cycle.join(" "))
    }

    #[test]
    fn finds_cycles_and_nothing_else() {
        assert_eq!(
            cycle(&[("a", &["b"]), ("b", &["c", "outside"]), ("c", &[])]),
            None
        );
        assert_eq!(
            cycle(&[("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"]), ("d", &[])]),
            None
        );
        assert_eq!(cycle(&[("a", &["a"])]).as_deref(), Some("a a"));
        assert_eq!(
            cycle(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]).as_deref(),
            Some("b c b")
        );
    }

    #[test]
    fn knows_age_recipients() {
        assert!(is_age_recipient(
            "age15n3dugqfej2hk8cqz2kcx78v6lxwllk5gruu4ermz2hu539xrgwq0w7dyn"
        ));
        for text in [
            "",
            "age1",
            "age1abc",
            "AGE-SECRET-KEY-1",
            "ssh-ed25519 AAAA",
        ] {
            assert!(!is_age_recipient(text), "{text}");
        }
    }
}
