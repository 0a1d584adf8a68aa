//! The `GitRepository` kind.

use mainstay_yaml::{Node, print_manifests};

use crate::descriptor::{Include, ReferenceKind};

use super::{FLUX_NAMESPACE, GitAuthentication, map};

/// A branch, tag, range or commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// What the value is.
    pub kind: ReferenceKind,
    /// The value.
    pub value: String,
}

impl Reference {
    /// A branch.
    pub fn branch(name: impl Into<String>) -> Self {
        Self {
            kind: ReferenceKind::Branch,
            value: name.into(),
        }
    }

    /// A tag.
    pub fn tag(name: impl Into<String>) -> Self {
        Self {
            kind: ReferenceKind::Tag,
            value: name.into(),
        }
    }
}

/// A source that Flux fetches, with everything decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRepository {
    /// The object's name.
    pub name: String,
    /// How often Flux looks.
    pub interval: String,
    /// The address.
    pub url: String,
    /// What is checked out.
    pub reference: Reference,
    /// The Secret with the access.
    pub secret_name: Option<String>,
    /// Paths of other repositories that appear in this one.
    pub include: Vec<Include>,
    /// The sign-in method in use and the address under the other one, for the commented alternative.
    pub alternative: Option<(GitAuthentication, String)>,
}

impl GitRepository {
    /// The manifest without comments.
    pub fn to_node(&self) -> Node {
        let include = self.include.iter().map(|include| {
            map! {
                "repository": map! { "name": &include.repository },
                "fromPath": &include.from_path,
                "toPath": &include.to_path,
            }
        });
        map! {
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": map! { "name": &self.name, "namespace": FLUX_NAMESPACE },
            "spec": map! {
                "interval": &self.interval,
                "url": &self.url,
                "ref": Node::map([(self.reference.kind.as_str(), Node::quoted(&self.reference.value))]),
                "secretRef": self.secret_name.as_ref().map(|name| map! { "name": name }),
                "include": Node::list(include).or_absent(),
            },
        }
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let text = print_manifests([&self.to_node()]);
        match &self.alternative {
            Some((active, url)) => self.with_alternative(&text, *active, url),
            None => text,
        }
    }

    /// Puts the same source for the other sign-in method beside the active one, as a comment.
    fn with_alternative(&self, text: &str, active: GitAuthentication, url: &str) -> String {
        let (active, other) = match active {
            GitAuthentication::Ssh => ("ssh", "token"),
            GitAuthentication::Token | GitAuthentication::AsIs => ("token", "ssh"),
        };
        let kind = self.reference.kind.as_str();
        let mut comment = format!(
            "  # --- {other} auth (alternative) ---\n  # url: {url}\n  # ref:\n  #   {kind}: \"{}\"\n",
            self.reference.value
        );
        if let Some(secret) = &self.secret_name {
            comment.push_str("  # secretRef:\n  #   name: ");
            comment.push_str(secret);
            comment.push('\n');
        }
        let label = format!("  # --- {active} auth (active) ---\n");
        let mut out = String::with_capacity(text.len() + comment.len() + label.len());
        let mut comment = Some(comment);
        for line in text.split_inclusive('\n') {
            if line.starts_with("  url:") {
                out.push_str(&label);
            }
            if line.starts_with("  include:") {
                out.push_str(&comment.take().unwrap_or_default());
            }
            out.push_str(line);
        }
        out.push_str(&comment.unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> GitRepository {
        GitRepository {
            name: "opencenter-x".to_owned(),
            interval: "15m".to_owned(),
            url: "https://git.example.net/a.git".to_owned(),
            reference: Reference::tag("2026.01"),
            secret_name: Some("opencenter-base".to_owned()),
            include: Vec::new(),
            alternative: None,
        }
    }

    #[test]
    fn references_are_quoted() {
        assert_eq!(
            repository().to_text(),
            "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: opencenter-x\n  \
             namespace: flux-system\nspec:\n  interval: 15m\n  url: https://git.example.net/a.git\n  ref:\n    \
             tag: \"2026.01\"\n  secretRef:\n    name: opencenter-base\n"
        );
    }

    #[test]
    fn the_alternative_stands_before_the_includes() {
        let text = GitRepository {
            include: vec![Include {
                repository: "base".to_owned(),
                from_path: "a".to_owned(),
                to_path: "b/".to_owned(),
            }],
            alternative: Some((
                GitAuthentication::Token,
                "ssh://git@git.example.net/a.git".to_owned(),
            )),
            ..repository()
        }
        .to_text();
        let spec = text.split_once("spec:\n").map(|(_, spec)| spec);
        assert_eq!(
            spec,
            Some(
                "  interval: 15m\n  # --- token auth (active) ---\n  url: https://git.example.net/a.git\n  ref:\n    \
                 tag: \"2026.01\"\n  secretRef:\n    name: opencenter-base\n  # --- ssh auth (alternative) ---\n  \
                 # url: ssh://git@git.example.net/a.git\n  # ref:\n  #   tag: \"2026.01\"\n  # secretRef:\n  \
                 #   name: opencenter-base\n  include:\n    - repository:\n        name: base\n      fromPath: a\n      \
                 toPath: b/\n"
            )
        );
    }
}
