//! What can be set on a service, for people and programs; everything comes from the types.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    catalog,
    config::lookup::{OptionRow, ServiceOptions, service_options},
};

/// The options of a service as text: sections with one row for each field. Empty sections are left out.
pub fn to_text(service: &str) -> String {
    let options = service_options(service);
    let mut out = String::new();
    section(&mut out, "Common fields", &options.common);
    section(&mut out, "Rendering fields", &options.rendering);
    section(&mut out, "Service parameters", &options.parameters);
    section(&mut out, "Secrets", &options.secrets);
    if !out.is_empty() {
        out.push_str(&examples(service, &options));
    }
    out
}

/// The options of a service as a JSON array of rows, with paths from the root of the config.
pub fn to_json(service: &str) -> Value {
    let options = service_options(service);
    let block = catalog::find(service).map_or_else(
        || format!("opencenter.services.{service}"),
        catalog::CatalogEntry::config_path,
    );
    let settings = options
        .common
        .iter()
        .chain(&options.rendering)
        .chain(&options.parameters);
    let secret_block = format!("secrets.{}", options.secret_path);
    settings
        .map(|row| row_json(row, &block))
        .chain(
            options
                .secrets
                .iter()
                .map(|row| row_json(row, &secret_block)),
        )
        .collect()
}

fn section(out: &mut String, title: &str, rows: &[OptionRow]) {
    if rows.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{title}:");
    for row in rows {
        let _ = writeln!(out, "  {}", row_text(row));
    }
}

/// `name (type) default=<d> {enum} – description [required|required when …]`
fn row_text(row: &OptionRow) -> String {
    let mut text = format!("{} ({})", row.path, row.type_name());
    if let Some(default) = row.default_text() {
        let _ = write!(text, " default={default}");
    }
    if let Some(words) = row.field.choices() {
        let _ = write!(text, " {{{}}}", words.join(", "));
    }
    let _ = write!(text, " – {}", row.field.description().trim_end_matches('.'));
    if row.field.required {
        text.push_str(" [required]");
    } else if let Some(condition) = row.field.required_when {
        let _ = write!(text, " [required when {condition}]");
    }
    text
}

fn row_json(row: &OptionRow, block: &str) -> Value {
    json!({
        "path": format!("{block}.{}", row.path),
        "type": row.type_name(),
        "default": row.default_text(),
        "enum": row.field.choices(),
        "required": row.field.required,
        "required_when": row.field.required_when,
        "secret": row.field.secret,
        "description": row.field.description(),
    })
}

fn examples(service: &str, options: &ServiceOptions) -> String {
    let managed = match catalog::find_managed(service) {
        Some(_) => " --managed",
        None => "",
    };
    let mut out = format!("\nExamples:\n  cluster service enable {service}{managed}\n");
    if let Some(row) = options
        .parameters
        .iter()
        .find(|row| !row.path.contains(['.', '[']))
    {
        let _ = writeln!(
            out,
            "  cluster service enable {service}{managed} --param {}=<{}>",
            row.path,
            row.type_name()
        );
    }
    if let Some(row) = options
        .secrets
        .iter()
        .find(|row| row.field.secret && !row.path.contains('<'))
    {
        let _ = writeln!(
            out,
            "  cluster service enable {service}{managed} --secret {}=@<file>",
            row.path
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_type_default_words_and_need() {
        let text = to_text("loki");
        for line in [
            "  storage_type (string) default=s3 {s3, swift} – Kind of the object store\n",
            "  volume_size (integer) – Size of the volume in GB\n",
            "  swift_auth_url (string) – Identity address of Swift, ending in /v3 [required when storage is swift]\n",
            "Secrets:\n",
            "  cluster service enable loki --secret swift_application_credential_secret=@<file>\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!text.contains("Rendering fields"));
        assert!(to_text("my-own").contains("Rendering fields:\n"));
        assert!(to_text("metallb").contains("  ip_address_pools[].addresses (list of string)"));
        assert!(to_text("alert-proxy").contains("enable alert-proxy --managed"));
    }

    #[test]
    fn gives_programs_full_paths() {
        let rows = to_json("keycloak");
        let find = |path: &str| {
            let rows = rows.as_array().unwrap();
            rows.iter()
                .find(|row| row["path"] == path)
                .unwrap_or_else(|| panic!("{path}"))
        };
        assert_eq!(
            find("opencenter.services.keycloak.instances")["default"],
            "3"
        );
        let secret = find("secrets.keycloak.admin_password");
        assert_eq!(secret["secret"], true);
        assert_eq!(secret["required_when"], "keycloak is enabled");
    }
}
