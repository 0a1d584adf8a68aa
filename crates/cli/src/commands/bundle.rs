//! `mainstay bundle`: what an installation needs, as files.

use jiff::Timestamp;
use mainstay_kaoto::{
    names,
    package::{self, BundleInput, File, FileContent},
};

use crate::{
    args::{BundleArgs, BundleFormat, System},
    commands::write,
    exit::{ExitStatus, Rejected},
};

pub(crate) fn run(arguments: &BundleArgs) -> anyhow::Result<ExitStatus> {
    if arguments.system != System::Kaoto {
        return Err(Rejected {
            message: "there is no package of Clowder yet".to_owned(),
            hint: Some("`mainstay crds --systems clowder` and `mainstay rbac --systems clowder` print what an installation needs".to_owned()),
        }
        .into());
    }
    let files = match arguments.format {
        BundleFormat::Kustomize => {
            let mut files = package::kustomize_tree();
            files.push(package::containerfile());
            files
        }
        BundleFormat::Olm => package::bundle(&input(arguments)).map_err(|error| Rejected {
            message: mainstay_cluster::error::causes(&error).join(": "),
            hint: None,
        })?,
    };
    for File { path, content } in &files {
        let text = match content {
            FileContent::Yaml(documents) => mainstay_yaml::print_documents(documents),
            FileContent::Text(text) => text.clone(),
        };
        write::file(&arguments.output_dir, path, &text)?;
    }
    Ok(ExitStatus::Success)
}

fn input(arguments: &BundleArgs) -> BundleInput {
    let version = arguments.operator_version.trim_start_matches('v');
    let image = arguments.image.clone();
    BundleInput {
        version: version.to_owned(),
        image: image.unwrap_or_else(|| format!("{}:{version}", names::OPERATOR_IMAGE)),
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
