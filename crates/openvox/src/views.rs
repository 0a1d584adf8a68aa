//! What reconciles read of objects: views of single objects, and indexes over roots.
//!
//! A view holds no more than somebody goes by, so that what it leaves out wakes nobody: a Config is not looked at because
//! its authority has fetched a revocation list.

use std::{collections::BTreeMap, fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use mainstay_api::openvox::{
    Certificate, CertificateAuthority, CertificateAuthoritySpec, CertificateSpec, Config,
    ConfigSpec, Database, NodeClassifier, NodeClassifierSpec, ReportProcessor, ReportProcessorSpec,
    Server, SigningPolicy, SigningPolicySpec, certificate::CertificatePhase,
    certificate_authority::CertificateAuthorityPhase,
};
use mainstay_engine::snapshot::{AnyIndex, FileSnapshot, Index, View};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::kinds;

/// Data of a Secret, decoded, or of a ConfigMap.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Data {
    values: BTreeMap<String, Vec<u8>>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
}

impl fmt::Debug for Data {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&String> = self.values.keys().collect();
        formatter.debug_tuple("Data").field(&keys).finish()
    }
}

impl Data {
    /// A value as bytes.
    pub fn bytes(&self, key: &str) -> Option<&[u8]> {
        self.values.get(key).map(Vec::as_slice)
    }

    /// A value as a text; bytes that are none are replaced.
    pub fn text(&self, key: &str) -> Option<String> {
        self.bytes(key)
            .map(|value| String::from_utf8_lossy(value).into_owned())
    }

    fn of(object: &Value, decode: fn(&str) -> Vec<u8>) -> Self {
        let texts = |pointer: &str| {
            let map = object.pointer(pointer).and_then(Value::as_object);
            map.into_iter()
                .flatten()
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        };
        Self {
            values: texts("/data")
                .map(|(key, value)| (key, decode(&value)))
                .collect(),
            annotations: texts("/metadata/annotations").collect(),
        }
    }
}

/// A Secret.
pub static SECRET: View<Data> = View::new("secret", |object| {
    Some(Data::of(object, |value| {
        STANDARD.decode(value).unwrap_or_default()
    }))
});

/// A ConfigMap.
pub static CONFIG_MAP: View<Data> = View::new("config-map", |object| {
    Some(Data::of(object, |value| value.as_bytes().to_vec()))
});

/// A root with its name, as others see it: its spec, and whatever of its status they go by.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen<Spec, Status = ()> {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Uid; empty in files.
    pub uid: String,
    /// What it asks for.
    pub spec: Spec,
    /// What is known of it.
    pub status: Status,
}

impl<Spec, Status> Seen<Spec, Status> {
    fn new(metadata: ObjectMeta, spec: Spec, status: Status) -> Self {
        Self {
            namespace: metadata.namespace.unwrap_or_default(),
            name: metadata.name.unwrap_or_default(),
            uid: metadata.uid.unwrap_or_default(),
            spec,
            status,
        }
    }
}

impl SeenAuthority {
    /// What there is to see of a CertificateAuthority.
    pub fn of_authority(authority: CertificateAuthority) -> Self {
        Self::new(authority.metadata, authority.spec, ())
    }
}

impl SeenConfig {
    /// What there is to see of a Config.
    pub fn of_config(config: Config) -> Self {
        Self::new(config.metadata, config.spec, ())
    }
}

/// A Config.
pub type SeenConfig = Seen<ConfigSpec>;
/// A SigningPolicy.
pub type SeenPolicy = Seen<SigningPolicySpec>;
/// A NodeClassifier.
pub type SeenClassifier = Seen<NodeClassifierSpec>;
/// A ReportProcessor.
pub type SeenProcessor = Seen<ReportProcessorSpec>;
/// A CertificateAuthority as Configs see it.
pub type SeenAuthority = Seen<CertificateAuthoritySpec>;
/// A CertificateAuthority as Certificates see it.
pub type SignerAuthority = Seen<CertificateAuthoritySpec, Signer>;
/// A Certificate as its authority sees it.
pub type SeenCertificate = Seen<CertificateSpec, CertificatePhase>;
/// The address of a Database.
pub type SeenDatabase = Seen<(), String>;

/// What a Certificate goes by of its authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// How far it is.
    pub phase: CertificateAuthorityPhase,
    /// Secret with the certificate to sign with.
    pub signing_secret: String,
}

/// A server that is an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityServer {
    /// Namespace.
    pub namespace: String,
    /// Its Config.
    pub config: String,
    /// Its Certificate.
    pub certificate: String,
}

/// A Config, by its spec.
pub static CONFIG: View<SeenConfig> =
    View::new("config", |object| decode(object).map(SeenConfig::of_config));

/// A SigningPolicy, by its spec.
pub static POLICY: View<SeenPolicy> = View::new("signing-policy", |object| {
    let policy: SigningPolicy = decode(object)?;
    Some(Seen::new(policy.metadata, policy.spec, ()))
});

/// A NodeClassifier, by its spec.
pub static CLASSIFIER: View<SeenClassifier> = View::new("node-classifier", |object| {
    let classifier: NodeClassifier = decode(object)?;
    Some(Seen::new(classifier.metadata, classifier.spec, ()))
});

/// A ReportProcessor, by its spec.
pub static PROCESSOR: View<SeenProcessor> = View::new("report-processor", |object| {
    let processor: ReportProcessor = decode(object)?;
    Some(Seen::new(processor.metadata, processor.spec, ()))
});

/// A CertificateAuthority, by its spec.
pub static AUTHORITY: View<SeenAuthority> = View::new("authority", |object| {
    decode(object).map(SeenAuthority::of_authority)
});

/// A CertificateAuthority, by its spec and by what Certificates need of its status.
pub static SIGNER: View<SignerAuthority> = View::new("signer", |object| {
    let authority: CertificateAuthority = decode(object)?;
    let status = authority.status.unwrap_or_default();
    let signer = Signer {
        phase: status.phase,
        signing_secret: status.signing_secret_name,
    };
    Some(Seen::new(authority.metadata, authority.spec, signer))
});

/// A Certificate, by its spec and phase.
pub static CERTIFICATE: View<SeenCertificate> = View::new("certificate", |object| {
    let certificate: Certificate = decode(object)?;
    let phase = certificate.status.unwrap_or_default().phase;
    Some(Seen::new(certificate.metadata, certificate.spec, phase))
});

/// A Database, by its address.
pub static DATABASE: View<SeenDatabase> = View::new("database", |object| {
    let database: Database = decode(object)?;
    let url = database.status.unwrap_or_default().url;
    Some(Seen::new(database.metadata, (), url))
});

/// A Server that is an authority.
pub static AUTHORITY_SERVER: View<AuthorityServer> = View::new("authority-server", |object| {
    let server: Server = decode(object)?;
    server.spec.ca.then(|| AuthorityServer {
        namespace: server.metadata.namespace.unwrap_or_default(),
        config: server.spec.config_ref,
        certificate: server.spec.certificate_ref,
    })
});

/// Configs by authority.
pub static CONFIGS_BY_AUTHORITY: Index<SeenConfig> = Index {
    name: "configs-by-authority",
    kind: kinds::CONFIG,
    view: &CONFIG,
    keys: |config| within_if_named(&config.namespace, &config.spec.authority_ref),
    fold: None,
};

/// Configs by classifier.
pub static CONFIGS_BY_CLASSIFIER: Index<SeenConfig> = Index {
    name: "configs-by-classifier",
    kind: kinds::CONFIG,
    view: &CONFIG,
    keys: |config| within_if_named(&config.namespace, &config.spec.node_classifier_ref),
    fold: None,
};

/// Signing policies by authority.
pub static POLICIES: Index<SeenPolicy> = Index {
    name: "policies-by-authority",
    kind: kinds::SIGNING_POLICY,
    view: &POLICY,
    keys: |policy| within_if_named(&policy.namespace, &policy.spec.certificate_authority_ref),
    fold: None,
};

/// Report processors by Config.
pub static PROCESSORS: Index<SeenProcessor> = Index {
    name: "processors-by-config",
    kind: kinds::REPORT_PROCESSOR,
    view: &PROCESSOR,
    keys: |processor| within_if_named(&processor.namespace, &processor.spec.config_ref),
    fold: None,
};

/// Certificates by authority.
pub static CERTIFICATES: Index<SeenCertificate> = Index {
    name: "certificates-by-authority",
    kind: kinds::CERTIFICATE,
    view: &CERTIFICATE,
    keys: |certificate| within_if_named(&certificate.namespace, &certificate.spec.authority_ref),
    fold: None,
};

/// Servers that are authorities, by their Config.
pub static AUTHORITY_SERVERS: Index<AuthorityServer> = Index {
    name: "authority-servers-by-config",
    kind: kinds::SERVER,
    view: &AUTHORITY_SERVER,
    keys: |server| within_if_named(&server.namespace, &server.config),
    fold: None,
};

/// All indexes.
pub static INDEXES: &[&dyn AnyIndex] = &[
    &CONFIGS_BY_AUTHORITY,
    &CONFIGS_BY_CLASSIFIER,
    &POLICIES,
    &PROCESSORS,
    &CERTIFICATES,
    &AUTHORITY_SERVERS,
];

/// The key of a name in a namespace. Neither can hold a slash.
pub fn within(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

fn within_if_named(namespace: &str, name: &str) -> Vec<String> {
    match name {
        "" => Vec::new(),
        name => vec![within(namespace, name)],
    }
}

/// A snapshot made of files.
pub fn files(objects: impl IntoIterator<Item = Value>) -> FileSnapshot {
    let mut snapshot = FileSnapshot::new(kinds::KINDS, INDEXES, |_, _| Value::Null, &[]);
    for object in objects {
        snapshot.add(object);
    }
    snapshot
}

/// An object that cannot be decoded is nobody's business but its own.
fn decode<T: DeserializeOwned>(object: &Value) -> Option<T> {
    T::deserialize(object).ok()
}

/// Seconds since 1970.
pub fn second(time: &Time) -> i64 {
    time.0.as_second()
}

/// What an index has under a name of a namespace.
pub fn indexed<V: std::any::Any + PartialEq + Send + Sync>(
    snapshot: &dyn mainstay_engine::snapshot::Snapshot,
    index: &'static Index<V>,
    namespace: &str,
    name: &str,
) -> Vec<Arc<V>> {
    snapshot.indexed(index, &within(namespace, name))
}
