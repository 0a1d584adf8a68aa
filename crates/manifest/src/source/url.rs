//! Pages: fetched under rules, and kept for the time when they cannot be.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_http::{Client, HeaderValue, Hosts, Request, Rules, Schemes, StatusCode, header};
use mainstay_yaml::SourceName;

use crate::hash;

/// A page that could not be fetched. Neither its body nor the query of its URL is told.
#[derive(Debug, thiserror::Error)]
#[error("could not fetch `{url}`")]
pub struct FetchError {
    /// Scheme, host and path.
    pub url: String,
    /// Cause.
    #[source]
    pub source: FetchFailure,
}

/// Why a page could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchFailure {
    /// There is no usable answer.
    #[error(transparent)]
    Http(#[from] mainstay_http::Error),
    /// The answer is no success.
    #[error("the server answered {0}")]
    Status(StatusCode),
}

/// How pages are fetched: https only, to other machines, at most 10 MiB, 30 seconds and 5 redirects, unless it is
/// changed.
#[derive(Clone, Debug, Default)]
pub struct FetchPolicy {
    /// Trust, proxy, and other addresses of hosts.
    pub client: Client,
    /// Rules of every request.
    pub rules: Rules,
}

impl FetchPolicy {
    /// With http as well as https.
    #[must_use]
    pub fn allow_http(mut self) -> Self {
        self.rules.schemes = Schemes::HttpAndHttps;
        self
    }

    /// From these hosts only: exact names, or `*.suffix`.
    #[must_use]
    pub fn only_hosts<P: AsRef<str>>(mut self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.rules.hosts = Hosts::only(patterns);
        self
    }

    /// Fetches a page that has to exist.
    pub(super) async fn get(&self, url: &str, limit: usize) -> Result<Page, FetchError> {
        match self.get_if_changed(url, limit, None).await? {
            Some(page) => Ok(page),
            None => Err(failed(url, FetchFailure::Status(StatusCode::NOT_MODIFIED))),
        }
    }

    /// Fetches a page; none if it is still as the validators say.
    async fn get_if_changed(
        &self,
        url: &str,
        limit: usize,
        known: Option<&Validators>,
    ) -> Result<Option<Page>, FetchError> {
        let wrap = |error: mainstay_http::Error| failed(url, error.into());
        let mut request = Request::get(url).map_err(wrap)?;
        if let Some(known) = known {
            for (name, value) in [
                (header::IF_NONE_MATCH, &known.etag),
                (header::IF_MODIFIED_SINCE, &known.last_modified),
            ] {
                if let Some(value) = value {
                    request = request.with_header(name, value.clone());
                }
            }
        }
        let rules = Rules {
            body_limit: self.rules.body_limit.min(limit),
            ..self.rules.clone()
        };
        let answer = self.client.send(&request, &rules).await.map_err(wrap)?;
        if known.is_some() && answer.status == StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        if !answer.status.is_success() {
            return Err(failed(url, FetchFailure::Status(answer.status)));
        }
        let header = |name| answer.headers.get(name).cloned();
        Ok(Some(Page {
            name: SourceName::new(without_secrets(url)),
            validators: Validators {
                etag: header(header::ETAG),
                last_modified: header(header::LAST_MODIFIED),
            },
            body: Arc::from(&*answer.body),
        }))
    }
}

/// What a server knows a version of a page by.
#[derive(Clone, Debug, Default)]
struct Validators {
    etag: Option<HeaderValue>,
    last_modified: Option<HeaderValue>,
}

/// A page that was fetched.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) name: SourceName,
    pub(super) body: Arc<[u8]>,
    validators: Validators,
}

/// How new a page is.
#[derive(Debug)]
pub enum Freshness {
    /// It was fetched.
    Fetched,
    /// The server says that it has not changed.
    NotModified,
    /// It could not be fetched; this is the one from before.
    Stale(FetchError),
}

/// A page, with its digest.
#[derive(Debug)]
pub struct Fetched {
    /// The bytes.
    pub body: Arc<[u8]>,
    /// Name for errors in it.
    pub name: SourceName,
    /// SHA-256 of the bytes.
    pub digest: String,
    /// How new it is.
    pub freshness: Freshness,
}

/// Fetches pages again and again, and keeps each for the time when it cannot be fetched.
#[derive(Debug, Default)]
pub struct Fetcher {
    policy: FetchPolicy,
    pages: Mutex<HashMap<String, Page>>,
}

impl Fetcher {
    /// Fetches under this policy.
    pub fn new(policy: FetchPolicy) -> Self {
        let pages = Mutex::default();
        Self { policy, pages }
    }

    /// The page at a URL: as it is now, or as it was when it could be fetched last. Without either, an error.
    pub async fn fetch(&self, url: &str) -> Result<Fetched, FetchError> {
        let known = self.pages().get(url).cloned();
        let limit = self.policy.rules.body_limit;
        let validators = known.as_ref().map(|page| &page.validators);
        let answer = self.policy.get_if_changed(url, limit, validators).await;
        match (answer, known) {
            (Ok(Some(page)), _) => {
                self.pages().insert(url.to_owned(), page.clone());
                Ok(fetched(page, Freshness::Fetched))
            }
            (Ok(None), Some(page)) => Ok(fetched(page, Freshness::NotModified)),
            (Err(error), Some(page)) => Ok(fetched(page, Freshness::Stale(error))),
            (Err(error), None) => Err(error),
            (Ok(None), None) => Err(failed(url, FetchFailure::Status(StatusCode::NOT_MODIFIED))),
        }
    }

    /// Forgets pages that nobody asks for any more.
    pub fn retain(&self, wanted: impl Fn(&str) -> bool) {
        self.pages().retain(|url, _| wanted(url));
    }

    fn pages(&self) -> std::sync::MutexGuard<'_, HashMap<String, Page>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fetched(page: Page, freshness: Freshness) -> Fetched {
    Fetched {
        digest: hash::sha256(&page.body),
        body: page.body,
        name: page.name,
        freshness,
    }
}

fn failed(url: &str, source: FetchFailure) -> FetchError {
    let url = without_secrets(url);
    FetchError { url, source }
}

/// A URL without credentials, query and fragment: they may hold secrets.
pub fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (rest, String::new()),
    };
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}
