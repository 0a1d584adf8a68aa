//! Kaoto as a part of the process.

use std::{sync::Arc, time::Duration};

use kube::Client;
use mainstay_engine::Kind;
use mainstay_kaoto::{KaotoReconciler, names};
use mainstay_runtime::{
    blockers::Blockers,
    controller::{Controller, ControllerSettings},
    process::Participant,
    queue::Backoff,
    system::System,
};

use crate::{commands::sessions::kaoto_system, settings::RunSettings};

/// Without them there is nothing to do.
const NEEDS: &[Kind] = &[mainstay_kaoto::kinds::KAOTO];

pub(super) fn participant(
    client: &Client,
    reconciler: KaotoReconciler,
    settings: &RunSettings,
) -> Participant {
    let reconciler = Arc::new(reconciler);
    tracing::info!(
        cluster_type = ?reconciler.settings.cluster_type,
        image = reconciler.settings.default_image,
        "Kaoto takes part"
    );
    let system_settings = kaoto_system(&reconciler, settings.namespace.clone());
    let controller = ControllerSettings {
        concurrency: settings.concurrency,
        backoff: Backoff {
            base: Duration::from_millis(5),
            cap: Duration::from_secs(1000),
        },
        resync: Duration::from_hours(10),
        pause: Duration::ZERO,
        component: names::FIELD_MANAGER,
        needs: NEEDS,
    };
    let client = client.clone();
    Participant {
        name: "kaoto",
        election: super::election(settings, names::LEASE),
        ready: None,
        start: Box::new(move |metrics, fence| {
            let declared = system_settings.declared.clone();
            let system = System::new(system_settings, client.clone(), metrics, fence);
            let blockers = Blockers::new(client, declared, system.router().clone());
            let source = system.source(None);
            let task =
                Controller::task(reconciler, source, Arc::new(blockers), controller, &system);
            (system, vec![task])
        }),
    }
}
