//! Where objects come from: files, directories, pages, texts, programs.

pub mod additional;
pub mod application;
mod directory;
mod url;

use std::{
    fmt,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use mainstay_yaml::SourceName;

pub use self::url::{FetchError, FetchPolicy, Fetched, Fetcher, Freshness, without_secrets};
use crate::{
    limits::LoadLimits,
    object::Object,
    parse::{self, ParseError},
    set::ManifestSet,
};

/// A load that failed; nothing of it is used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A text does not hold objects.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A file or directory cannot be read.
    #[error("could not read `{}`", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// A file is neither a file nor a directory, but a device or a pipe.
    #[error("`{}` is no regular file", path.display())]
    NotAFile {
        /// Which.
        path: PathBuf,
    },
    /// A link, or a path with `..`, leads out of the directory that it must stay in.
    #[error("`{}` leads out of `{}`", path.display(), root.display())]
    Outside {
        /// The link or path.
        path: PathBuf,
        /// Where it has to stay.
        root: PathBuf,
    },
    /// A directory contains itself by way of a link.
    #[error("`{}` is a link to a directory around it, or lies too deep", path.display())]
    Cycle {
        /// The link.
        path: PathBuf,
    },
    /// There is more text than one load may have.
    #[error("`{place}`: the load has more than {limit} bytes")]
    TooLarge {
        /// Where the limit was reached.
        place: String,
        /// The limit.
        limit: usize,
    },
    /// A list of places has an empty one.
    #[error("the list `{list}` has an empty element")]
    EmptyElement {
        /// The list.
        list: String,
    },
    /// A page could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A place that is not allowed here.
    #[error("{0}")]
    NotAllowed(String),
    /// There is no such application.
    #[error("there is no application `{application}`: `{}` is no directory", path.display())]
    ApplicationNotFound {
        /// Name of the application.
        application: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is no such version of the application.
    #[error("application `{application}` has no version `{version}`; there are: {available}")]
    VersionNotFound {
        /// Name of the application.
        application: String,
        /// The version that was asked for.
        version: String,
        /// Versions that there are, from high to low.
        available: String,
    },
    /// There is nothing to load.
    #[error("`{place}` holds no resources")]
    Nothing {
        /// Where.
        place: String,
    },
    /// A source of somebody else failed.
    #[error("{0}")]
    Custom(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl LoadError {
    /// The reason of the condition that reports the failure.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::ApplicationNotFound { .. } => "ApplicationNotFound",
            Self::VersionNotFound { .. } => "VersionNotFound",
            Self::Fetch(_) | Self::NotAllowed(_) => "AdditionalManifestsFailed",
            _ => "ManifestLoadFailed",
        }
    }

    fn read(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Read { path, source }
    }
}

/// A source of objects that this library does not know.
pub trait ObjectSource: Send + Sync + fmt::Debug {
    /// The objects.
    fn objects(&self) -> Result<Vec<Object>, Box<dyn std::error::Error + Send + Sync>>;
}

/// A source of objects.
///
/// ```
/// use mainstay_manifest::{LoadLimits, Source};
///
/// let source = Source::text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "example");
/// let set = source.load_local(&LoadLimits::default())?;
/// assert_eq!(set.len(), 1);
/// # Ok::<(), mainstay_manifest::LoadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source(Kind);

#[derive(Clone, Debug)]
enum Kind {
    File(PathBuf),
    Directory {
        path: PathBuf,
        root: Option<PathBuf>,
        recursive: bool,
    },
    Url(String, Box<FetchPolicy>),
    Bytes(Arc<[u8]>, SourceName),
    Objects(Arc<[Object]>),
    Custom(Arc<dyn ObjectSource>),
    Several(Vec<Source>),
}

impl Source {
    /// All documents of a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Kind::File(path.into()))
    }

    /// The files directly in a directory (`.yaml`, `.yml`, `.json`; none whose name starts with a dot), by name.
    pub fn dir(path: impl Into<PathBuf>) -> Self {
        Self::directory(path.into(), false)
    }

    /// The same with all directories below it.
    pub fn tree(path: impl Into<PathBuf>) -> Self {
        Self::directory(path.into(), true)
    }

    fn directory(path: PathBuf, recursive: bool) -> Self {
        Self(Kind::Directory {
            path,
            root: None,
            recursive,
        })
    }

    /// A page.
    pub fn url(url: impl Into<String>, policy: FetchPolicy) -> Self {
        Self(Kind::Url(url.into(), Box::new(policy)))
    }

    /// A text, with the name that errors shall show.
    pub fn text(text: &str, name: &str) -> Self {
        Self(Kind::Bytes(
            Arc::from(text.as_bytes()),
            SourceName::new(name),
        ))
    }

    /// Everything that a reader gives, up to the limit of a load.
    pub fn reader(reader: impl Read, name: &str, limits: &LoadLimits) -> Result<Self, LoadError> {
        let bytes = read_limited(reader, limits.bytes, name)
            .map_err(LoadError::read(Path::new(name)))??;
        Ok(Self(Kind::Bytes(bytes.into(), SourceName::new(name))))
    }

    /// Objects that are there already.
    pub fn objects(objects: Vec<Object>) -> Self {
        Self(Kind::Objects(objects.into()))
    }

    /// A source of somebody else.
    pub fn custom(source: impl ObjectSource + 'static) -> Self {
        Self(Kind::Custom(Arc::new(source)))
    }

    /// Several sources, one after the other.
    pub fn several(sources: Vec<Self>) -> Self {
        Self(Kind::Several(sources))
    }

    /// A list of files, directories and pages, separated by commas. What exists as a path is one.
    pub fn parse(list: &str, recursive: bool, policy: &FetchPolicy) -> Result<Self, LoadError> {
        let element = |element: &str| {
            let element = element.trim();
            let path = Path::new(element);
            if element.is_empty() {
                let list = list.to_owned();
                Err(LoadError::EmptyElement { list })
            } else if path.is_dir() {
                Ok(Self::directory(path.to_owned(), recursive))
            } else if !path.exists() && element.contains("://") {
                Ok(Self::url(element, policy.clone()))
            } else {
                Ok(Self::file(element))
            }
        };
        let sources = list.split(',').map(element).collect::<Result<_, _>>()?;
        Ok(Self::several(sources))
    }

    /// The same, but links of directories may lead anywhere in `root` instead of the directory itself, and nowhere else;
    /// the source itself has to lie there too.
    #[must_use]
    pub fn within(self, root: impl Into<PathBuf>) -> Self {
        match self.0 {
            Kind::Directory {
                path, recursive, ..
            } => Self(Kind::Directory {
                path,
                root: Some(root.into()),
                recursive,
            }),
            other => Self(other),
        }
    }

    /// Loads everything, pages included.
    pub async fn load(&self, limits: &LoadLimits) -> Result<ManifestSet, LoadError> {
        let mut load = Load::new(limits);
        let mut sources = vec![self];
        // Sources in sources, in their order.
        while let Some(source) = sources.pop() {
            match &source.0 {
                Kind::Several(inner) => sources.extend(inner.iter().rev()),
                Kind::Url(url, policy) => {
                    let fetched = policy.get(url, load.left.bytes).await?;
                    load.add_text(&fetched.body, &fetched.name)?;
                }
                _ => source.load_into(&mut load)?,
            }
        }
        Ok(ManifestSet::new(load.objects))
    }

    /// Loads everything without the network; a page is an error.
    pub fn load_local(&self, limits: &LoadLimits) -> Result<ManifestSet, LoadError> {
        let mut load = Load::new(limits);
        self.load_into(&mut load)?;
        Ok(ManifestSet::new(load.objects))
    }

    fn load_into(&self, load: &mut Load) -> Result<(), LoadError> {
        match &self.0 {
            Kind::File(path) => load.add_file(path, None),
            Kind::Directory {
                path,
                root,
                recursive,
            } => directory::load(path, root.as_deref(), *recursive, load),
            Kind::Url(url, _) => Err(LoadError::NotAllowed(format!(
                "`{}` is a page, and only local sources are read here",
                url::without_secrets(url)
            ))),
            Kind::Bytes(bytes, name) => load.add_text(bytes, name),
            Kind::Objects(objects) => load.add(objects.to_vec(), &SourceName::new("objects")),
            Kind::Custom(source) => {
                let objects = source.objects().map_err(LoadError::Custom)?;
                load.add(objects, &SourceName::new("objects"))
            }
            Kind::Several(sources) => sources.iter().try_for_each(|one| one.load_into(load)),
        }
    }
}

/// A load under way: what it has, and what it may still have.
pub(crate) struct Load {
    limits: LoadLimits,
    left: LoadLimits,
    objects: Vec<Object>,
}

impl Load {
    pub(crate) fn new(limits: &LoadLimits) -> Self {
        Self {
            limits: *limits,
            left: *limits,
            objects: Vec::new(),
        }
    }

    pub(crate) fn into_objects(self) -> Vec<Object> {
        self.objects
    }

    fn add_text(&mut self, bytes: &[u8], name: &SourceName) -> Result<(), LoadError> {
        if bytes.len() > self.left.bytes {
            return Err(self.too_large(name.as_str()));
        }
        let limits = LoadLimits {
            // Documents without content count too, and the last one may be such.
            documents: self.left.documents.saturating_add(1),
            ..self.left
        };
        let objects = parse::bytes(bytes, name, &limits)?;
        self.left.bytes -= bytes.len();
        self.add(objects, name)
    }

    fn add(&mut self, objects: Vec<Object>, name: &SourceName) -> Result<(), LoadError> {
        let Some(left) = self.left.documents.checked_sub(objects.len()) else {
            return Err(LoadError::Parse(ParseError::TooMany {
                source_name: name.clone(),
                limit: self.limits.documents,
            }));
        };
        self.left.documents = left;
        self.objects.extend(objects);
        Ok(())
    }

    /// Reads a file; only a regular one, so that nobody waits for a pipe. `path` is what is opened, `name` what is shown.
    fn add_file(&mut self, path: &Path, name: Option<&Path>) -> Result<(), LoadError> {
        let name = name.unwrap_or(path);
        let metadata = std::fs::metadata(path).map_err(LoadError::read(name))?;
        if !metadata.is_file() {
            let path = name.to_owned();
            return Err(LoadError::NotAFile { path });
        }
        let file = std::fs::File::open(path).map_err(LoadError::read(name))?;
        let shown = name.display().to_string();
        let bytes = read_limited(file, self.left.bytes, &shown)
            .map_err(LoadError::read(name))?
            .map_err(|_| self.too_large(&shown))?;
        self.add_text(&bytes, &SourceName::new(shown))
    }

    fn too_large(&self, place: &str) -> LoadError {
        LoadError::TooLarge {
            place: place.to_owned(),
            limit: self.limits.bytes,
        }
    }
}

/// Reads everything, but not more than a limit.
fn read_limited(
    reader: impl Read,
    limit: usize,
    place: &str,
) -> std::io::Result<Result<Vec<u8>, LoadError>> {
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    reader.take(most).read_to_end(&mut bytes)?;
    Ok(if bytes.len() > limit {
        let place = place.to_owned();
        Err(LoadError::TooLarge { place, limit })
    } else {
        Ok(bytes)
    })
}

#[cfg(test)]
mod tests;
