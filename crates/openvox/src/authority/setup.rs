//! How the setup of an authority goes on.

use std::sync::Arc;

use crate::views::{AuthorityServer, SeenCertificate};

/// How long a new authority waits for its server to show up, in seconds.
const PATIENCE: i64 = 30;

/// The Job as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFacts {
    /// Image of its container.
    pub image: String,
    /// Whether it has succeeded.
    pub succeeded: bool,
    /// Whether it has failed for good.
    pub failed: bool,
}

/// What is to be done with the Job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// Nothing: the authority is there.
    Done,
    /// It is to be made.
    Create,
    /// It is to be deleted, with its pods before itself, and made anew.
    Replace(&'static str),
    /// It runs.
    Running,
}

impl Setup {
    /// Seconds until the next look; `None` if the setup is over.
    pub const fn pause(self) -> Option<i64> {
        match self {
            Self::Done => None,
            Self::Create | Self::Replace(_) => Some(10),
            Self::Running => Some(15),
        }
    }
}

/// What is to be done. Whether the certificate of the authority is stored is read in this very reconcile: a Job that has
/// just succeeded must not be taken for one that did nothing.
pub fn setup(is_stored: bool, job: Option<&JobFacts>, image: &str) -> Setup {
    match job {
        _ if is_stored => Setup::Done,
        None => Setup::Create,
        Some(job) if job.image != image => Setup::Replace("its image is another one now"),
        Some(job) if job.succeeded => Setup::Replace("it ended without a certificate"),
        Some(job) if job.failed => Setup::Replace("it failed"),
        Some(_) => Setup::Running,
    }
}

/// The certificate of the server of an authority.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerCertificate {
    /// This one.
    Known(Arc<SeenCertificate>),
    /// There is none.
    None,
    /// It is not known which: its server may still show up.
    Undecided,
}

/// Which Certificate the setup makes along the way. `servers` are those of all Configs of the authority, `age` are the
/// seconds since it was created.
///
/// A server that shows up a moment later than its authority must not find that another Certificate took its place: it
/// could never get one.
pub fn server_certificate(
    certificates: &[Arc<SeenCertificate>],
    servers: &[Arc<AuthorityServer>],
    age: i64,
) -> ServerCertificate {
    let named = certificates.iter().find(|certificate| {
        let mut servers = servers.iter();
        servers.any(|server| server.certificate == certificate.name)
    });
    match (named, certificates) {
        (Some(certificate), _) | (None, [certificate]) => {
            ServerCertificate::Known(Arc::clone(certificate))
        }
        (None, []) => ServerCertificate::None,
        (None, _) if age < PATIENCE => ServerCertificate::Undecided,
        (None, [first, ..]) => ServerCertificate::Known(Arc::clone(first)),
    }
}
