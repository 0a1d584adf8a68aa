//! Names and namespaces of the clusters of an environment.

use mainstay_engine::ObjectKey;

use crate::{
    kinds, names,
    providers::{images::first, provider::Context},
};

/// Where Kafka and Kafka Connect are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places<'render> {
    /// Name of the Kafka cluster as the environment gives it; empty if it does not.
    pub given_cluster: &'render str,
    /// Name of the Kafka cluster.
    pub cluster: &'render str,
    /// Namespace of the Kafka cluster.
    pub namespace: &'render str,
    /// Name of the Kafka Connect cluster.
    pub connect: &'render str,
    /// Namespace of the Kafka Connect cluster.
    pub connect_namespace: &'render str,
}

impl<'render> Places<'render> {
    /// The places in an environment. Fields of older versions win where they are set.
    pub fn of(context: &Context<'render>) -> Self {
        let kafka = &context.environment.spec.providers.kafka;
        let given_cluster = first(&[&kafka.cluster_name, &kafka.cluster.name]);
        let cluster = first(&[given_cluster, context.environment_name()]);
        let namespace = first(&[
            &kafka.namespace,
            &kafka.cluster.namespace,
            context.target_namespace,
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
