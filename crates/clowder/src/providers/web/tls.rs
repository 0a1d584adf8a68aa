//! Who speaks TLS: the environment gives ports and a default, each deployment may decide otherwise.

use mainstay_api::clowder::{environment::web::Tls, web_services::WebServices};

/// Whether the environment has ports for TLS; those for HTTP/2 do not count.
pub const fn is_configured(tls: &Tls) -> bool {
    tls.port != 0 && tls.private_port != 0
}

/// Whether the public service of a deployment speaks TLS.
pub fn is_public(tls: &Tls, services: &WebServices) -> bool {
    is_configured(tls) && services.public.tls.unwrap_or(tls.enabled)
}

/// Whether the private service of a deployment speaks TLS.
pub fn is_private(tls: &Tls, services: &WebServices) -> bool {
    is_configured(tls) && services.private.tls.unwrap_or(tls.enabled)
}
