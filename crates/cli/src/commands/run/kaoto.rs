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
    reconcile::OwnObjects,
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
            let mut router = Arc::default();
            let declared = system_settings.declared;
            let system = System::new(system_settings, client.clone(), metrics, fence, |own| {
                router = own.clone();
                None
            });
            let objects = OwnObjects(system.cache.clone());
            let observe = Arc::new(Blockers::new(objects, client, declared, router));
            let task = Controller::task(reconciler, observe, controller, &system);
            (system, vec![task])
        }),
    }
}
