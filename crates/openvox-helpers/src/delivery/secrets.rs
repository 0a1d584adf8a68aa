//! What must not be repeated: a server may send back what it was sent.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::config::Auth;

const HIDDEN: &str = "***";
/// What is shorter occurs in any text, and hiding it would tell it.
const SHORTEST: usize = 4;

/// Texts that are not shown, longest first.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of(
        auth: &Auth,
        in_url: Option<&(String, String)>,
        headers: &[(&str, &str)],
    ) -> Self {
        let own = (auth.username.clone(), auth.password.clone());
        let pairs = [Some(&own), in_url].into_iter().flatten();
        let basic = pairs.flat_map(|(user, password)| {
            let pair = format!("{user}:{password}");
            [password.clone(), BASE64_STANDARD.encode(&pair), pair]
        });
        let basic: Vec<String> = basic.collect();
        let values = headers.iter().flat_map(|(_, value)| {
            // A credential often stands behind the name of its scheme.
            let (_, credential) = value.split_once(' ').unwrap_or_default();
            [*value, credential]
        });
        let secrets = basic.iter().map(String::as_str).chain(values);
        let secrets = secrets.chain([auth.token.as_str()]);
        let mut secrets: Vec<String> = secrets
            .filter(|text| text.len() >= SHORTEST)
            .map(str::to_owned)
            .collect();
        secrets.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self(secrets)
    }

    pub(super) fn hidden_in(&self, text: &str) -> String {
        let secrets = self.0.iter();
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_hidden_in_every_form() {
        let auth = Auth {
            token: "hunter2".to_owned(),
            username: "me".to_owned(),
            password: "password1".to_owned(),
            ..Auth::default()
        };
        let in_url = ("you".to_owned(), "in the url".to_owned());
        let secrets = Secrets::of(
            &auth,
            Some(&in_url),
            &[("Authorization", "Splunk abc-def"), ("X-Short", "no")],
        );
        let text = "in the url no: hunter2 password1 bWU6cGFzc3dvcmQx Splunk abc-def, abc-def";
        assert_eq!(secrets.hidden_in(text), "*** no: *** *** *** ***, ***");
        assert_eq!(Secrets::of(&Auth::default(), None, &[]).hidden_in(":"), ":");
    }
}
