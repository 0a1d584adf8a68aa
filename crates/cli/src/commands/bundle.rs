//! `mainstay bundle`: what an installation needs, as files.

use jiff::Timestamp;
use mainstay_package::{BundleInput, Image, identity::Reach};

use crate::{
    args::{BundleArgs, BundleFormat},
    commands::{rbac, write},
    exit::{ExitStatus, Rejected},
};

pub(crate) fn run(arguments: &BundleArgs) -> anyhow::Result<ExitStatus> {
    let forms = &arguments.system.package;
    let input = input(arguments, forms.image)?;
    let reach = rbac::reach(arguments.system, arguments.watch_namespace.as_deref())?;
    if reach != Reach::Cluster && arguments.format != BundleFormat::Kustomize {
        return Err(Rejected {
            message: "an installation for one namespace is made with kustomize only".to_owned(),
            hint: Some("use --format kustomize".to_owned()),
        }
        .into());
    }
    let is = |format| arguments.format == format || arguments.format == BundleFormat::All;
    let mut files = Vec::new();
    if is(BundleFormat::Kustomize) {
        files.extend((forms.kustomize)(&input, reach));
        files.push((forms.containerfile)());
    }
    if is(BundleFormat::Helm) {
        files.extend(forms.helm.map(|chart| chart(&input)).unwrap_or_default());
    }
    if is(BundleFormat::Yaml) {
        files.extend(forms.plain.map(|plain| plain(&input)).unwrap_or_default());
    }
    if is(BundleFormat::Olm) {
        files.extend((forms.olm)(&input).map_err(|error| rejected(&error))?);
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

fn rejected(error: &(dyn std::error::Error + 'static)) -> Rejected {
    Rejected {
        message: mainstay_cluster::error::causes(error).join(": "),
        hint: None,
    }
}

fn input(arguments: &BundleArgs, default: fn(&str) -> Image) -> Result<BundleInput, Rejected> {
    let version = arguments.operator_version.trim_start_matches('v');
    // A version may hold what a tag must not.
    let tag = &version.replace('+', "-");
    let image = match &arguments.image {
        None => default(tag),
        Some(image) => Image::parse(image, tag).map_err(|error| rejected(&error))?,
    };
    Ok(BundleInput {
        version: version.to_owned(),
        image,
        channels: arguments.channels.clone(),
        default_channel: arguments.default_channel.clone(),
        replaces: arguments.replaces.clone(),
        openshift: arguments.openshift_versions.clone(),
        created_at: arguments
            .created_at
            .clone()
            .unwrap_or_else(|| format!("{:.0}", Timestamp::now())),
    })
}
