//! What is written: the same bytes by the operator and by the plain writer.

use anyhow::{Context, anyhow};
use kube::api::DynamicObject;
use mainstay_engine::{object_set::Desired, reconciler::Reconciler};
use mainstay_kaoto::{ClusterType, KaotoReconciler, Settings, kinds, names};
use serde_json::{Value, json};

use crate::writer::Child;

/// Image of a changed Kaoto.
pub(super) const NEW_IMAGE: &str = "example.org/editor:2";

/// Stands for the uid of an owner until that is known.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

/// The statuses that the operator wrote for one Kaoto, as a pattern for the plain writer.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Name of the Kaoto.
    pub(super) name: &'static str,
    /// After its creation.
    pub(super) created: Value,
    /// After the change of its image.
    pub(super) changed: Value,
}

impl Sample {
    /// A status for another Kaoto: the name occurs in the endpoint.
    fn fit(&self, status: &Value, name: &str) -> anyhow::Result<Value> {
        let text = status.to_string().replace(self.name, name);
        serde_json::from_str(&text).context("a status does not survive another name")
    }
}

/// Everything that belongs to one Kaoto.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    /// Its name.
    pub(super) name: String,
    /// The custom resource.
    pub(super) kaoto: DynamicObject,
    /// Its children, the Service first and the Deployment last.
    pub(super) children: Vec<Child>,
    /// The Deployment after the change of the image.
    pub(super) changed: Child,
    /// Status after the creation.
    pub(super) status: Value,
    /// Status after the change.
    pub(super) changed_status: Value,
}

/// A Kaoto with an exposure. Nothing else is set.
pub(super) fn kaoto(namespace: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": kinds::KAOTO.api_version(), "kind": names::KIND,
        "metadata": {"name": name, "namespace": namespace}, "spec": spec,
    })
}

/// Prepares the objects of one Kaoto with the product's own render step.
pub(super) fn prepare(namespace: &str, name: &str, sample: &Sample) -> anyhow::Result<Prepared> {
    let kaoto = kaoto(namespace, name, &json!({"ingress": {}}));
    let mut changed = kaoto.clone();
    changed["spec"]["image"] = NEW_IMAGE.into();
    let deployment = children(&changed)?.pop();
    Ok(Prepared {
        name: name.to_owned(),
        children: children(&kaoto)?,
        changed: deployment.context("a Kaoto renders to nothing")?,
        status: sample.fit(&sample.created, name)?,
        changed_status: sample.fit(&sample.changed, name)?,
        kaoto: serde_json::from_value(kaoto)?,
    })
}

fn children(kaoto: &Value) -> anyhow::Result<Vec<Child>> {
    let reconciler = KaotoReconciler::new(Settings::new(ClusterType::Vanilla, None, None));
    let mut stored = kaoto.clone();
    stored["metadata"]["uid"] = NOBODY.into();
    let input = reconciler.decode(&stored);
    let input = input.map_err(|rejection| anyhow!("a Kaoto is refused: {rejection}"))?;
    let set = reconciler.render_kaoto(&input)?;
    let mut children = Vec::new();
    for entry in set.iter() {
        let row = kinds::KINDS
            .find(&entry.key.kind)
            .context("a kind is not declared")?
            .clone();
        if let Desired::Present { body, .. } = &entry.desired {
            children.push(Child {
                row,
                key: entry.key.clone(),
                body: body.clone(),
            });
        }
    }
    Ok(children)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared() -> Prepared {
        let sample = Sample {
            name: "pattern",
            created: json!({"endpoint": "https://host/pattern", "observedGeneration": 1}),
            changed: json!({"endpoint": "https://host/pattern", "observedGeneration": 2}),
        };
        prepare("studio", "canvas", &sample).unwrap()
    }

    #[test]
    fn a_kaoto_has_a_service_an_ingress_and_a_deployment_of_its_own() {
        let prepared = prepared();
        let kinds: Vec<String> = prepared
            .children
            .iter()
            .map(|child| child.row.kind.to_string())
            .collect();
        assert_eq!(kinds, ["Service", "Ingress", "Deployment"]);
        for child in &prepared.children {
            let body = child.owned_by("u-1");
            assert_eq!(body["metadata"]["name"], "canvas");
            assert_eq!(body["metadata"]["ownerReferences"][0]["uid"], "u-1");
        }
    }

    #[test]
    fn the_change_is_the_image_of_the_deployment_and_the_status() {
        let prepared = prepared();
        let image = "/spec/template/spec/containers/0/image";
        assert_eq!(
            prepared.changed.body.pointer(image),
            Some(&Value::from(NEW_IMAGE))
        );
        assert_eq!(prepared.status["endpoint"], "https://host/canvas");
        assert_eq!(prepared.changed_status["observedGeneration"], 2);
    }
}
