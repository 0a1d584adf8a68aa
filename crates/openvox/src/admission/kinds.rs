//! The rules of each kind, in the order in which a refusal names them.

use mainstay_api::openvox::{
    Certificate, CertificateAuthority, Config, Database, NodeClassifier, Pool, ReportProcessor,
    Server, SigningPolicy, database::SslMode,
};
use mainstay_engine::{
    quantity,
    snapshot::{Answer, all_known},
};

use super::{Check, FieldError, Problem, Verdict, hostname, url};
use crate::{
    duration,
    kinds::{CERTIFICATE, CERTIFICATE_AUTHORITY, CONFIG, DATABASE, NODE_CLASSIFIER, POOL},
    names,
};

type Found = Option<FieldError>;

/// All references are looked up before an unknown counts.
fn verdict(found: impl IntoIterator<Item = Answer<Found>>) -> Answer<Verdict> {
    Ok(Verdict {
        errors: all_known(found)?.into_iter().flatten().collect(),
        warnings: Vec::new(),
    })
}

pub(super) fn config(config: &Config, check: &Check<'_>) -> Answer<Verdict> {
    let spec = &config.spec;
    let both = !spec.database_ref.is_empty() && !spec.puppetdb.server_urls.is_empty();
    let both = both.then(|| {
        FieldError::invalid(
            "spec.databaseRef",
            &spec.database_ref,
            "databaseRef and puppetdb.serverUrls are mutually exclusive".to_owned(),
        )
    });
    verdict([
        check.optional_reference(
            "spec.authorityRef",
            CERTIFICATE_AUTHORITY,
            &spec.authority_ref,
        ),
        check.optional_reference(
            "spec.nodeClassifierRef",
            NODE_CLASSIFIER,
            &spec.node_classifier_ref,
        ),
        Ok(both),
        check.optional_reference("spec.databaseRef", DATABASE, &spec.database_ref),
    ])
}

pub(super) fn certificate_authority(
    authority: &CertificateAuthority,
    _: &Check<'_>,
) -> Answer<Verdict> {
    let spec = &authority.spec;
    let size = &spec.storage.size;
    let is_size = size.is_empty() || quantity::parse(size).is_some();
    let size = (!is_size).then(|| {
        FieldError::invalid(
            "spec.storage.size",
            size,
            "must be a valid Kubernetes quantity (e.g. 1Gi, 500Mi)".to_owned(),
        )
    });
    verdict([
        Ok(lasting("ttl", &spec.ttl)),
        Ok(lasting("autoRenewalCertTTL", &spec.auto_renewal_cert_ttl)),
        Ok(lasting("crlRefreshInterval", &spec.crl_refresh_interval)),
        Ok(size),
    ])
}

/// A field of the spec that has to be a duration.
fn lasting(field: &str, value: &str) -> Found {
    let error = duration::parse(value).err()?;
    let detail = format!("{field}: {error}");
    Some(FieldError::invalid(format!("spec.{field}"), value, detail))
}

pub(super) fn certificate(certificate: &Certificate, check: &Check<'_>) -> Answer<Verdict> {
    let spec = &certificate.spec;
    let authority = check.reference(
        "spec.authorityRef",
        CERTIFICATE_AUTHORITY,
        &spec.authority_ref,
    );
    let certname = Some(&spec.certname).filter(|name| !name.is_empty());
    let certname = certname.and_then(|name| {
        let problem = hostname::problem(name)?;
        let detail = format!("must be a valid hostname: {problem}");
        Some(FieldError::invalid("spec.certname", name, detail))
    });
    let names = spec.dns_alt_names.iter().enumerate().map(|(index, name)| {
        let detail = hostname::problem_unless_address(name)
            .map(|problem| format!("must be a valid DNS name or IP: {problem}"));
        let path = format!("spec.dnsAltNames[{index}]");
        Ok(detail.map(|detail| FieldError::invalid(path, name, detail)))
    });
    let extensions = spec.csr_extensions.custom_extensions.keys();
    let extensions = extensions.map(|name| Ok(extension(name)));
    verdict(
        [authority, Ok(certname)]
            .into_iter()
            .chain(names)
            .chain([Ok(lasting("renewBefore", &spec.renew_before))])
            .chain(extensions),
    )
}

fn extension(name: &str) -> Found {
    let detail = match name {
        "pp_cli_auth" | "pp_role" | "pp_environment" => {
            "use the dedicated field instead of customExtensions"
        }
        known if names::extension_oid(known).is_some() => return None,
        _ => "unknown Puppet extension name",
    };
    let path = format!("spec.csrExtensions.customExtensions[{name}]");
    Some(FieldError::invalid(path, name, detail.to_owned()))
}

pub(super) fn signing_policy(policy: &SigningPolicy, check: &Check<'_>) -> Answer<Verdict> {
    let spec = &policy.spec;
    let authority = check.reference(
        "spec.certificateAuthorityRef",
        CERTIFICATE_AUTHORITY,
        &spec.certificate_authority_ref,
    );
    let lists = [
        ("pattern", &spec.pattern),
        ("dnsAltNames", &spec.dns_alt_names),
    ];
    let empty = lists.into_iter().flat_map(|(field, patterns)| {
        let patterns = patterns.iter().flat_map(|patterns| &patterns.allow);
        let empty = patterns
            .enumerate()
            .filter(|(_, pattern)| pattern.is_empty());
        empty.map(move |(index, pattern)| {
            let path = format!("spec.{field}.allow[{index}]");
            let detail = "pattern must not be empty".to_owned();
            Ok(Some(FieldError::invalid(path, pattern, detail)))
        })
    });
    verdict([authority].into_iter().chain(empty))
}

pub(super) fn node_classifier(classifier: &NodeClassifier, _: &Check<'_>) -> Answer<Verdict> {
    verdict([Ok(address(&classifier.spec.url))])
}

pub(super) fn report_processor(processor: &ReportProcessor, check: &Check<'_>) -> Answer<Verdict> {
    let spec = &processor.spec;
    verdict([
        check.reference("spec.configRef", CONFIG, &spec.config_ref),
        Ok(address(&spec.url)),
    ])
}

fn address(value: &str) -> Found {
    let detail = url::problem("url", value)?;
    Some(FieldError::invalid("spec.url", value, detail))
}

pub(super) fn server(server: &Server, check: &Check<'_>) -> Answer<Verdict> {
    let spec = &server.spec;
    let pools = spec.pool_refs.iter().enumerate();
    let pools =
        pools.map(|(index, pool)| check.reference(format!("spec.poolRefs[{index}]"), POOL, pool));
    let mut verdict = verdict(
        [
            check.reference("spec.configRef", CONFIG, &spec.config_ref),
            check.reference("spec.certificateRef", CERTIFICATE, &spec.certificate_ref),
        ]
        .into_iter()
        .chain(pools),
    )?;
    let replicas = spec.replicas.unwrap_or(1);
    if spec.ca && replicas > 1 {
        verdict.warnings.push(format!(
            "running CA role with {replicas} replicas; CA data is stored on a PVC and concurrent writes may cause issues"
        ));
    }
    Ok(verdict)
}

pub(super) fn pool(pool: &Pool, _: &Check<'_>) -> Answer<Verdict> {
    let port = pool.spec.service.port;
    let is_port = port == 0 || (1..=65_535).contains(&port);
    let error = (!is_port).then(|| {
        FieldError::invalid_number("spec.service.port", port, "must be between 1 and 65535")
    });
    verdict([Ok(error)])
}

pub(super) fn database(database: &Database, check: &Check<'_>) -> Answer<Verdict> {
    let spec = &database.spec;
    let certificate = match spec.certificate_ref.as_str() {
        "" => Ok(Some(FieldError::required("spec.certificateRef"))),
        name => check.reference("spec.certificateRef", CERTIFICATE, name),
    };
    let needed = |path: &str, value: &str| Ok(value.is_empty().then(|| FieldError::required(path)));
    let mode = match &spec.postgres.ssl_mode {
        SslMode::Other(value) if !value.is_empty() => Some(FieldError {
            path: "spec.postgres.sslMode".to_owned(),
            problem: Problem::Unsupported {
                value: value.clone(),
                supported: &[
                    "disable",
                    "allow",
                    "prefer",
                    "require",
                    "verify-ca",
                    "verify-full",
                ],
            },
            detail: String::new(),
        }),
        _ => None,
    };
    verdict([
        certificate,
        needed("spec.postgres.host", &spec.postgres.host),
        needed(
            "spec.postgres.credentialsSecretRef",
            &spec.postgres.credentials_secret_ref,
        ),
        Ok(mode),
    ])
}
