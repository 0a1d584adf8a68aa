//! API errors in words.

use std::error::Error;

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
        if let Some(kube::Error::Api(status)) = current.downcast_ref::<kube::Error>() {
            texts.push(status.message.clone());
            break;
        }
        let text = current.to_string();
        next = current.source();
        // A wrapper that ends with the text of its cause says nothing of its own beyond the prefix.
        if let Some(cause) = next {
            let prefix = text
                .strip_suffix(&cause.to_string())
                .map(|prefix| prefix.trim_end_matches([':', ' ']));
            texts.extend(Some(prefix.unwrap_or(&text).to_owned()).filter(|text| !text.is_empty()));
        } else {
            texts.push(text);
        }
    }
    texts.dedup();
    texts
}
