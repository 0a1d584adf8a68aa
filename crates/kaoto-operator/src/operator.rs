//! The controller of Kaoto as a part of the process.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use mainstay_cluster::{effects::NoEffects, root::Trigger};
use mainstay_engine::{Kind, backoff::Backoff, reconciler::Reconciler as _};
use mainstay_kaoto::{KaotoReconciler, kinds, names};
use mainstay_runtime::{
    blockers::Blockers,
    controller::{Controller, ControllerSettings, facts},
    process::Participant,
    stores::{StoreSettings, Stores},
};
use mainstay_system::{RunContext, operator::patiently};

/// Without them there is nothing to do.
const NEEDS: &[Kind] = &[kinds::KAOTO];

/// Makes the system a part of the process, when it has found out what the cluster is.
pub(crate) fn start(context: RunContext) -> BoxFuture<'static, anyhow::Result<Participant>> {
    Box::pin(async move {
        let find_out = || crate::reconciler(&context.client);
        let reconciler = patiently("find out what the cluster is", find_out).await;
        Ok(participant(reconciler, context))
    })
}

fn participant(reconciler: KaotoReconciler, context: RunContext) -> Participant {
    let reconciler = Arc::new(reconciler);
    tracing::info!(
        cluster_type = ?reconciler.settings.cluster_type,
        image = reconciler.settings.default_image,
        "Kaoto takes part"
    );
    let election = context.election(names::LEASE);
    let stores = store_settings(&reconciler, context.namespace);
    let controller = ControllerSettings {
        concurrency: context.concurrency,
        backoff: Backoff {
            base: Duration::from_millis(5),
            cap: Duration::from_secs(1000),
        },
        resync: Duration::from_hours(10),
        pause: Duration::ZERO,
        component: names::FIELD_MANAGER,
        needs: NEEDS,
    };
    let client = context.client;
    Participant {
        name: crate::SYSTEM.name,
        election,
        ready: None,
        start: Box::new(move |metrics, fence| {
            let stores = Stores::new(stores, client.clone(), metrics, fence);
            let blockers = Blockers::new(client, kinds::KINDS, stores.router().clone());
            let source = stores.source(None);
            let task =
                Controller::task(reconciler, source, Arc::new(blockers), controller, &stores);
            (stores, vec![task])
        }),
    }
}

/// How the system reaches the cluster.
pub(crate) fn store_settings(
    reconciler: &Arc<KaotoReconciler>,
    namespace: String,
) -> StoreSettings {
    StoreSettings {
        declared: kinds::KINDS,
        manager: reconciler.field_manager(),
        facts: facts(reconciler),
        namespace,
        trigger: Trigger::Spec,
        deadline: Duration::from_mins(1),
        indexes: &[],
        effects: Arc::new(NoEffects),
    }
}
