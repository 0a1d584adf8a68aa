//! Clowder for one command over files.

use std::sync::Arc;

use anyhow::Context as _;
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use futures::future::BoxFuture;
use kube::Client;
use mainstay_clowder::{
    admission::app::{self, JudgedApp},
    gates, kinds,
    offline::{self, Reason},
    settings::Settings,
    views,
};
use mainstay_clowder_ports::{Ports, Resolve};
use mainstay_cluster::effects::EffectPort;
use mainstay_system::{
    EffectMode, Prepared, SystemSession,
    command::{Preparing, RenderFailure, RenderFailureReason, RenderInput, Violation},
};
use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    config::{self, Found},
    effects::{ClowderPort, DryRun},
    flags::{ClusterArgs, ConfigArgs, FROM_CLUSTER, RESOLVE, RenderArgs, ResolveArgs},
    operator::OperatorSettings,
    session::ClowderSession,
};

pub(crate) fn render_flags(command: Command) -> Command {
    RenderArgs::augment_args(command)
}

pub(crate) fn cluster_flags(command: Command) -> Command {
    ClusterArgs::augment_args(command)
}

pub(crate) fn render_asks_cluster(flags: &ArgMatches) -> bool {
    flags.get_flag(FROM_CLUSTER)
}

/// Finds out how the operator is configured: a plan with other settings than the operator's would show what the operator
/// then undoes.
pub(crate) fn prepare<'call>(
    flags: &'call ArgMatches,
    client: Option<&'call Client>,
) -> Preparing<'call> {
    Box::pin(async move {
        let arguments = ConfigArgs::from_arg_matches(flags)?;
        let found = match client {
            Some(client) => config::in_cluster(client, &arguments).await?,
            None => config::offline(&arguments)?,
        };
        let prepared: Box<dyn Prepared> = Box::new(PreparedClowder {
            settings: Arc::new(found.settings.clone()),
            found,
            resolve: resolve(flags),
        });
        Ok(prepared)
    })
}

/// The names that only the cluster knows; commands without a cluster have no such flag.
fn resolve(flags: &ArgMatches) -> Resolve {
    let given = flags.try_get_many::<Resolve>(RESOLVE).ok().flatten();
    let resolve = given.into_iter().flatten().cloned().collect();
    ResolveArgs { resolve }.table()
}

struct PreparedClowder {
    settings: Arc<Settings>,
    found: Found,
    resolve: Resolve,
}

impl Prepared for PreparedClowder {
    fn notes(&self) -> Vec<String> {
        self.found.notes()
    }

    /// None, if the operator is configured to have no webhooks.
    fn violations(&self, resource: &Value) -> anyhow::Result<Vec<Violation>> {
        let is_app = resource["kind"] == kinds::CLOWD_APP.kind.as_ref();
        if self.settings.config.features.disable_webhooks || !is_app {
            return Ok(Vec::new());
        }
        let app = JudgedApp::deserialize(resource)?;
        let violations = app::violations(&app).into_iter();
        let violations = violations.map(|violation| Violation {
            message: violation.to_string(),
            pointer: violation.pointer,
        });
        Ok(violations.collect())
    }

    fn render(&self, input: &RenderInput) -> Result<Vec<Value>, RenderFailure> {
        let files = input.others.iter().chain(&input.resources);
        let snapshot = views::files(files.cloned());
        let rendered = offline::render(&self.settings, snapshot, &input.resources);
        rendered.map_err(|failure| RenderFailure {
            key: failure.key,
            reason: reason(failure.reason),
        })
    }

    fn open<'call>(
        &'call self,
        client: Client,
        _namespace: &'call str,
        effects: EffectMode,
    ) -> BoxFuture<'call, anyhow::Result<Box<dyn SystemSession>>> {
        let ports = Arc::new(ClowderPort(Ports::new(self.resolve.clone())));
        let port: Arc<dyn EffectPort> = match effects {
            EffectMode::CarriedOut => ports,
            EffectMode::Supposed => Arc::new(DryRun(ports)),
        };
        let operator = OperatorSettings {
            settings: self.settings.clone(),
            namespace: String::new(),
            concurrency: 1,
            port,
        };
        Box::pin(async move {
            let session = ClowderSession::open(client, operator, effects).await;
            let session = session.context("could not look at the cluster")?;
            let session: Box<dyn SystemSession> = Box::new(session);
            Ok(session)
        })
    }
}

/// Why a resource could not be rendered, for people.
fn reason(reason: Reason) -> RenderFailureReason {
    match reason {
        Reason::Rejected(rejection) => RenderFailureReason::Rejected(rejection),
        // The words that the condition of the app would have.
        Reason::NotRendered(failure) => RenderFailureReason::Stuck(failure.source.to_string()),
        Reason::Waiting(waiting) if waiting.reason == gates::ENVIRONMENT_MISSING => {
            RenderFailureReason::Absent {
                pointer: "/spec/envName",
                what: "environment",
                kind: "ClowdEnvironment",
            }
        }
        Reason::Waiting(waiting) if waiting.reason == gates::APP_MISSING => {
            RenderFailureReason::Absent {
                pointer: "/spec/appName",
                what: "app",
                kind: "ClowdApp",
            }
        }
        reason => RenderFailureReason::Stuck(reason.to_string()),
    }
}
