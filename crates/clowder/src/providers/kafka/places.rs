//! Names and namespaces of the clusters of an environment.

use mainstay_engine::ObjectKey;

use crate::{images::first, kinds, names, provider::Scene};

/// Where Kafka and Kafka Connect are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places<'pass> {
    /// Name of the Kafka cluster as the environment gives it; empty if it does not.
    pub given_cluster: &'pass str,
    /// Name of the Kafka cluster.
    pub cluster: &'pass str,
    /// Namespace of the Kafka cluster.
    pub namespace: &'pass str,
    /// Name of the Kafka Connect cluster.
    pub connect: &'pass str,
    /// Namespace of the Kafka Connect cluster.
    pub connect_namespace: &'pass str,
}

impl<'pass> Places<'pass> {
    /// The places in an environment. Fields of older versions win where they are set.
    pub fn of(scene: &Scene<'pass>) -> Self {
        let kafka = &scene.environment.spec.providers.kafka;
        let given_cluster = first(&[&kafka.cluster_name, &kafka.cluster.name]);
        let cluster = first(&[given_cluster, scene.environment_name()]);
        let namespace = first(&[
            &kafka.namespace,
            &kafka.cluster.namespace,
            scene.target_namespace,
        ]);
        Self {
            given_cluster,
            cluster,
            namespace,
            connect: first(&[&kafka.connect_cluster_name, &kafka.connect.name, cluster]),
            connect_namespace: first(&[
                &kafka.connect_namespace,
                &kafka.connect.namespace,
                namespace,
            ]),
        }
    }

    /// Key of the Kafka cluster.
    pub(super) fn cluster_key(&self) -> ObjectKey {
        ObjectKey::new(kinds::KAFKA, self.namespace, self.cluster)
    }

    /// Name of the Secret with the certificate of the cluster.
    pub(super) fn ca_secret(&self) -> String {
        names::part(self.cluster, "cluster-ca-cert")
    }

    /// Name of the Service at which clients begin. Parity: by the given name of the cluster, even if there is none.
    pub(super) fn bootstrap_service(&self) -> String {
        names::part(self.given_cluster, "kafka-bootstrap")
    }
}
