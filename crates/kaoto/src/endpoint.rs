//! The address of the editor, from what is known of the live Ingress or Route.

use mainstay_engine::{Kind, live::LiveObject};
use serde_json::{Value, json};

use crate::{exposure::Exposure, kinds, names, settings::ClusterType, validate::KaotoInput};

/// What to keep of a live object: the address that an ingress controller or router reported.
pub fn facts(kind: &Kind, object: &Value) -> Value {
    if *kind == kinds::INGRESS {
        let first = object.pointer("/status/loadBalancer/ingress/0");
        return first.map_or(
            Value::Null,
            |first| json!({"hostname": first.get("hostname"), "ip": first.get("ip")}),
        );
    }
    if *kind == kinds::ROUTE {
        let host = object.pointer("/status/ingress/0/host");
        return json!({"host": host, "path": object.pointer("/spec/path")});
    }
    Value::Null
}

/// The address under which the editor is reached now. It is that of the Service until something
/// outside reports one. Always ends with one slash.
pub fn endpoint(input: &KaotoInput, live: Option<&LiveObject>) -> String {
    let outside = input
        .exposure
        .as_ref()
        .zip(live)
        .and_then(|(exposure, live)| match input.cluster_type {
            ClusterType::Vanilla => ingress_address(input, exposure, &live.facts),
            ClusterType::OpenShift => route_address(&live.facts),
        });
    let address = outside.unwrap_or_else(|| {
        format!(
            "http://{}.{}.svc.cluster.local:{}",
            input.name,
            input.namespace,
            names::PORT
        )
    });
    format!("{}/", address.trim_end_matches('/'))
}

fn ingress_address(input: &KaotoInput, exposure: &Exposure, facts: &Value) -> Option<String> {
    let reported = text(facts, "hostname").or_else(|| text(facts, "ip"))?;
    let host = exposure.host.as_deref().unwrap_or(reported);
    Some(format!("http://{host}{}", exposure.base(&input.name)))
}

fn route_address(facts: &Value) -> Option<String> {
    let host = text(facts, "host")?;
    Some(format!(
        "https://{host}{}",
        text(facts, "path").unwrap_or_default()
    ))
}

fn text<'facts>(facts: &'facts Value, field: &str) -> Option<&'facts str> {
    facts
        .get(field)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use mainstay_engine::{ObjectKey, owned::Owned};

    use super::*;
    use crate::fixture::input;

    const INSIDE: &str = "http://canvas.studio.svc.cluster.local:8080/";

    fn live(kind: Kind, object: &Value) -> LiveObject {
        LiveObject {
            facts: facts(&kind, object),
            key: ObjectKey::new(kind, "studio", "canvas"),
            uid: "u".to_owned(),
            resource_version: "1".to_owned(),
            deleting: false,
            owners: Vec::new(),
            owned: Owned::default(),
            marked: None,
            foreign_items: Vec::new(),
            migrated_managed_fields: None,
        }
    }

    fn ingress(address: &Value) -> LiveObject {
        live(
            kinds::INGRESS,
            &json!({"status": {"loadBalancer": {"ingress": [address]}}}),
        )
    }

    #[test]
    fn an_ingress_address_becomes_the_endpoint_with_host_and_path_of_the_user() {
        let name = json!({"hostname": "lb.test", "ip": "192.0.2.8"});
        let ip = json!({"hostname": "", "ip": "192.0.2.8"});
        let table = [
            (json!({}), &name, "http://lb.test/canvas/"),
            (json!({}), &ip, "http://192.0.2.8/canvas/"),
            (
                json!({"host": "draw.test"}),
                &name,
                "http://draw.test/canvas/",
            ),
            (
                json!({"host": "draw.test"}),
                &ip,
                "http://draw.test/canvas/",
            ),
            (json!({"path": "/deep"}), &ip, "http://192.0.2.8/deep/"),
            (json!({"path": "/deep/"}), &ip, "http://192.0.2.8/deep/"),
            (json!({"path": "deep"}), &ip, "http://192.0.2.8/deep/"),
            (
                json!({"path": "/deep(/|$)(.*)"}),
                &ip,
                "http://192.0.2.8/deep/",
            ),
            (json!({"path": "/"}), &ip, "http://192.0.2.8/"),
            (
                json!({"host": "draw.test", "path": "/"}),
                &ip,
                "http://draw.test/",
            ),
            (json!({"host": "draw.test"}), &json!({}), INSIDE),
        ];
        for (exposure, address, expected) in table {
            let input = input(ClusterType::Vanilla, json!({"ingress": exposure}));
            assert_eq!(
                endpoint(&input, Some(&ingress(address))),
                expected,
                "{exposure} {address}"
            );
        }
    }

    #[test]
    fn a_route_host_becomes_the_endpoint_with_the_path_of_the_live_route() {
        let table = [
            (
                json!({"spec": {"path": "/"}, "status": {"ingress": [{"host": "a.test"}]}}),
                "https://a.test/",
            ),
            (
                json!({"spec": {"path": "/draw"}, "status": {"ingress": [{"host": "a.test"}]}}),
                "https://a.test/draw/",
            ),
            (
                json!({"spec": {"path": "/draw/"}, "status": {"ingress": [{"host": "a.test"}]}}),
                "https://a.test/draw/",
            ),
            (
                json!({"spec": {}, "status": {"ingress": [{"host": "a.test"}]}}),
                "https://a.test/",
            ),
            (
                json!({"spec": {"path": "/"}, "status": {"ingress": [{"host": ""}]}}),
                INSIDE,
            ),
            (json!({"spec": {"path": "/"}}), INSIDE),
        ];
        let input = input(ClusterType::OpenShift, json!({"ingress": {}}));
        for (route, expected) in table {
            assert_eq!(
                endpoint(&input, Some(&live(kinds::ROUTE, &route))),
                expected,
                "{route}"
            );
        }
    }

    #[test]
    fn without_exposure_the_address_is_that_of_the_service() {
        for cluster_type in [ClusterType::Vanilla, ClusterType::OpenShift] {
            let input = input(cluster_type, json!({}));
            assert_eq!(endpoint(&input, None), INSIDE);
            assert_eq!(
                endpoint(&input, Some(&ingress(&json!({"ip": "192.0.2.8"})))),
                INSIDE
            );
        }
    }

    #[test]
    fn nothing_is_kept_of_objects_that_report_no_address() {
        assert_eq!(
            facts(
                &kinds::SERVICE,
                &json!({"status": {"loadBalancer": {"ingress": [{"ip": "a"}]}}})
            ),
            Value::Null
        );
        assert_eq!(
            facts(&kinds::DEPLOYMENT, &json!({"status": {"replicas": 1}})),
            Value::Null
        );
        assert_eq!(
            facts(&kinds::INGRESS, &json!({"status": {"loadBalancer": {}}})),
            Value::Null
        );
    }
}
