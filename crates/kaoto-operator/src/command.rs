//! Kaoto for one command over files.

use std::sync::Arc;

use anyhow::Context as _;
use clap::{ArgMatches, Args, Command, ValueEnum};
use futures::future::BoxFuture;
use kube::Client;
use mainstay_cluster::fence::Fence;
use mainstay_engine::{key::ObjectKey, reconciler::Reconciler as _};
use mainstay_kaoto::{ClusterType, KaotoReconciler, kinds};
use mainstay_runtime::{metrics::Metrics, stores::Stores};
use mainstay_system::{
    EffectMode, Prepared, SystemSession,
    command::{Preparing, RenderFailure, RenderFailureReason, RenderInput},
    session::Reconcilers,
};
use serde_json::Value;

use crate::operator::store_settings;

/// Flags of `render` that are about Kaoto alone.
#[derive(Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Kaoto")]
struct RenderArgs {
    /// Type of the cluster to render for
    #[arg(long, value_enum, default_value_t = ClusterKind::Vanilla)]
    cluster_type: ClusterKind,
}

/// Type of a cluster that is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClusterKind {
    /// Plain Kubernetes
    Vanilla,
    /// OpenShift
    Openshift,
}

pub(crate) fn render_flags(command: Command) -> Command {
    RenderArgs::augment_args(command)
}

/// Finds out what the cluster is; without one the flags say it.
pub(crate) fn prepare<'call>(
    flags: &'call ArgMatches,
    client: Option<&'call Client>,
) -> Preparing<'call> {
    Box::pin(async move {
        let reconciler = match client {
            Some(client) => crate::reconciler(client).await?,
            None => KaotoReconciler::new(crate::settings(cluster_type(flags))),
        };
        let prepared: Box<dyn Prepared> = Box::new(PreparedKaoto { reconciler });
        Ok(prepared)
    })
}

/// What the flags say; commands that ask the cluster have no such flag.
fn cluster_type(flags: &ArgMatches) -> ClusterType {
    match flags.try_get_one::<ClusterKind>("cluster_type") {
        Ok(Some(ClusterKind::Openshift)) => ClusterType::OpenShift,
        _ => ClusterType::Vanilla,
    }
}

struct PreparedKaoto {
    reconciler: KaotoReconciler,
}

impl Prepared for PreparedKaoto {
    fn render(&self, input: &RenderInput) -> Result<Vec<Value>, RenderFailure> {
        let mut objects = Vec::new();
        for resource in &input.resources {
            let failed = |reason| RenderFailure {
                key: Box::new(
                    ObjectKey::of(resource).unwrap_or_else(|| ObjectKey::new(kinds::KAOTO, "", "")),
                ),
                reason,
            };
            let kaoto = self.reconciler.decode(resource);
            let kaoto = kaoto.map_err(|error| failed(RenderFailureReason::Rejected(error)))?;
            let set = self.reconciler.render_kaoto(&kaoto);
            let set = set.map_err(|error| failed(RenderFailureReason::Stuck(error.to_string())))?;
            objects.extend(set.bodies().cloned());
        }
        Ok(objects)
    }

    fn open<'call>(
        &'call self,
        client: Client,
        namespace: &'call str,
        effects: EffectMode,
    ) -> BoxFuture<'call, anyhow::Result<Box<dyn SystemSession>>> {
        Box::pin(async move {
            let reconciler = self.reconciler.clone();
            let settings = store_settings(&Arc::new(reconciler), namespace.to_owned());
            // A person at the command line needs no lease.
            let stores = Stores::new(settings, client, Metrics::new(), Fence::open());
            let session = Reconcilers::open(stores, effects).await;
            let session =
                session.with_context(|| format!("could not look at namespace {namespace}"))?;
            let session: Box<dyn SystemSession> = Box::new(session.with(self.reconciler.clone()));
            Ok(session)
        })
    }
}
