//! `cluster service list` and `cluster service status`.

use mainstay_opencenter::{
    catalog::{self, CATALOG, ServiceLayer},
    config::{AdoptionMode, ClusterConfig, Common, Purpose},
    descriptor::{Layer, Registry},
};
use mainstay_terminal::printer;
use serde_json::{Value, json};

use crate::{
    args::{OutputForm, ServiceListArgs},
    load,
    report::{self, Answer, Stop, code},
    session::Session,
};

const HEAD: [&str; 6] = [
    "SERVICE NAME",
    "STATE",
    "ADOPTION MODE",
    "NAMESPACE",
    "DESCRIPTOR",
    "DEPENDS ON",
];

/// One service, as both commands show it.
#[derive(Debug)]
struct Row {
    name: String,
    managed: bool,
    state: &'static str,
    adoption_mode: &'static str,
    namespace: String,
    descriptor: &'static str,
    depends_on: Vec<String>,
}

pub(super) fn list(session: &Session, arguments: &ServiceListArgs) -> Answer {
    session.refuse_dry_run("cluster service list")?;
    if let Some(layer) = arguments.layer.as_deref()
        && !matches!(layer, "services" | "managed-services")
    {
        let message = format!("there is no layer `{layer}`: services or managed-services");
        return Err(Stop::Usage(message));
    }
    let mut rows = rows(session, arguments.cluster.id.as_deref(), arguments.all)?;
    if let Some(layer) = arguments.layer.as_deref() {
        rows.retain(|row| row.managed == (layer == "managed-services"));
    }
    show(session, &rows)
}

pub(super) fn status(session: &Session, id: Option<&str>) -> Answer {
    session.refuse_dry_run("cluster service status")?;
    show(session, &rows(session, id, false)?)
}

/// Services of a config, and with `all` those of the catalog that it does not name; by layer, then by name.
fn rows(session: &Session, id: Option<&str>, all: bool) -> Answer<Vec<Row>> {
    let mut options = load::options(session, Purpose::Render);
    options.allow_missing_secrets = true;
    let config = load::with_options(session, id, &options)?.config;
    let registry = session.registry()?;
    let mut rows = Vec::new();
    for (name, common) in config.services().iter() {
        rows.push(row(&config, &registry, name, common, false));
    }
    for (name, common) in config.managed_services().iter() {
        rows.push(row(&config, &registry, name, common, true));
    }
    if all {
        for entry in CATALOG {
            let managed = entry.layer == ServiceLayer::ManagedServices;
            if rows
                .iter()
                .any(|row| row.name == entry.name && row.managed == managed)
            {
                continue;
            }
            rows.push(Row {
                name: entry.name.to_owned(),
                managed,
                state: "available",
                adoption_mode: "",
                namespace: entry.namespace.unwrap_or_default().to_owned(),
                descriptor: descriptor(&registry, entry.name, managed),
                depends_on: entry
                    .requires
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect(),
            });
        }
    }
    rows.sort_by(|left, right| (left.managed, &left.name).cmp(&(right.managed, &right.name)));
    Ok(rows)
}

fn row(
    config: &ClusterConfig,
    registry: &Registry,
    name: &str,
    common: &Common,
    managed: bool,
) -> Row {
    let entry = if managed {
        catalog::find_managed(name)
    } else {
        catalog::find_service(name)
    };
    let namespace = common.namespace.as_deref();
    let namespace = namespace.or_else(|| entry.and_then(|entry| entry.namespace));
    // A structural service is on unless somebody tries to switch it off.
    let structural = entry.is_some_and(|entry| entry.layer == ServiceLayer::Structural);
    let explicit_off =
        config.lookup(&format!("opencenter.services.{name}.enabled")) == Some(&json!(false));
    let enabled = common.enabled || (structural && !explicit_off);
    Row {
        name: name.to_owned(),
        managed,
        state: if enabled { "enabled" } else { "disabled" },
        adoption_mode: adoption(common.adoption_mode),
        namespace: config.origins().mask().hide(namespace.unwrap_or_default()),
        descriptor: descriptor(registry, name, managed),
        depends_on: entry
            .map(|entry| {
                entry
                    .requires
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect()
            })
            .unwrap_or_default(),
    }
}

fn adoption(mode: AdoptionMode) -> &'static str {
    mode.as_str()
}

/// Who describes a service: a descriptor of its own, the generic one, or nobody.
fn descriptor(registry: &Registry, name: &str, managed: bool) -> &'static str {
    let layer = if managed {
        Layer::ManagedServices
    } else {
        Layer::Services
    };
    if registry.of_service(layer, name).is_some() {
        "explicit"
    } else if managed || catalog::find_service(name).is_some() {
        "none"
    } else {
        "auto"
    }
}

fn show(session: &Session, rows: &[Row]) -> Answer {
    if session.output != OutputForm::Text {
        let values = rows.iter().map(|row| {
            json!({
                "name": row.name,
                "layer": if row.managed { "managed-services" } else { "services" },
                "managed": row.managed,
                "state": row.state,
                "adoption_mode": row.adoption_mode,
                "namespace": row.namespace,
                "descriptor": row.descriptor,
                "depends_on": row.depends_on,
            })
        });
        report::show(&Value::Array(values.collect()), session.output)?;
        return Ok(code::SUCCESS);
    }
    let cells = rows.iter().map(|row| {
        let suffix = if row.managed { " (managed)" } else { "" };
        [
            format!("{}{suffix}", row.name),
            row.state.to_owned(),
            row.adoption_mode.to_owned(),
            row.namespace.clone(),
            row.descriptor.to_owned(),
            row.depends_on.join(", "),
        ]
    });
    let mut table = vec![HEAD.map(str::to_owned)];
    table.extend(cells);
    printer::to_stdout(&aligned(&table))?;
    Ok(code::SUCCESS)
}

/// Columns as wide as their widest cell, without blanks at the end.
pub(super) fn aligned<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; COLUMNS]| {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
