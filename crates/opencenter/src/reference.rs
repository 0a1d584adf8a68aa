//! Documents that are made from the code: the service catalog and the catalogue of codes, as Markdown.

use std::fmt::Write as _;

use crate::{
    catalog::{CATALOG, CatalogEntry, ServiceLayer},
    config::{
        Common, Gitops, Root, Secrets,
        field::{Kind, Section},
        lookup::{OptionRow, rows},
    },
    finding::{Category, Code},
};

/// The catalog of services: an overview, then the settings and secrets of each.
pub fn service_catalog() -> String {
    let mut out = String::from(
        "# openCenter service catalog\n\n\
         | Service | For | Layer | New config | Namespace | Needs | Goes with |\n|---|---|---|---|---|---|---|\n",
    );
    for entry in CATALOG {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| [{name}](#{name}) | {} | {} | {} | {} | {} | {} |",
            entry.category,
            entry.layer.as_str(),
            if entry.enabled_at_init { "on" } else { "off" },
            entry.namespace.map_or_else(String::new, code),
            list(entry.requires),
            list(entry.goes_with),
            name = entry.name,
        );
    }
    out.push_str("\n## Fields of all services\n\n");
    let (rendering, common): (Vec<_>, Vec<_>) =
        rows(Common::SECTION).into_iter().partition(|row| {
            row.field.rendering_field || row.path.starts_with("conditional_dependencies")
        });
    table(&mut out, &common);
    out.push_str(
        "\n### Rendering fields\n\nThese steer services that the catalog does not know. Services of the catalog have \
         descriptors of their own.\n\n",
    );
    table(&mut out, &rendering);
    for entry in CATALOG {
        service(&mut out, entry);
    }
    out
}

fn service(out: &mut String, entry: &CatalogEntry) {
    let _ = writeln!(
        out,
        "\n## {}\n\n{}. Block `{}`.",
        entry.name,
        entry.description,
        entry.config_path()
    );
    let settings = rows(entry.settings());
    if !settings.is_empty() {
        out.push('\n');
        table(out, &settings);
    }
    let Some(block) = entry.secret_block else {
        return;
    };
    let mut section = Secrets::SECTION;
    for step in block.split('.') {
        if let Some(Kind::Object(inner)) = section.field(step).map(|field| field.kind) {
            section = inner;
        }
    }
    let secrets = rows(section);
    if entry.layer != ServiceLayer::ConfigOnly && !secrets.is_empty() {
        let _ = writeln!(out, "\nSecrets below `secrets.{block}`:\n");
        table(out, &secrets);
    }
}

/// The fields of the config outside services.
pub fn config_fields() -> String {
    let mut out = String::from("# openCenter cluster config\n");
    let parts: [(&str, &'static Section); 3] = [
        ("The file", Root::SECTION),
        ("opencenter.gitops", Gitops::SECTION),
        ("secrets", Secrets::SECTION),
    ];
    for (title, section) in parts {
        let _ = writeln!(out, "\n## {title}\n");
        let all = rows(section);
        let shown: Vec<_> = all
            .into_iter()
            .filter(|row| {
                section.name != Root::SECTION.name
                    || !(row.path.starts_with("opencenter.gitops.")
                        || row.path.starts_with("secrets."))
            })
            .collect();
        table(&mut out, &shown);
    }
    out
}

/// The catalogue of codes, by category.
pub fn error_codes() -> String {
    let mut out =
        String::from("# openCenter codes\n\nCodes are stable: scripts may rely on them.\n");
    for category in [
        Category::Schema,
        Category::Provider,
        Category::Gitops,
        Category::Services,
        Category::Secrets,
        Category::Descriptor,
        Category::Render,
        Category::Tree,
    ] {
        let _ = writeln!(
            out,
            "\n## {}\n\n| Code | Severity | What is wrong | What to do |\n|---|---|---|---|",
            category.as_str()
        );
        for code in Code::ALL.iter().filter(|code| code.category() == category) {
            let _ = writeln!(
                out,
                "| {code} | {} | {} | {} |",
                code.severity().as_str(),
                cell(code.title()),
                cell(code.remedy())
            );
        }
    }
    out
}

fn table(out: &mut String, rows: &[OptionRow]) {
    out.push_str("| Field | Type | Default | Description |\n|---|---|---|---|\n");
    for row in rows {
        let mut description = row.field.description().to_owned();
        if let Some(words) = row.field.choices() {
            let _ = write!(description, " One of {}.", words.join(", "));
        }
        if row.field.required {
            description.push_str(" Required.");
        } else if let Some(condition) = row.field.required_when {
            let _ = write!(description, " Required when {condition}.");
        }
        if row.field.secret {
            description.push_str(" Secret.");
        }
        if row.field.deprecated {
            description.push_str(" Deprecated.");
        }
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            row.path,
            row.type_name(),
            cell(&row.default_text().unwrap_or_default()),
            cell(&description)
        );
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn list(names: &[&str]) -> String {
    names.join(", ")
}

/// Text that does not end a table cell or start a tag; between backticks tags do not count.
pub fn cell(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' => out.push_str("\\|"),
            '<' if !is_code => out.push_str("&lt;"),
            '\n' => out.push(' '),
            other => {
                is_code ^= other == '`';
                out.push(other);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_one_and_shows_what_is_written() {
        assert_eq!(
            cell("`<a>|b`, <c>\nand `<d>`"),
            "`<a>\\|b`, &lt;c> and `<d>`"
        );
    }

    #[test]
    fn lists_every_service_and_code() {
        let catalog = service_catalog();
        for entry in CATALOG {
            assert!(
                catalog.contains(&format!("\n## {}\n", entry.name)),
                "{}",
                entry.name
            );
        }
        assert!(catalog.contains(
            "| `storage_type` | string | s3 | Kind of the object store. One of s3, swift. |"
        ));
        let codes = error_codes();
        for code in Code::ALL {
            assert!(codes.contains(&format!("\n| {code} | ")), "{code}");
        }
        assert!(
            config_fields().contains(
                "| `opencenter.meta.name` | string |  | Name of the cluster. Required. |"
            )
        );
    }

    #[test]
    fn tables_are_well_formed() {
        for document in [service_catalog(), error_codes(), config_fields()] {
            let mut columns = None;
            for line in document.lines() {
                let count = line.replace("\\|", "").matches('|').count();
                if !line.starts_with('|') {
                    columns = None;
                    continue;
                }
                assert_eq!(*columns.get_or_insert(count), count, "{line}");
            }
        }
    }
}
