//! `Debug` of what may be a Secret: a line of a log or the message of a failed assertion must not show it.

use std::fmt;

use serde_json::Value;

use crate::key::Kind;

/// Shows a part of an object, unless the object is a Secret.
pub(crate) struct Part<'part>(&'part Kind, &'part dyn fmt::Debug);

impl<'part> Part<'part> {
    pub(crate) const fn of(kind: &'part Kind, part: &'part dyn fmt::Debug) -> Self {
        Self(kind, part)
    }
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.0.kind == "Secret", self.1, formatter)
    }
}

/// Shows a whole object, unless it is a Secret.
pub(crate) struct Whole<'object>(pub(crate) &'object Value);

impl fmt::Debug for Whole<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_secret = self.0.get("kind").is_some_and(|kind| kind == "Secret");
        show(is_secret, self.0, formatter)
    }
}

fn show(
    is_secret: bool,
    value: &dyn fmt::Debug,
    formatter: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    if is_secret {
        formatter.write_str("<hidden>")
    } else {
        value.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{
        key::{Kind, ObjectKey},
        live::LiveObject,
        object_set::Desired,
        options::Options,
        owned::Owned,
        plan::DesiredState,
    };

    const WORD: &str = "cAnArY0f7h15T35t";

    fn live(kind: Kind) -> LiveObject {
        LiveObject {
            key: ObjectKey::new(kind, "shop", "login"),
            uid: "u".to_owned(),
            resource_version: "1".to_owned(),
            deleting: false,
            owners: Vec::new(),
            owned: Owned::Whole(json!({"data": WORD})),
            marked: None,
            foreign_items: Vec::new(),
            migrated_managed_fields: None,
            facts: json!({"data": WORD}),
        }
    }

    #[test]
    fn a_secret_is_not_shown_and_everything_else_is() {
        for (kind, is_shown) in [("Secret", false), ("ConfigMap", true)] {
            let body = json!({"kind": kind, "data": {"key": WORD}});
            let options = Options::DEFAULT;
            let state = DesiredState::Present {
                body: body.clone(),
                options,
            };
            let desired = Desired::Present { body, options };
            let live = live(Kind::new("", "v1", kind));
            for text in [
                format!("{state:?}"),
                format!("{desired:?}"),
                format!("{live:?}"),
            ] {
                assert_eq!(text.contains(WORD), is_shown, "{text}");
            }
        }
    }
}
