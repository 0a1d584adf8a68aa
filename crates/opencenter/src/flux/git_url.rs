//! Repository addresses in the form that the way of signing in needs.

use thiserror::Error;

/// How Flux signs in to Git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GitAuthentication {
    /// With a token, over https.
    #[default]
    Token,
    /// With a key, over ssh.
    Ssh,
    /// As the address says; a public https base repository needs no Secret.
    AsIs,
}

impl GitAuthentication {
    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Ssh => "ssh",
            Self::AsIs => "as-is",
        }
    }
}

/// Why an address cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GitUrlError {
    /// There is nothing.
    #[error("the address is empty")]
    Empty,
    /// It is not ssh, https, http or `user@host:path`.
    #[error("the address is neither ssh nor https")]
    Scheme,
    /// It has no host.
    #[error("the address has no host")]
    Host,
    /// It has no path.
    #[error("the address has no path")]
    Path,
    /// It holds a character that no address has.
    #[error("the address holds a blank or a control character")]
    Character,
}

/// Turns an address into the form of a sign-in method.
///
/// User names and passwords are dropped; the path keeps its `.git`.
pub fn convert_git_url(
    url: &str,
    authentication: GitAuthentication,
) -> Result<String, GitUrlError> {
    let url = url.trim();
    let (host, path) = host_and_path(url)?;
    Ok(match authentication {
        GitAuthentication::Token => format!("https://{host}/{path}"),
        GitAuthentication::Ssh => format!("ssh://git@{host}/{path}"),
        GitAuthentication::AsIs => url.to_owned(),
    })
}

/// Host with port, and path without slashes at its ends.
fn host_and_path(url: &str) -> Result<(&str, &str), GitUrlError> {
    if url.is_empty() {
        return Err(GitUrlError::Empty);
    }
    if url
        .chars()
        .any(|character| character.is_whitespace() || character.is_control())
    {
        return Err(GitUrlError::Character);
    }
    let (authority, path) = match url.split_once("://") {
        Some(("https" | "http" | "ssh", rest)) => rest.split_once('/').unwrap_or((rest, "")),
        Some(_) => return Err(GitUrlError::Scheme),
        None => scp_form(url).ok_or(GitUrlError::Scheme)?,
    };
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let path = path.trim_matches('/');
    match (host, path) {
        ("", _) => Err(GitUrlError::Host),
        (_, "") => Err(GitUrlError::Path),
        found => Ok(found),
    }
}

/// `user@host:path`; a colon after a slash belongs to the path.
fn scp_form(url: &str) -> Option<(&str, &str)> {
    let (authority, path) = url.split_once(':')?;
    (authority.contains('@') && !authority.contains('/')).then_some((authority, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_every_accepted_form_to_both_methods() {
        for (url, https, ssh) in [
            (
                "https://git.example.net/a/b.git",
                "https://git.example.net/a/b.git",
                "ssh://git@git.example.net/a/b.git",
            ),
            (
                "http://git.example.net:8080/a/b/",
                "https://git.example.net:8080/a/b",
                "ssh://git@git.example.net:8080/a/b",
            ),
            (
                "ssh://me@git.example.net:2222/a.git",
                "https://git.example.net:2222/a.git",
                "ssh://git@git.example.net:2222/a.git",
            ),
            (
                "git@git.example.net:a/b.git",
                "https://git.example.net/a/b.git",
                "ssh://git@git.example.net/a/b.git",
            ),
            (
                "https://user:word@git.example.net/a",
                "https://git.example.net/a",
                "ssh://git@git.example.net/a",
            ),
        ] {
            assert_eq!(
                convert_git_url(url, GitAuthentication::Token).as_deref(),
                Ok(https)
            );
            assert_eq!(
                convert_git_url(url, GitAuthentication::Ssh).as_deref(),
                Ok(ssh)
            );
            assert_eq!(
                convert_git_url(url, GitAuthentication::AsIs).as_deref(),
                Ok(url)
            );
        }
    }

    #[test]
    fn refuses_what_is_no_repository() {
        for (url, error) in [
            ("", GitUrlError::Empty),
            ("ftp://host/path", GitUrlError::Scheme),
            ("just-words", GitUrlError::Scheme),
            ("https:///path", GitUrlError::Host),
            ("https://host", GitUrlError::Path),
            ("https://host//", GitUrlError::Path),
            ("https://host/a b", GitUrlError::Character),
            ("git@host:", GitUrlError::Path),
        ] {
            assert_eq!(
                convert_git_url(url, GitAuthentication::Token),
                Err(error),
                "{url}"
            );
        }
    }
}
