//! `mainstay bundle`: what an installation needs, as files.

use jiff::Timestamp;
use mainstay_package::{BundleError, BundleInput, File};

use crate::{
    args::{BundleArgs, BundleFormat, System},
    commands::write,
    exit::{ExitStatus, Rejected},
};

/// The forms in which a system can be packaged.
struct Forms {
    kustomize: fn() -> Vec<File>,
    containerfile: fn() -> File,
    olm: fn(&BundleInput) -> Result<Vec<File>, BundleError>,
    /// By version.
    helm: Option<fn(&str) -> Vec<File>>,
    /// By image.
    plain: Option<fn(&str) -> Vec<File>>,
    /// Repository of the image.
    image: &'static str,
}

fn forms(system: System) -> Forms {
    match system {
        System::Kaoto => Forms {
            kustomize: mainstay_kaoto::package::kustomize_tree,
            containerfile: mainstay_kaoto::package::containerfile,
            olm: mainstay_kaoto::package::bundle,
            helm: None,
            plain: None,
            image: mainstay_kaoto::names::OPERATOR_IMAGE,
        },
        System::Clowder => Forms {
            kustomize: mainstay_clowder::package::kustomize_tree,
            containerfile: mainstay_clowder::package::containerfile,
            olm: mainstay_clowder::package::bundle,
            helm: Some(mainstay_clowder::package::chart),
            plain: Some(mainstay_clowder::package::plain),
            image: mainstay_clowder::package::IMAGE,
        },
    }
}

pub(crate) fn run(arguments: &BundleArgs) -> anyhow::Result<ExitStatus> {
    let forms = forms(arguments.system);
    let input = input(arguments, forms.image);
    let is = |format| arguments.format == format || arguments.format == BundleFormat::All;
    let mut files = Vec::new();
    if is(BundleFormat::Kustomize) {
        files.extend((forms.kustomize)());
        files.push((forms.containerfile)());
    }
    if is(BundleFormat::Helm) {
        files.extend(
            forms
                .helm
                .map(|chart| chart(&input.version))
                .unwrap_or_default(),
        );
    }
    if is(BundleFormat::Yaml) {
        files.extend(
            forms
                .plain
                .map(|plain| plain(&input.image))
                .unwrap_or_default(),
        );
    }
    if is(BundleFormat::Olm) {
        files.extend((forms.olm)(&input).map_err(|error| Rejected {
            message: mainstay_cluster::error::causes(&error).join(": "),
            hint: None,
        })?);
    }
    if files.is_empty() {
        return Err(Rejected {
            message: "there is no package of this system in this form".to_owned(),
            hint: Some("use --format kustomize or --format olm".to_owned()),
        }
        .into());
    }
    for file in &files {
        let text = file.print(|documents| mainstay_yaml::print_documents(documents));
        write::file(&arguments.output_dir, &file.path, &text)?;
    }
    Ok(ExitStatus::Success)
}

fn input(arguments: &BundleArgs, repository: &str) -> BundleInput {
    let version = arguments.operator_version.trim_start_matches('v');
    let image = arguments.image.clone();
    BundleInput {
        version: version.to_owned(),
        image: image.unwrap_or_else(|| format!("{repository}:{version}")),
        channels: arguments.channels.clone(),
        default_channel: arguments.default_channel.clone(),
        replaces: arguments.replaces.clone(),
        openshift: arguments.openshift_versions.clone(),
        created_at: arguments
            .created_at
            .clone()
            .unwrap_or_else(|| format!("{:.0}", Timestamp::now())),
    }
}
