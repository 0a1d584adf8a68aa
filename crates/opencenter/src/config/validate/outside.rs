//! Values from outside that are too short to be protected.

use super::Validator;
use crate::{
    config::{OutsideValue, SHORTEST_HIDDEN, lookup::lookup},
    finding::{Code, Finding},
};

/// A value of a few characters stands everywhere by chance, so nobody can find out where it went. Fields that are
/// secret by their kind go only to files that are encrypted; everywhere else it has to be public.
pub(super) fn check(validator: &mut Validator<'_>) {
    let is_refused = |value: &&OutsideValue| {
        let is_secret = lookup(&value.path).is_ok_and(|known| known.is_secret());
        value.is_hidden() && value.is_short() && !is_secret
    };
    let outside = validator.config.origins.outside();
    for value in outside.iter().filter(is_refused) {
        let reference = value.reference();
        let message = format!(
            "what `${{{reference}}}` brings in has fewer than {SHORTEST_HIDDEN} characters, too few to be kept secret in this field"
        );
        let help = format!(
            "if it is no secret, add `{reference}` to `secrets.public_references`; if it is one, make it longer"
        );
        validator.push(Finding::new(Code::Oc8010, value.path.as_str(), message).help(help));
    }
}
