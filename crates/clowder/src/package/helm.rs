//! The Helm chart.

use mainstay_package::{
    File, Image,
    chart::{self, Chart, Template, in_release},
};
use serde_json::{Value, json};

use super::{
    Admission, NAMESPACE, definitions,
    operator::{self, CERTIFICATE_VOLUME, CONFIG_FILE},
    webhook,
};
use crate::admission::policy;

const WEBHOOKS: &str = ".Values.webhooks";
const NO_WEBHOOKS: &str = "not .Values.webhooks";
/// Annotation of the pods.
const CHECKSUM: &str = "checksum/config";
/// The configuration file: what the user says, and whether there are webhooks.
const CONFIGURATION: &str = "{{ mergeOverwrite (deepCopy .Values.config) (dict `features` (dict `disableWebhooks` (not .Values.webhooks))) | toJson | quote }}";

/// The image. A digest wins over the tag.
const IMAGE: &str = "{{ (empty .Values.image.digest | ternary (printf `%s:%v` .Values.image.repository .Values.image.tag) (printf `%s@%s` .Values.image.repository .Values.image.digest)) | quote }}";

/// The chart for a version.
pub fn chart(image: &Image, version: &str) -> Vec<File> {
    let template = |file, condition, objects: Vec<Value>| Template {
        file,
        condition,
        objects: objects
            .iter()
            .map(|object| in_release(object, NAMESPACE))
            .collect(),
    };
    chart::files(&Chart {
        name: "clowder",
        description: "The operator of Clowder: environments and applications.",
        version: version.to_owned(),
        values: values(image),
        definitions: definitions(),
        templates: vec![
            template("rbac.yaml", None, operator::permissions()),
            template("config.yaml", None, vec![configuration()]),
            template("manager.yaml", None, manager()),
            template("webhook.yaml", Some(WEBHOOKS), webhook::objects()),
            template("policy.yaml", Some(NO_WEBHOOKS), policy::objects().to_vec()),
        ],
    })
}

fn values(image: &Image) -> Value {
    json!({
        "image": image.values(),
        "replicas": 1,
        "resources": operator::resources(),
        // Without them, and without cert-manager, the API server judges apps by itself.
        "webhooks": true,
        "config": operator::config(Admission::Webhooks),
    })
}

fn configuration() -> Value {
    let mut object = operator::config_map(&Value::Null);
    object["data"][CONFIG_FILE] = json!(CONFIGURATION);
    object
}

fn manager() -> Vec<Value> {
    let mut deployment = operator::deployment(IMAGE, Admission::Webhooks);
    let spec = &mut deployment["spec"];
    spec["replicas"] = json!("{{ .Values.replicas }}");
    // The configuration is read once, so another one needs other pods.
    spec["template"]["metadata"]["annotations"][CHECKSUM] =
        json!("{{ toJson (list .Values.config .Values.webhooks) | sha256sum | quote }}");
    let pod = &mut spec["template"]["spec"];
    pod["containers"][0]["resources"] = json!("{{ toJson .Values.resources }}");
    pod["volumes"][CERTIFICATE_VOLUME]["secret"]["optional"] = json!("{{ not .Values.webhooks }}");
    vec![
        operator::metrics_service(),
        operator::network_policy(),
        deployment,
    ]
}
