//! `mainstay manifest apply`.

use std::{sync::Arc, time::Duration};

use mainstay_manifest::{
    apply::{self, ApplyOptions, Report},
    client::ClientError,
};

use super::{
    args::{ApplyArgs, Strategy},
    cluster, input,
    progress::Progress,
};
use crate::{
    exit::{ExitStatus, Rejected},
    printer,
};

pub(super) async fn run(arguments: &ApplyArgs) -> anyhow::Result<ExitStatus> {
    let set = input::load(&arguments.source).await?;
    let set = input::managed_by(&set, &arguments.merge.field_manager);
    let client = cluster(&arguments.cluster, arguments.merge.namespace.as_deref()).await?;
    let work = &arguments.work;
    let options = ApplyOptions {
        strategy: arguments.merge.strategy.into(),
        overwrite: !arguments.no_overwrite,
        dry_run: work.dry_run,
        continue_on_error: work.continue_on_error,
        deadline: Some(Duration::from_secs(work.timeout)),
        observer: Some(Arc::new(Progress::new(set.len(), work.progress, "applied"))),
        ..ApplyOptions::default()
    };
    let report = apply::apply(&client, &set, &options).await;
    conclude(&report, set.len(), "apply")
}

impl From<Strategy> for apply::Strategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::ThreeWay => Self::ThreeWay,
            Strategy::ServerSide => Self::ServerSide,
        }
    }
}

/// Tells of failures, and how many objects were not reached.
pub(super) fn conclude<C>(
    report: &Report<C>,
    total: usize,
    verb: &str,
) -> anyhow::Result<ExitStatus> {
    let left = total - report.rows.len();
    let mut failures: Vec<_> = report.failures().collect();
    let Some((object, last)) = failures.pop() else {
        return Ok(ExitStatus::Success);
    };
    for (object, error) in failures {
        printer::to_stderr(&format!("error: could not {verb} {object}: {error}\n"));
    }
    let unreached = match left {
        0 => String::new(),
        1 => "; 1 object was not reached".to_owned(),
        left => format!("; {left} objects were not reached"),
    };
    let message = format!("could not {verb} {object}: {last}{unreached}");
    match last {
        ClientError::Invalid { .. }
        | ClientError::Conflict { .. }
        | ClientError::NotServed { .. } => {
            let hint = match last {
                ClientError::NotServed { .. } => Some("apply its definition first".to_owned()),
                _ => None,
            };
            Err(Rejected { message, hint }.into())
        }
        _ => Err(anyhow::Error::msg(message)),
    }
}
