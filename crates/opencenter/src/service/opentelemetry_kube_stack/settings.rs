//! Settings in the config.

use std::collections::BTreeMap;

use crate::config::{CollectorMode, ExporterType, field::section, format::Format};

section! {
    /// Settings of the OpenTelemetry stack.
    struct OpenTelemetry {
        /// How collectors run.
        collector_mode: CollectorMode [word("deployment")];
        /// Number of collectors.
        collector_replicas: i64 [number(1), minimum(0)];
        /// Exporters beside the built-in ones.
        exporters: Vec<Exporter>;
        /// Processors beside the built-in ones.
        processors: Vec<String> [format(Format::Line)];
    }

    /// An exporter of the collectors.
    struct Exporter {
        /// Name of the exporter.
        name: Option<String> [required, format(Format::Line)];
        /// Kind of the exporter.
        kind as "type": Option<ExporterType> [required];
        /// Where data are sent.
        endpoint: Option<String> [format(Format::Line)];
        /// Headers that are sent along.
        headers: BTreeMap<String, String>;
    }
}
