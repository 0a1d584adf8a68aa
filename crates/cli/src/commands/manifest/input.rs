//! From the flags to a set.

use std::{fs, io};

use anyhow::Context;
use mainstay_http::{Client, Proxy, Resolve, Tls, Trust};
use mainstay_manifest::{
    LoadError, LoadLimits, ManifestSet, Source, parse::ParseError, set::SetOptions,
    source::FetchPolicy,
};

use super::args::SourceArgs;
use crate::{exit::Rejected, input};

/// Loads everything that the flags name.
pub(super) async fn load(arguments: &SourceArgs) -> anyhow::Result<ManifestSet> {
    let policy = policy(arguments)?;
    let limits = LoadLimits::default();
    let mut sources = Vec::new();
    for place in &arguments.sources {
        sources.push(if place == "-" {
            Source::reader(io::stdin().lock(), "<stdin>", &limits).map_err(refused)?
        } else {
            Source::parse(place, arguments.recursive, &policy).map_err(refused)?
        });
    }
    let set = Source::several(sources)
        .load(&limits)
        .await
        .map_err(refused)?;
    if set.is_empty() {
        return Err(Rejected {
            message: format!("`{}` holds no resources", arguments.sources.join(", ")),
            hint: (!arguments.recursive).then(|| "-R reads directories below it too".to_owned()),
        }
        .into());
    }
    Ok(set)
}

/// The set as a field manager applies it.
pub(super) fn managed_by(set: &ManifestSet, field_manager: &str) -> ManifestSet {
    set.with_options(SetOptions {
        field_manager: field_manager.to_owned(),
        ..set.options().clone()
    })
}

/// How pages are fetched.
pub(super) fn policy(arguments: &SourceArgs) -> anyhow::Result<FetchPolicy> {
    let mut resolve = Resolve::default();
    for one in &arguments.resolve {
        resolve.extend(one.clone());
    }
    let mut tls = Tls::default();
    if let Some(path) = &arguments.ca_file {
        let could_not = || format!("could not read certificates from `{}`", path.display());
        let pem = fs::read(path).with_context(could_not)?;
        tls.trust = Trust::MachineAnd(Trust::certificates(&pem).with_context(could_not)?);
    }
    let client = Client::default()
        .with_resolve(resolve)
        .with_tls(tls)
        .with_proxy(Proxy::from_environment());
    let policy = FetchPolicy {
        client,
        ..FetchPolicy::default()
    };
    let policy = policy.only_hosts(&arguments.allow_host);
    Ok(if arguments.allow_http {
        policy.allow_http()
    } else {
        policy
    })
}

/// A load that failed for what it found is the fault of the input.
pub(super) fn refused(error: LoadError) -> anyhow::Error {
    match error {
        LoadError::Parse(ParseError::Yaml(error)) => input::rejected(&error).into(),
        LoadError::Parse(error) => Rejected {
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
        }
        .into(),
        error @ (LoadError::Outside { .. } | LoadError::Cycle { .. }) => Rejected {
            message: error.to_string(),
            hint: Some("name the target itself with -f".to_owned()),
        }
        .into(),
        error @ (LoadError::TooLarge { .. }
        | LoadError::EmptyElement { .. }
        | LoadError::NotAFile { .. }
        | LoadError::NotAllowed(_)) => Rejected {
            message: error.to_string(),
            hint: None,
        }
        .into(),
        error => error.into(),
    }
}
