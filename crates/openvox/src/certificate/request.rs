//! What a certificate shall say.

use mainstay_api::openvox::CertificateSpec;
use mainstay_pki::{Request, RequestedExtension};

use crate::names;

/// Common name of a Certificate.
pub fn certname(spec: &CertificateSpec) -> &str {
    match spec.certname.as_str() {
        "" => names::DEFAULT_CERTNAME,
        name => name,
    }
}

/// The request of a Certificate. Fails if it names an extension that nobody knows.
pub fn request(spec: &CertificateSpec) -> Result<Request, String> {
    let asked = &spec.csr_extensions;
    let dedicated = [
        ("pp_cli_auth", if asked.pp_cli_auth { "true" } else { "" }),
        ("pp_role", &asked.pp_role),
        ("pp_environment", &asked.pp_environment),
    ];
    let dedicated = dedicated.into_iter().filter(|(_, value)| !value.is_empty());
    let custom = asked.custom_extensions.iter();
    let custom = custom.map(|(name, value)| (name.as_str(), value.as_str()));
    let extensions = dedicated.chain(custom).map(|(name, value)| {
        let oid = names::extension_oid(name)
            .ok_or_else(|| format!("building CSR extensions: unknown Puppet extension: {name}"))?;
        Ok(RequestedExtension {
            oid: oid.to_owned(),
            value: value.to_owned(),
        })
    });
    Ok(Request {
        common_name: certname(spec).to_owned(),
        dns_names: spec.dns_alt_names.clone(),
        extensions: extensions.collect::<Result<_, String>>()?,
    })
}
