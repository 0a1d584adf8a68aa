//! The reconciler of the `Kaoto` kind: the contract that the runtime and the command line walk.

use mainstay_engine::{
    Kind, ObjectSet,
    field_manager::FieldManager,
    kind::KindTable,
    plan::Lifecycle,
    reconciler::{Reconciler, Rejection, Report, ReportInput, ValidateError},
    snapshot::Snapshot,
    unit::{self, UnitFailure},
};
use serde_json::Value;

use crate::{
    endpoint, kinds, names,
    settings::Settings,
    status, units,
    validate::{KaotoInput, validate},
};

/// The pure part of the Kaoto controller.
#[derive(Clone, Debug)]
pub struct KaotoReconciler {
    /// Settings of the system.
    pub settings: Settings,
}

impl KaotoReconciler {
    /// A reconciler with these settings.
    pub const fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// The objects of a `Kaoto`.
    pub fn render_kaoto(&self, kaoto: &KaotoInput) -> Result<ObjectSet, UnitFailure> {
        let set = units::labelled_set(self.declared(), kaoto);
        unit::render(units::units(kaoto.cluster_type), set, kaoto)
    }
}

impl Reconciler for KaotoReconciler {
    type Object = KaotoInput;
    /// A `Kaoto` refers to nothing.
    type Input = ();

    fn name(&self) -> &'static str {
        names::CONTROLLER
    }

    fn declared(&self) -> KindTable {
        kinds::declared(self.settings.cluster_type)
    }

    fn root_kind(&self) -> Kind {
        kinds::KAOTO
    }

    fn field_manager(&self) -> FieldManager {
        FieldManager::new(names::FIELD_MANAGER)
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle {
            finalizer: Some(names::FINALIZER),
            ..Lifecycle::PLAIN
        }
    }

    fn facts(&self, kind: &Kind, object: &Value) -> Value {
        endpoint::facts(kind, object)
    }

    fn decode(&self, root: &Value) -> Result<KaotoInput, Rejection> {
        validate(root, &self.settings)
    }

    fn validate(&self, _: &KaotoInput, _: &dyn Snapshot) -> Result<(), ValidateError> {
        Ok(())
    }

    fn render(
        &self,
        kaoto: &KaotoInput,
        (): &(),
        _snapshot: &dyn Snapshot,
    ) -> Result<ObjectSet, UnitFailure> {
        self.render_kaoto(kaoto)
    }

    fn report(&self, input: &ReportInput<'_, Self>) -> Report {
        status::report(input.root, input.object, input.end, input.now)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mainstay_engine::{
        ObjectKey,
        live::{LiveObject, LiveView, Owner},
        owned::Owned,
        plan::{self, Action, Plan, Root},
        reconciler::Cleanup,
    };
    use serde_json::json;

    use super::*;
    use crate::{
        fixture::{UID, kaoto, settings},
        settings::ClusterType,
    };

    /// Objects that exist, each with the uid of its owner.
    struct Cluster(Vec<(Kind, &'static str)>);

    impl LiveView for Cluster {
        fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
            let found = self.0.iter().find(|(kind, _)| *kind == key.kind);
            found.map(|(kind, owner)| live(kind, owner))
        }

        fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
            let owned = self.0.iter().filter(|(_, owner)| *owner == owner_uid);
            owned.map(|(kind, owner)| live(kind, owner)).collect()
        }
    }

    fn live(kind: &Kind, owner_uid: &str) -> Arc<LiveObject> {
        Arc::new(LiveObject {
            key: ObjectKey::new(kind.clone(), "studio", "canvas"),
            uid: "u".to_owned(),
            resource_version: "1".to_owned(),
            deleting: false,
            owners: vec![Owner {
                group: names::GROUP.to_owned(),
                kind: "Kaoto".to_owned(),
                name: "canvas".to_owned(),
                uid: owner_uid.to_owned(),
                controller: true,
            }],
            owned: Owned::default(),
            marked: None,
            foreign_items: Vec::new(),
            migrated_managed_fields: None,
            facts: Value::Null,
        })
    }

    fn root(finalizers: &[&str]) -> Root {
        Root {
            key: ObjectKey::new(kinds::KAOTO, "studio", "canvas"),
            uid: UID.to_owned(),
            resource_version: "1".to_owned(),
            finalizers: finalizers.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    fn plan_of(cluster_type: ClusterType, spec: Value, cluster: &Cluster) -> Plan {
        let reconciler = KaotoReconciler::new(settings(cluster_type));
        let input = reconciler.decode(&kaoto(spec)).unwrap();
        let set = reconciler.render_kaoto(&input).unwrap();
        plan::plan(&root(&[]), &set, cluster, &reconciler.lifecycle())
    }

    fn kinds_of(plan: &Plan) -> Vec<String> {
        plan.steps
            .iter()
            .map(|step| step.key.kind.to_string())
            .collect()
    }

    #[test]
    fn the_finalizer_comes_first_and_all_objects_follow_together() {
        let plan = plan_of(
            ClusterType::Vanilla,
            json!({"ingress": {}}),
            &Cluster(Vec::new()),
        );
        assert_eq!(
            kinds_of(&plan),
            ["Kaoto", "Service", "Ingress", "Deployment"]
        );
        let stages: Vec<u16> = plan.steps.iter().map(|step| step.stage).collect();
        assert_eq!(stages, [0, 1, 1, 1]);
    }

    #[test]
    fn only_an_exposure_of_ours_is_taken_away() {
        for (cluster_type, kind) in [
            (ClusterType::Vanilla, kinds::INGRESS),
            (ClusterType::OpenShift, kinds::ROUTE),
        ] {
            let ours = plan_of(cluster_type, json!({}), &Cluster(vec![(kind.clone(), UID)]));
            assert!(
                matches!(ours.steps[2].action, Action::Delete { .. }),
                "{:?}",
                ours.steps[2]
            );
            let theirs = plan_of(cluster_type, json!({}), &Cluster(vec![(kind, "somebody")]));
            assert_eq!(theirs.steps[2].action, Action::Unchanged(None));
        }
    }

    #[test]
    fn deletion_runs_from_the_deployment_to_the_finalizer() {
        for (cluster_type, exposure) in [
            (ClusterType::Vanilla, kinds::INGRESS),
            (ClusterType::OpenShift, kinds::ROUTE),
        ] {
            let reconciler = KaotoReconciler::new(settings(cluster_type));
            let cluster = Cluster(vec![
                (kinds::SERVICE, UID),
                (exposure.clone(), UID),
                (kinds::DEPLOYMENT, UID),
            ]);
            let plan = plan::plan_deletion(
                &root(&[names::FINALIZER]),
                &reconciler.declared(),
                &cluster,
                &reconciler.lifecycle(),
                &Cleanup::default(),
            );
            assert_eq!(
                kinds_of(&plan),
                [
                    "Deployment",
                    exposure.to_string().as_str(),
                    "Service",
                    "Kaoto"
                ]
            );
            assert!(
                plan.steps.is_sorted_by(|one, next| one.stage < next.stage),
                "one after the other"
            );
        }
    }
}
