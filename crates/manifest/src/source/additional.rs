//! Places of manifests that users add to a bundle: a list of URLs and paths, each of which must be allowed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Fetcher, Freshness, Load, LoadError, Source, url::without_secrets};
use crate::{limits::LoadLimits, set::ManifestSet};

/// What is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// URLs and local paths.
    #[default]
    All,
    /// Local paths.
    Local,
    /// Nothing.
    Disabled,
}

/// One place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A page.
    Url(String),
    /// A file or directory.
    Path(PathBuf),
}

/// Where additional manifests may come from.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Which kinds of places.
    pub mode: Mode,
    /// Pages without TLS too.
    pub http: bool,
    /// Relative paths start here, and everything has to lie here or in one of the others.
    pub root: PathBuf,
    /// Other directories in which files may lie.
    pub other_roots: Vec<PathBuf>,
}

/// Manifests that users added, and what was odd about them.
#[derive(Debug)]
pub struct Added {
    /// The objects.
    pub set: ManifestSet,
    /// Pages with the digest of their content.
    pub digests: Vec<(String, String)>,
    /// Pages that could not be fetched and are as they were before, with the cause.
    pub stale: Vec<(String, String)>,
}

impl Allowed {
    /// Reads a list of places.
    ///
    /// ```
    /// use mainstay_manifest::source::additional::{Allowed, Place};
    ///
    /// let allowed = Allowed::default();
    /// let places = allowed.parse("https://example.com/a.yaml, ui/frontend.yaml")?;
    /// assert_eq!(places, [Place::Url("https://example.com/a.yaml".to_owned()), Place::Path("ui/frontend.yaml".into())]);
    /// assert!(allowed.parse("http://example.com/a.yaml").is_err());
    /// # Ok::<(), mainstay_manifest::LoadError>(())
    /// ```
    pub fn parse(&self, list: &str) -> Result<Vec<Place>, LoadError> {
        if self.mode == Mode::Disabled {
            return Err(refused("additional manifests are switched off".to_owned()));
        }
        list.split(',')
            .map(|element| self.place(element.trim(), list))
            .collect()
    }

    fn place(&self, element: &str, list: &str) -> Result<Place, LoadError> {
        if element.is_empty() {
            let list = list.to_owned();
            return Err(LoadError::EmptyElement { list });
        }
        let Some((scheme, _)) = element
            .split_once(':')
            .filter(|(scheme, _)| is_scheme(scheme))
        else {
            return Ok(Place::Path(PathBuf::from(element)));
        };
        let shown = without_secrets(element);
        match scheme.to_ascii_lowercase().as_str() {
            "https" | "http" if self.mode == Mode::Local => Err(refused(format!(
                "`{shown}`: only local files are allowed here"
            ))),
            "https" => Ok(Place::Url(element.to_owned())),
            "http" if self.http => Ok(Place::Url(element.to_owned())),
            "http" => Err(refused(format!("`{shown}`: only https is allowed here"))),
            _ => Err(refused(format!(
                "`{shown}`: the scheme `{scheme}` is not allowed"
            ))),
        }
    }

    /// Loads all places. An error in one fails all of it; whichever it is, its reason is `AdditionalManifestsFailed`.
    pub async fn load(
        &self,
        places: &[Place],
        fetcher: &Fetcher,
        limits: &LoadLimits,
    ) -> Result<Added, LoadError> {
        let mut load = Load::new(limits);
        let (mut digests, mut stale) = (Vec::new(), Vec::new());
        for place in places {
            match place {
                Place::Url(url) => {
                    let page = fetcher.fetch(url).await?;
                    let name = page.name.as_str().to_owned();
                    load.add_text(&page.body, &page.name)?;
                    if let Freshness::Stale(error) = &page.freshness {
                        stale.push((name.clone(), mainstay_http::causes(error)));
                    }
                    digests.push((name, page.digest));
                }
                Place::Path(path) => self.local(path)?.load_into(&mut load)?,
            }
        }
        Ok(Added {
            set: ManifestSet::new(load.into_objects()),
            digests,
            stale,
        })
    }

    /// A file or directory that lies where it may, links and `..` resolved.
    fn local(&self, path: &Path) -> Result<Source, LoadError> {
        let path = self.root.join(path);
        let real = fs::canonicalize(&path).map_err(LoadError::read(&path))?;
        let roots = std::iter::once(&self.root).chain(&self.other_roots);
        let roots = roots.filter_map(|root| fs::canonicalize(root).ok());
        let root = roots.into_iter().find(|root| real.starts_with(root));
        let root = root.ok_or_else(|| LoadError::Outside {
            path: path.clone(),
            root: self.root.clone(),
        })?;
        Ok(if real.is_dir() {
            Source::dir(real).within(root)
        } else {
            Source::file(real)
        })
    }
}

/// A scheme has two letters at least, or it would be a drive.
fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() > 1
        && bytes
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

const fn refused(text: String) -> LoadError {
    LoadError::NotAllowed(text)
}
