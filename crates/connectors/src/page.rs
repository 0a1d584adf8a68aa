//! Pages that users add to a bundle, fetched as effects. There is one result for each URL: the Connector and both of its
//! sets ask for the same effect, or they would never agree on what is to be installed.

use std::fmt;

use mainstay_engine::snapshot::Effect;
use mainstay_manifest::source::without_secrets;
use serde::{Deserialize, Serialize};

use crate::names;

/// Fetches a page.
#[derive(Clone, PartialEq, Eq)]
pub struct FetchPage {
    /// Where it is. The query may hold a secret.
    pub url: String,
}

impl fmt::Debug for FetchPage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = without_secrets(&self.url);
        formatter.debug_tuple("FetchPage").field(&url).finish()
    }
}

/// A page that was fetched, as the result of the effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// SHA-256 of the content.
    pub digest: String,
    /// The content.
    pub body: String,
    /// Why this is the page as it was before, if it could not be fetched anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
}

impl Effect for FetchPage {
    fn fingerprint(&self) -> String {
        let hash = names::sha256(&self.url);
        format!("page {} {hash}", without_secrets(&self.url))
    }

    /// Pages of one host take turns.
    fn share(&self) -> String {
        let url = without_secrets(&self.url);
        let rest = url.split("://").nth(1).unwrap_or_default();
        rest.split('/').next().unwrap_or_default().to_owned()
    }

    fn dry_run(&self) -> String {
        serde_json::to_string(&Page::default()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_a_url_is_told_nobody_and_tells_pages_apart() {
        let page = |token: &str| FetchPage {
            url: format!("https://me:word@example.com/a.yaml?token={token}"),
        };
        let one = page("hidden");
        for text in [one.fingerprint(), one.share(), format!("{one:?}")] {
            assert!(!text.contains("hidden") && !text.contains("word"), "{text}");
        }
        assert_ne!(one.fingerprint(), page("other").fingerprint());
        assert_eq!(one.share(), "example.com");
    }
}
