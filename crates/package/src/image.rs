//! The image of an operator, which only the user can name: nobody publishes one for everybody.

use std::fmt;

use serde_json::{Value, json};

const DIGEST: &str = "sha256:";

/// Where an image is, by tag or by digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    repository: String,
    version: ImageVersion,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ImageVersion {
    Tag(String),
    Digest(String),
}

/// Not a reference to an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an image such as `registry/name:tag` or `registry/name@sha256:…`")]
pub struct ImageError(pub String);

impl Image {
    /// An image in a repository, by tag.
    pub fn tagged(repository: impl Into<String>, tag: impl Into<String>) -> Self {
        Self {
            repository: repository.into(),
            version: ImageVersion::Tag(tag.into()),
        }
    }

    /// Reads a reference. One without tag and digest gets the given tag: `latest` is never meant. A digest decides
    /// alone; a tag in front of it is dropped, so that all forms name the same thing.
    pub fn parse(reference: &str, default_tag: &str) -> Result<Self, ImageError> {
        let wrong = || ImageError(reference.to_owned());
        let (name, digest) = match reference.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (reference, None),
        };
        // A colon before the last slash belongs to the port of the registry.
        let start = name.rfind('/').map_or(0, |slash| slash + 1);
        let tag = name.get(start..).and_then(|last| last.split_once(':'));
        let (repository, tag) = match tag {
            Some((_, tag)) => {
                let length = name.len() - tag.len() - 1;
                (name.get(..length).ok_or_else(wrong)?, Some(tag))
            }
            None => (name, None),
        };
        let version = match (digest, tag) {
            (Some(digest), _) => ImageVersion::Digest(digest.to_owned()),
            (None, tag) => ImageVersion::Tag(tag.unwrap_or(default_tag).to_owned()),
        };
        if !is_repository(repository) || !tag.is_none_or(is_tag) || !version.is_valid() {
            return Err(wrong());
        }
        Ok(Self {
            repository: repository.to_owned(),
            version,
        })
    }

    /// The repository alone.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// What kustomize puts in the place of an image of this name.
    pub fn kustomize(&self, name: &str) -> Value {
        match &self.version {
            ImageVersion::Tag(tag) => {
                json!({"name": name, "newName": self.repository, "newTag": tag})
            }
            ImageVersion::Digest(digest) => {
                json!({"name": name, "newName": self.repository, "digest": digest})
            }
        }
    }

    /// The values of a chart. A digest wins over the tag.
    pub fn values(&self) -> Value {
        let (tag, digest) = match &self.version {
            ImageVersion::Tag(tag) => (tag.as_str(), ""),
            ImageVersion::Digest(digest) => ("", digest.as_str()),
        };
        json!({"repository": self.repository, "tag": tag, "digest": digest})
    }
}

impl ImageVersion {
    fn is_valid(&self) -> bool {
        match self {
            Self::Tag(tag) => is_tag(tag),
            Self::Digest(digest) => is_digest(digest),
        }
    }
}

impl fmt::Display for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            ImageVersion::Tag(tag) => write!(formatter, "{}:{tag}", self.repository),
            ImageVersion::Digest(digest) => write!(formatter, "{}@{digest}", self.repository),
        }
    }
}

/// Parts between slashes, none of them empty; only the first may hold a port.
fn is_repository(repository: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(allowed);
    match repository.split_once('/') {
        Some((host, rest)) => {
            let (host, port) = host.split_once(':').unwrap_or((host, "0"));
            is_part(host) && port.parse::<u16>().is_ok() && rest.split('/').all(is_part)
        }
        None => is_part(repository),
    }
}

fn is_tag(tag: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=128).contains(&tag.len()) && tag.bytes().all(allowed) && !tag.starts_with(['.', '-'])
}

fn is_digest(digest: &str) -> bool {
    let hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    digest
        .strip_prefix(DIGEST)
        .is_some_and(|hash| hash.len() == 64 && hash.bytes().all(hexadecimal))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn a_reference_is_taken_apart_and_put_together_again() {
        let pinned = format!("a/b@{HASH}");
        let both = format!("localhost:5000/a/b:1@{HASH}");
        let dropped = format!("localhost:5000/a/b@{HASH}");
        for (given, printed, repository) in [
            ("a:1", "a:1", "a"),
            ("a", "a:0.6", "a"),
            (
                "localhost:5000/a",
                "localhost:5000/a:0.6",
                "localhost:5000/a",
            ),
            (
                "localhost:5000/a:1",
                "localhost:5000/a:1",
                "localhost:5000/a",
            ),
            (&pinned, &pinned, "a/b"),
            (&both, &dropped, "localhost:5000/a/b"),
        ] {
            let image = Image::parse(given, "0.6").unwrap();
            assert_eq!(image.to_string(), printed);
            assert_eq!(image.repository(), repository);
        }
    }

    #[test]
    fn what_no_registry_would_serve_is_refused() {
        let short = "a@sha256:12";
        let upper = format!("a@{}", HASH.to_uppercase());
        for text in [
            "", ":1", "a:", "a b:1", "/a:1", "a//b:1", "a/:1", "a:1 ", "a:-x", "a:b:c", "a@",
            short, &upper,
        ] {
            let said = Image::parse(text, "0.6").unwrap_err().to_string();
            assert!(
                said.starts_with(&format!("`{text}` is not an image")),
                "{said}"
            );
        }
    }

    #[test]
    fn tools_are_told_the_tag_or_the_digest_and_never_both() {
        let tagged = Image::tagged("a", "1");
        let pinned = Image::parse(&format!("a:1@{HASH}"), "2").unwrap();
        assert_eq!(
            tagged.kustomize("controller"),
            json!({"name": "controller", "newName": "a", "newTag": "1"})
        );
        assert_eq!(
            pinned.kustomize("controller"),
            json!({"name": "controller", "newName": "a", "digest": HASH})
        );
        assert_eq!(
            tagged.values(),
            json!({"repository": "a", "tag": "1", "digest": ""})
        );
        assert_eq!(
            pinned.values(),
            json!({"repository": "a", "tag": "", "digest": HASH})
        );
    }
}
