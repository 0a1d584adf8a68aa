//! `{{ path }}` in templates and output paths of the user.
//!
//! Only scalars are filled in, and only such that cannot change the meaning of the text around them.

use serde_json::Value;

use crate::{
    config::ClusterConfig,
    descriptor::{lookup, scalar_text},
};

/// Replaces every `{{ dotted.path }}` by the value from the config. A hidden value that is too short to be found again
/// is refused.
pub(super) fn fill(template: &str, config: &ClusterConfig) -> Result<String, String> {
    fill_from(template, config.effective(), &|text| {
        let mut short = config.hidden_outside().filter(|value| value.is_short());
        short.any(|value| value.expose() == text)
    })
}

fn fill_from(
    template: &str,
    config: &Value,
    is_hidden: &dyn Fn(&str) -> bool,
) -> Result<String, String> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (path, tail) = after
            .split_once("}}")
            .ok_or("an expression is not closed with `}}`")?;
        let path = path.trim();
        let value =
            lookup(config, path).ok_or_else(|| format!("the config has no value at `{path}`"))?;
        let text = scalar_text(value).ok_or_else(|| format!("`{path}` is not a single value"))?;
        if is_hidden(&text) {
            return Err(format!(
                "the value at `{path}` is secret, and too short to be kept so in a template"
            ));
        }
        if !is_harmless(&text) {
            return Err(format!(
                "the value at `{path}` has characters that a template cannot take"
            ));
        }
        out.push_str(&text);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

/// Letters, digits and what names, addresses and versions are made of.
fn is_harmless(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "._/@:+=,-".contains(character))
        && !text.ends_with(':')
        && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fills_scalars_and_refuses_everything_else() {
        let config =
            json!({"a": {"name": "alpha", "n": 3, "l": [], "evil": "x\ny: z", "up": "../x"}});
        assert_eq!(
            fill_from("x-{{ a.name }}-{{a.n}}", &config, &|_| false).as_deref(),
            Ok("x-alpha-3")
        );
        for template in [
            "{{ a.none }}",
            "{{ a.l }}",
            "{{ a.evil }}",
            "{{ a.up }}",
            "{{ a.name",
        ] {
            assert!(
                fill_from(template, &config, &|_| false).is_err(),
                "{template}"
            );
        }
    }
}
