//! One predicate about the config.

use super::{Reader, names::is_field_path};
use crate::{
    descriptor::condition::{Condition, Operator, RawCondition, expand_shorthand},
    finding::Code,
};

impl Reader<'_> {
    pub(super) fn condition(
        &mut self,
        raw: Option<&RawCondition>,
        pointer: &str,
    ) -> Option<Condition> {
        let raw = raw?;
        let before = self.findings.len();
        let field = match raw.field.as_deref() {
            None | Some("") => {
                self.report(Code::Oc5010, pointer, "the condition has no field");
                ""
            }
            Some(field) if !is_field_path(field) => {
                self.report(
                    Code::Oc5011,
                    &format!("{pointer}/field"),
                    format!("`{field}` is not a dotted path"),
                );
                field
            }
            Some(field) => field,
        };
        let word = raw.operator.as_deref().or(raw.is.as_deref());
        let operator = match word {
            Some("equals") => Operator::Equals,
            Some("exists") => Operator::Exists,
            Some("true") => Operator::True,
            Some("false") => Operator::False,
            other => {
                let message = match other {
                    Some(other) => format!("there is no operator `{other}`"),
                    None => "the condition has no operator".to_owned(),
                };
                self.report(Code::Oc5013, &format!("{pointer}/operator"), message);
                return None;
            }
        };
        match (operator, raw.value.as_deref()) {
            (Operator::Equals, None | Some("")) => {
                self.report(Code::Oc5014, pointer, "`equals` needs a value");
            }
            (Operator::Exists | Operator::True | Operator::False, Some(_)) => self.report(
                Code::Oc5015,
                &format!("{pointer}/value"),
                format!("`{}` takes no value", operator.as_str()),
            ),
            _ => {}
        }
        (self.findings.len() == before).then(|| Condition {
            field: expand_shorthand(field),
            operator,
            value: raw.value.clone(),
        })
    }
}
