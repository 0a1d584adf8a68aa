//! The operator's own manifests, as values: what an installation, kustomize and OLM need.
//!
//! What every operator has in common is in `mainstay_package`; here is what makes this one Kaoto's.

mod csv;
mod kustomize;
mod olm;
mod operator;
mod samples;

use mainstay_package::{File, Image};
use serde_json::Value;

pub use self::{
    kustomize::kustomize_tree,
    olm::bundle,
    operator::{operator_objects, roles},
};
use crate::names;

/// Image of the operator if nobody names another: one that the user builds from [`containerfile`], on no registry.
pub fn default_image(version: &str) -> Image {
    Image::tagged("mainstay-kaoto", version)
}

/// The definition of the operator's container image. The binaries are built before, static, one per platform.
pub fn containerfile() -> File {
    let text = format!(
        "FROM gcr.io/distroless/static:nonroot\n\
         ARG TARGETPLATFORM\n\
         COPY --chmod=0755 dist/${{TARGETPLATFORM}}/mainstay {binary}\n\
         USER 65532:65532\n\
         ENTRYPOINT [\"{binary}\"]\n\
         CMD [\"run\"]\n",
        binary = names::OPERATOR_BINARY,
    );
    File::text("Containerfile", text)
}

/// The name of the file of the custom resource definition, and the definition.
fn crd() -> (String, Value) {
    mainstay_api::file(&mainstay_api::kaoto::crd())
}

#[cfg(test)]
mod tests {
    use mainstay_package::FileContent;

    use super::*;

    #[test]
    fn the_image_runs_the_static_binary_as_nobody() {
        let FileContent::Text(text) = containerfile().content else {
            panic!("not a text");
        };
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines.first(),
            Some(&"FROM gcr.io/distroless/static:nonroot")
        );
        for line in [
            "USER 65532:65532",
            "ENTRYPOINT [\"/kaoto\"]",
            "CMD [\"run\"]",
        ] {
            assert!(lines.contains(&line), "{line}");
        }
        assert!(text.contains(" /kaoto\n"));
    }
}
