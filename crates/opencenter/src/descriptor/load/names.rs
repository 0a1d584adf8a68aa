//! What names and paths of a descriptor may look like.

use crate::descriptor::Layer;

pub(super) fn is_unit_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends_well = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    ends_well(bytes.first())
        && ends_well(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
}

/// Whether a name can be the name of a Kubernetes object.
pub(crate) fn is_dns_subdomain(name: &str) -> bool {
    name.len() <= 253 && !name.is_empty() && name.split('.').all(is_unit_name)
}

pub(super) fn is_field_path(field: &str) -> bool {
    !field.is_empty()
        && field.split('.').all(|segment| {
            !segment.is_empty()
                && segment
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        })
}

/// Whether a path stays below the directory that it is joined to.
pub(crate) fn is_safe_relative(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['\\', '\0', '\n'])
        && path
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..")
}

/// Whether an output path belongs to a layer.
pub(in crate::descriptor) fn in_layer(output: &str, layer: Layer) -> bool {
    match layer {
        Layer::Cluster => !output.starts_with("flux-system/"),
        layer => output
            .strip_prefix(layer.directory())
            .is_some_and(|rest| rest.starts_with('/')),
    }
}
