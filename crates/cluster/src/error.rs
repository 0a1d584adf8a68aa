//! API errors in words.

use std::error::Error;

use kube::core::Status;

/// No answer came.
#[derive(Debug, thiserror::Error)]
#[error("could not reach {place}")]
pub struct Unreachable {
    /// Server and context.
    pub place: String,
    /// Cause.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

/// What the API server answered, if an error is such an answer.
pub fn answer<'error>(error: &'error (dyn Error + 'static)) -> Option<&'error Status> {
    // Whoever holds a boxed error gives out the box as its source.
    let boxed = error.downcast_ref::<Box<kube::Error>>();
    let plain = boxed.map(|boxed| &**boxed).or_else(|| error.downcast_ref());
    match plain? {
        kube::Error::Api(status) => Some(status),
        _ => None,
    }
}

/// Whether the API server answered that a right is missing.
pub fn is_forbidden(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(current) = next {
        if answer(current).is_some_and(Status::is_forbidden) {
            return true;
        }
        next = current.source();
    }
    false
}

/// Whether the API answered that there is no such thing. A path that nobody serves answers with plain text, which has
/// the code but not the reason of a proper answer.
pub fn is_missing(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.is_not_found() || status.code == 404)
}

/// An error and its causes, each once, outermost first. The client's own texts repeat their causes and dump
/// structures; these do not.
pub fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(current) = next {
        if let Some(status) = answer(current) {
            texts.push(status.message.clone());
            break;
        }
        let text = current.to_string();
        next = current.source();
        // A wrapper that ends with the text of its cause says nothing of its own beyond the prefix.
        if let Some(cause) = next {
            let prefix = text
                .strip_suffix(&cause.to_string())
                .map(|prefix| prefix.trim_end_matches([':', ' ']))
                // The name of a variant of the client's error says nothing.
                .map(|prefix| if prefix == "ServiceError" { "" } else { prefix });
            texts.extend(Some(prefix.unwrap_or(&text).to_owned()).filter(|text| !text.is_empty()));
        } else {
            texts.push(text);
        }
    }
    texts.dedup();
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("could not list secrets")]
    struct Wrapped(#[source] Box<kube::Error>);

    fn forbidden() -> Wrapped {
        let status = Status::failure("secrets is forbidden", "Forbidden").with_code(403);
        Wrapped(Box::new(kube::Error::Api(status.boxed())))
    }

    #[test]
    fn an_answer_is_told_in_the_words_of_the_server_even_if_it_is_boxed() {
        let texts = causes(&forbidden());
        assert_eq!(texts, ["could not list secrets", "secrets is forbidden"]);
        assert!(is_forbidden(&forbidden()));
    }

    #[test]
    fn a_server_that_does_not_answer_is_named() {
        let source = std::io::Error::other("connection refused").into();
        let place = "https://127.0.0.1:1 (context gone)".to_owned();
        let error = kube::Error::Service(Unreachable { place, source }.into());
        let texts = causes(&error);
        assert_eq!(
            texts,
            [
                "could not reach https://127.0.0.1:1 (context gone)",
                "connection refused"
            ]
        );
        assert!(!is_forbidden(&error));
    }
}
