//! Addresses, as Go reads them: users know its error texts.

use crate::quote;

/// What is wrong with an address; `None` if it is an HTTP address with a host.
pub(super) fn problem(field: &str, url: &str) -> Option<String> {
    let shown = quote::go(url);
    match parse(url) {
        Err(cause) => Some(format!(
            "{field}: invalid URL {shown}: parse {shown}: {cause}"
        )),
        Ok((scheme, _)) if scheme != "http" && scheme != "https" => Some(format!(
            "{field}: URL {shown} must use http or https scheme"
        )),
        Ok((_, "")) => Some(format!("{field}: URL {shown} must include a host")),
        Ok(_) => None,
    }
}

/// Scheme and host.
fn parse(url: &str) -> Result<(String, &str), String> {
    if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
    check_escapes(fragment)?;
    let (scheme, rest) = split_scheme(url)?;
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            // An opaque address: it has no host.
            return Ok((scheme, ""));
        }
        let segment = rest.split('/').next().unwrap_or_default();
        if segment.contains(':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let is_hosted = !scheme.is_empty() || !rest.starts_with("///");
    let Some(authority) = rest.strip_prefix("//").filter(|_| is_hosted) else {
        check_escapes(rest)?;
        return Ok((scheme, ""));
    };
    let end = authority.find('/').unwrap_or(authority.len());
    let (authority, path) = authority.split_at(end);
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    check_host(host)?;
    check_escapes(path)?;
    Ok((scheme, host))
}

/// The scheme in lower case, and what follows its colon.
fn split_scheme(url: &str) -> Result<(String, &str), String> {
    for (position, character) in url.char_indices() {
        match character {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if position > 0 => {}
            ':' if position == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => {
                let (scheme, rest) = url.split_at(position);
                return Ok((scheme.to_lowercase(), rest.get(1..).unwrap_or_default()));
            }
            _ => break,
        }
    }
    Ok((String::new(), url))
}

fn check_host(host: &str) -> Result<(), String> {
    let (name, port) = if host.starts_with('[') {
        let end = host.rfind(']').ok_or("missing ']' in host")?;
        host.split_at(end + 1)
    } else {
        host.split_at(host.rfind(':').unwrap_or(host.len()))
    };
    let is_port = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_port {
        return Err(format!("invalid port {} after host", quote::go(port)));
    }
    if let Some(start) = name.find('%') {
        return Err(invalid_escape(name, start));
    }
    let refused = |character: &char| {
        character.is_ascii()
            && !character.is_ascii_alphanumeric()
            && !"-_.~!$&'()*+,;=:[]<>\"".contains(*character)
    };
    match name.chars().find(refused) {
        None => Ok(()),
        Some(character) => Err(format!(
            "invalid character {} in host name",
            quote::go(character.encode_utf8(&mut [0; 4]))
        )),
    }
}

fn check_escapes(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    for (start, _) in text.match_indices('%') {
        let digits = bytes.get(start + 1..start + 3);
        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            return Err(invalid_escape(text, start));
        }
    }
    Ok(())
}

/// Names up to three bytes from the percent sign on.
fn invalid_escape(text: &str, start: usize) -> String {
    let rest = text.get(start..).unwrap_or_default();
    let shown = mainstay_engine::conditions::cut(rest, 3);
    format!("invalid URL escape {}", quote::go(shown))
}
