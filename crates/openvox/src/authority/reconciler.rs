//! The reconciler of `CertificateAuthority`: its objects and how far it is. The revocation list is fetched elsewhere.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use mainstay_api::openvox::{CertificateAuthority, CertificateAuthorityStatus};
use mainstay_engine::{
    Kind, ObjectKey, ObjectSet,
    decode::decode,
    field_manager::FieldManager,
    kind::KindTable,
    object_set::SetError,
    options::Options,
    plan::Lifecycle,
    reconciler::{Reconciler, Rejection, Report, ReportInput, ValidateError, Waiting},
    snapshot::{Answer, Snapshot, all_known},
    unit::UnitFailure,
};
use serde_json::{Value, json};

use super::{
    job, objects, report,
    setup::{self, JobFacts, ServerCertificate, Setup},
    signing::{self, Signing},
    status,
};
use crate::{
    kinds,
    names::{self, keys},
    references::Values,
    views::{self, SeenAuthority, SeenCertificate, SeenConfig},
};

/// Reason of an authority that no Config names.
pub(super) const NO_CONFIG: &str = "WaitingForConfig";
/// The unit of all its objects.
const UNIT: &str = "authority";

/// The pure part of the controller of `CertificateAuthority`.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuthorityReconciler;

/// An authority, and what it said before.
#[derive(Clone, Debug)]
pub struct Authority {
    pub(super) seen: SeenAuthority,
    pub(super) status: CertificateAuthorityStatus,
}

/// What is known of an authority.
#[derive(Clone, Debug)]
pub enum Known {
    /// It is outside this cluster.
    External {
        /// Its address.
        url: String,
        /// The Secret with its certificate.
        secret: String,
        /// When its certificate ends.
        not_after: Option<Timestamp>,
    },
    /// It is in this cluster.
    Internal(Box<Internal>),
}

/// What is known of an authority in this cluster.
#[derive(Clone, Debug)]
pub struct Internal {
    config: Arc<SeenConfig>,
    certificates: Vec<Arc<SeenCertificate>>,
    pub(super) server: Option<Arc<SeenCertificate>>,
    pub(super) setup: Setup,
    pub(super) not_after: Option<Timestamp>,
    pub(super) signing: Signing,
    /// Whether the Secret of the operator's own certificate is there.
    pub(super) is_signing_stored: bool,
    /// Secrets that the setup stored and that are to be ours.
    stored: Vec<String>,
}

impl Reconciler for AuthorityReconciler {
    type Object = Authority;
    type Input = Known;

    fn name(&self) -> &'static str {
        "certificateauthority"
    }

    fn declared(&self) -> KindTable {
        kinds::KINDS
    }

    fn root_kind(&self) -> Kind {
        kinds::CERTIFICATE_AUTHORITY
    }

    fn field_manager(&self) -> FieldManager {
        FieldManager::new(names::FIELD_MANAGER)
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle::PLAIN
    }

    /// How the Job stands.
    fn facts(&self, kind: &Kind, object: &Value) -> Value {
        if !kind.is_like(&kinds::JOB) {
            return Value::Null;
        }
        let conditions = object
            .pointer("/status/conditions")
            .and_then(Value::as_array);
        let has_failed =
            |condition: &Value| condition["type"] == "Failed" && condition["status"] == "True";
        json!({
            "image": object.pointer("/spec/template/spec/containers/0/image"),
            "succeeded": object.pointer("/status/succeeded").and_then(Value::as_i64) > Some(0),
            "failed": conditions.is_some_and(|conditions| conditions.iter().any(has_failed)),
        })
    }

    fn decode(&self, root: &Value) -> Result<Authority, Rejection> {
        let authority: CertificateAuthority = decode(root)?;
        Ok(Authority {
            status: authority.status.clone().unwrap_or_default(),
            seen: SeenAuthority::of_authority(authority),
        })
    }

    fn validate(
        &self,
        authority: &Authority,
        snapshot: &dyn Snapshot,
    ) -> Result<Known, ValidateError> {
        let seen = &authority.seen;
        let values = Values {
            snapshot,
            namespace: &seen.namespace,
        };
        match &seen.spec.external {
            Some(external) => outside(seen, &external.url, &external.ca_secret_ref, &values),
            None => inside(seen, snapshot, &values),
        }
    }

    fn render(
        &self,
        authority: &Authority,
        known: &Known,
        _: &dyn Snapshot,
    ) -> Result<ObjectSet, UnitFailure> {
        let mut set = ObjectSet::new(kinds::KINDS);
        if let Known::Internal(internal) = known {
            fill(&mut set, &authority.seen, internal).map_err(|error| UnitFailure {
                unit: UNIT,
                source: error.into(),
                early: None,
            })?;
        }
        Ok(set)
    }

    fn report(&self, input: &ReportInput<'_, Self>) -> Report {
        report::report(input)
    }
}

fn outside(
    authority: &SeenAuthority,
    url: &str,
    reference: &str,
    values: &Values<'_>,
) -> Result<Known, ValidateError> {
    let secret = match reference {
        "" => names::authority_secret(&authority.name),
        secret => secret.to_owned(),
    };
    let data = values.secret(&secret)?;
    let certificates = data
        .as_deref()
        .and_then(|data| data.bytes(keys::CA_CERTIFICATE));
    let certificates = certificates.filter(|certificates| !certificates.is_empty());
    if certificates.is_none() && !reference.is_empty() {
        return Err(ValidateError::Waiting(Waiting {
            reason: "WaitingForSecret",
            message: format!("Secret {secret} has no {}", keys::CA_CERTIFICATE),
        }));
    }
    Ok(Known::External {
        url: url.to_owned(),
        not_after: certificates.and_then(status::not_after),
        secret,
    })
}

fn inside(
    authority: &SeenAuthority,
    snapshot: &dyn Snapshot,
    values: &Values<'_>,
) -> Result<Known, ValidateError> {
    let (namespace, name) = (authority.namespace.as_str(), authority.name.as_str());
    let configs = views::indexed(snapshot, &views::CONFIGS_BY_AUTHORITY, namespace, name);
    let Some(config) = configs.first() else {
        return Err(ValidateError::Waiting(Waiting {
            reason: NO_CONFIG,
            message: format!("no Config has authorityRef: {name}"),
        }));
    };
    let certificates = views::indexed(snapshot, &views::CERTIFICATES, namespace, name);
    let servers: Vec<_> = configs
        .iter()
        .flat_map(|config| {
            views::indexed(snapshot, &views::AUTHORITY_SERVERS, namespace, &config.name)
        })
        .collect();
    let signing_secret = names::tls_secret(&names::signing_certificate(name));
    // All of them are asked for before an unknown counts.
    let (data, stored, is_signing_stored) = (
        values.secret(&names::authority_secret(name)),
        stored(authority, snapshot),
        snapshot.exists(&kinds::key(kinds::SECRET, namespace, &signing_secret)),
    );
    let data = data?;
    let authority_certificate = data
        .as_deref()
        .and_then(|data| data.bytes(keys::CA_CERTIFICATE));
    let job = snapshot.get(&kinds::key(
        kinds::JOB,
        namespace,
        &names::authority_setup(name),
    ));
    let job = job.map(|job| job_facts(&job.facts));
    let setup = setup::setup(
        authority_certificate.is_some(),
        job.as_ref(),
        &job::image(config),
    );
    // How old the authority is cannot be asked here yet; until it can, nobody waits for a server to show up.
    let server = match setup::server_certificate(&certificates, &servers, i64::MAX) {
        ServerCertificate::Known(certificate) => Some(certificate),
        ServerCertificate::None | ServerCertificate::Undecided => None,
    };
    Ok(Known::Internal(Box::new(Internal {
        config: Arc::clone(config),
        signing: signing::signing(name, certificates.iter().map(Arc::as_ref)),
        not_after: authority_certificate.and_then(status::not_after),
        is_signing_stored: is_signing_stored?,
        stored: stored?,
        certificates,
        server,
        setup,
    })))
}

/// The Secrets of the authority that are there.
fn stored(authority: &SeenAuthority, snapshot: &dyn Snapshot) -> Answer<Vec<String>> {
    let names = [
        names::authority_secret(&authority.name),
        names::authority_key_secret(&authority.name),
        names::revocation_secret(&authority.name),
    ];
    let there = names.map(|name| {
        let key = kinds::key(kinds::SECRET, &authority.namespace, &name);
        Ok(snapshot.exists(&key)?.then_some(name))
    });
    Ok(all_known(there)?.into_iter().flatten().collect())
}

fn job_facts(facts: &Value) -> JobFacts {
    JobFacts {
        image: facts["image"].as_str().unwrap_or_default().to_owned(),
        succeeded: facts["succeeded"] == true,
        failed: facts["failed"] == true,
    }
}

fn fill(
    set: &mut ObjectSet,
    authority: &SeenAuthority,
    internal: &Internal,
) -> Result<(), SetError> {
    let certificates = internal
        .certificates
        .iter()
        .map(|certificate| certificate.name.as_str());
    set.add_with(UNIT, &objects::claim(authority), Options::once)?;
    set.add(UNIT, &objects::service(authority))?;
    set.add_with(UNIT, &objects::account(authority), Options::once)?;
    set.add(UNIT, &objects::role(authority, certificates))?;
    set.add_with(UNIT, &objects::role_binding(authority), Options::once)?;
    match internal.setup {
        Setup::Done => after_setup(set, authority, internal),
        Setup::Replace(because) => set.absent(UNIT, job_key(authority), because),
        Setup::Create | Setup::Running => {
            let job = job::job(authority, &internal.config, internal.server.as_deref());
            set.add_with(UNIT, &job, Options::once)
        }
    }
}

/// What the setup stored becomes the authority's, so that it goes with it; then the operator asks for a certificate.
fn after_setup(
    set: &mut ObjectSet,
    authority: &SeenAuthority,
    internal: &Internal,
) -> Result<(), SetError> {
    for name in &internal.stored {
        let owned = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": objects::owner(authority).metadata(name.clone(), objects::labels(&authority.name)),
        });
        set.add_with(UNIT, &owned, Options::adopting)?;
    }
    if internal.not_after.is_some() {
        set.add_with(UNIT, &signing::certificate(authority), Options::once)?;
    }
    Ok(())
}

fn job_key(authority: &SeenAuthority) -> ObjectKey {
    let name = names::authority_setup(&authority.name);
    kinds::key(kinds::JOB, &authority.namespace, &name)
}
