//! How the metrics of brokers are named for Prometheus.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use serde::Serialize;

use super::{cluster::environment_label, places::Places};
use crate::{names, providers::provider::Context};

/// Key of the rules in their `ConfigMap`.
pub(super) const KEY: &str = "metrics";

/// Name of the `ConfigMap`.
pub(super) fn name(places: &Places<'_>) -> String {
    names::part(places.cluster, "metrics")
}

/// The `ConfigMap` with the rules.
pub(super) fn build(context: &Context<'_>, places: &Places<'_>) -> ConfigMap {
    ConfigMap {
        metadata: names::metadata(
            (places.namespace, &name(places)),
            environment_label(context),
            &names::environment_owner(context.environment),
        ),
        data: Some([(KEY.to_owned(), document())].into()),
        ..ConfigMap::default()
    }
}

#[derive(Serialize)]
struct Document {
    metrics: Rules,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rules {
    lowercase_output_name: bool,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
struct Rule {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<&'static str, &'static str>,
    name: &'static str,
    pattern: &'static str,
    r#type: &'static str,
}

/// The text, down to the spaces: a changed text restarts brokers. Parity: all lines but the first are indented by two.
fn document() -> String {
    let rules = RULES.iter().map(|&(r#type, name, pattern, labels)| Rule {
        labels: labels.iter().copied().collect(),
        name,
        pattern,
        r#type,
    });
    let document = Document {
        metrics: Rules {
            lowercase_output_name: true,
            rules: rules.collect(),
        },
    };
    let text = serde_json::to_string_pretty(&document);
    text.unwrap_or_default().replace('\n', "\n  ")
}

const GAUGE: &str = "GAUGE";
const COUNTER: &str = "COUNTER";

type Labels = &'static [(&'static str, &'static str)];

/// Type, name, pattern and labels; the first pattern that matches counts.
const RULES: &[(&str, &str, &str, Labels)] = &[
    (
        GAUGE,
        "kafka_server_$1_$2",
        "kafka.server<type=(.+), name=(.+), clientId=(.+), topic=(.+), partition=(.*)><>Value",
        &[("clientId", "$3"), ("partition", "$5"), ("topic", "$4")],
    ),
    (
        GAUGE,
        "kafka_server_$1_$2",
        "kafka.server<type=(.+), name=(.+), clientId=(.+), brokerHost=(.+), brokerPort=(.+)><>Value",
        &[("broker", "$4:$5"), ("clientId", "$3")],
    ),
    (
        GAUGE,
        "kafka_server_$1_connections_tls_info",
        "kafka.server<type=(.+), cipher=(.+), protocol=(.+), listener=(.+), networkProcessor=(.+)><>connections",
        &[
            ("cipher", "$5"),
            ("listener", "$2"),
            ("networkProcessor", "$3"),
            ("protocol", "$4"),
        ],
    ),
    (
        GAUGE,
        "kafka_server_$1_connections_software",
        "kafka.server<type=(.+), clientSoftwareName=(.+), clientSoftwareVersion=(.+), listener=(.+), networkProcessor=(.+)><>connections",
        &[
            ("clientSoftwareName", "$2"),
            ("clientSoftwareVersion", "$3"),
            ("listener", "$4"),
            ("networkProcessor", "$5"),
        ],
    ),
    (
        GAUGE,
        "kafka_server_$1_$4",
        "kafka.server<type=(.+), listener=(.+), networkProcessor=(.+)><>(.+):",
        &[("listener", "$2"), ("networkProcessor", "$3")],
    ),
    (
        GAUGE,
        "kafka_server_$1_$4",
        "kafka.server<type=(.+), listener=(.+), networkProcessor=(.+)><>(.+)",
        &[("listener", "$2"), ("networkProcessor", "$3")],
    ),
    (
        GAUGE,
        "kafka_$1_$2_$3_percent",
        r"kafka.(\w+)<type=(.+), name=(.+)Percent\w*><>MeanRate",
        &[],
    ),
    (
        GAUGE,
        "kafka_$1_$2_$3_percent",
        r"kafka.(\w+)<type=(.+), name=(.+)Percent\w*><>Value",
        &[],
    ),
    (
        GAUGE,
        "kafka_$1_$2_$3_percent",
        r"kafka.(\w+)<type=(.+), name=(.+)Percent\w*, (.+)=(.+)><>Value",
        &[("$4", "$5")],
    ),
    (
        COUNTER,
        "kafka_$1_$2_$3_total",
        r"kafka.(\w+)<type=(.+), name=(.+)PerSec\w*, (.+)=(.+), (.+)=(.+)><>Count",
        &[("$4", "$5"), ("$6", "$7")],
    ),
    (
        COUNTER,
        "kafka_$1_$2_$3_total",
        r"kafka.(\w+)<type=(.+), name=(.+)PerSec\w*, (.+)=(.+)><>Count",
        &[("$4", "$5")],
    ),
    (
        COUNTER,
        "kafka_$1_$2_$3_total",
        r"kafka.(\w+)<type=(.+), name=(.+)PerSec\w*><>Count",
        &[],
    ),
    (
        GAUGE,
        "kafka_$1_$2_$3",
        r"kafka.(\w+)<type=(.+), name=(.+), (.+)=(.+), (.+)=(.+)><>Value",
        &[("$4", "$5"), ("$6", "$7")],
    ),
    (
        GAUGE,
        "kafka_$1_$2_$3",
        r"kafka.(\w+)<type=(.+), name=(.+), (.+)=(.+)><>Value",
        &[("$4", "$5")],
    ),
    (
        GAUGE,
        "kafka_$1_$2_$3",
        r"kafka.(\w+)<type=(.+), name=(.+)><>Value",
        &[],
    ),
    (
        COUNTER,
        "kafka_$1_$2_$3_count",
        r"kafka.(\w+)<type=(.+), name=(.+), (.+)=(.+), (.+)=(.+)><>Count",
        &[("$4", "$5"), ("$6", "$7")],
    ),
    (
        GAUGE,
        "kafka_$1_$2_$3",
        r"kafka.(\w+)<type=(.+), name=(.+), (.+)=(.*), (.+)=(.+)><>(\d+)thPercentile",
        &[("$4", "$5"), ("$6", "$7"), ("quantile", "0.$8")],
    ),
    (
        COUNTER,
        "kafka_$1_$2_$3_count",
        r"kafka.(\w+)<type=(.+), name=(.+), (.+)=(.+)><>Count",
        &[("$4", "$5")],
    ),
    (
        GAUGE,
        "kafka_$1_$2_$3",
        r"kafka.(\w+)<type=(.+), name=(.+), (.+)=(.*)><>(\d+)thPercentile",
        &[("$4", "$5"), ("quantile", "0.$6")],
    ),
    (
        COUNTER,
        "kafka_$1_$2_$3_count",
        r"kafka.(\w+)<type=(.+), name=(.+)><>Count",
        &[],
    ),
    (
        GAUGE,
        "kafka_$1_$2_$3",
        r"kafka.(\w+)<type=(.+), name=(.+)><>(\d+)thPercentile",
        &[("quantile", "0.$4")],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_text_is_indented_as_the_original_s() {
        let text = document();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            &lines[..5],
            [
                "{",
                "    \"metrics\": {",
                "      \"lowercaseOutputName\": true,",
                "      \"rules\": [",
                "        {",
            ]
        );
        assert_eq!(&lines[lines.len() - 2..], ["    }", "  }"]);
        assert!(!text.ends_with('\n'));
    }

    #[test]
    fn every_group_of_a_pattern_that_a_rule_names_is_in_its_pattern() {
        let document: Value = serde_json::from_str(&document()).unwrap();
        let rules = document["metrics"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), 21);
        for rule in rules {
            let groups = rule["pattern"].as_str().unwrap().matches('(').count();
            let text = rule.to_string();
            let named = (1..10).filter(|group| text.contains(&format!("${group}")));
            assert!(named.max().unwrap_or(0) <= groups, "{text}");
        }
    }
}
