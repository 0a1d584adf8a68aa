//! Access from outside the cluster, as the user asked for it, and the paths that follow from it.

use mainstay_engine::reconciler::Rejection;

/// What turns a path into the regular expression that the nginx rewrite needs: the rest of the path is group 2.
pub const SUFFIX: &str = "(/|$)(.*)";

/// The root path as such an expression: group 1 is there only to be counted.
const ROOT: &str = "/()(.*)";

/// Longest path that is accepted, in bytes.
const LONGEST_PATH: usize = 2048;

/// Field that holds the path.
pub(crate) const PATH_FIELD: &str = "spec.ingress.path";

/// Validated request for exposure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposure {
    /// Host, if the user named one.
    pub host: Option<String>,
    /// Path, if the user named one.
    pub path: Option<ExposurePath>,
}

/// A path that cannot break out of the place it is put into: the configuration of a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExposurePath(String);

impl ExposurePath {
    /// Accepts a path that is no more than a path, with or without [`SUFFIX`].
    ///
    /// Parity: the original hands every character on. Ingress controllers paste the path into their
    /// configuration, so what ends a directive, opens a block, quotes, comments or expands a
    /// variable is refused, and so is a regular expression beyond the suffix. A dot stays a
    /// character of ordinary paths: as an expression it matches one more character, not more.
    pub fn parse(path: &str) -> Result<Self, Rejection> {
        if path.len() > LONGEST_PATH {
            return Err(rejection(
                format!("is longer than {LONGEST_PATH} bytes"),
                "shorten the path",
            ));
        }
        let plain = path.strip_suffix(SUFFIX).unwrap_or(path);
        match plain.chars().find(|&character| is_hostile(character)) {
            None => Ok(Self(path.to_owned())),
            Some(character) => Err(rejection(
                format!("contains {character:?}, which is not allowed in a path"),
                "use a plain path such as `/designer`; the rest of the expression is added to it",
            )),
        }
    }

    /// The path as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path without the suffix and without slashes at its end, absolute; empty for the root.
    fn base(&self) -> String {
        let plain = self.0.strip_suffix(SUFFIX).unwrap_or(&self.0);
        match plain.trim_end_matches('/') {
            "" => String::new(),
            plain => absolute(plain),
        }
    }
}

impl Exposure {
    /// The path of an Ingress rule for the instance `name`: a regular expression with the rest as group 2.
    pub fn ingress_path(&self, name: &str) -> String {
        match &self.path {
            None => format!("/{name}{SUFFIX}"),
            Some(path) if path.0.ends_with(SUFFIX) => absolute(&path.0),
            Some(path) => match path.base().as_str() {
                "" => ROOT.to_owned(),
                base => format!("{base}{SUFFIX}"),
            },
        }
    }

    /// The path of a Route.
    pub fn route_path(&self) -> String {
        self.path
            .as_ref()
            .map_or_else(|| "/".to_owned(), |path| absolute(&path.0))
    }

    /// The part of the address behind the host on a plain cluster; empty for the root.
    pub fn base(&self, name: &str) -> String {
        self.path
            .as_ref()
            .map_or_else(|| format!("/{name}"), ExposurePath::base)
    }
}

fn absolute(path: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    }
}

fn is_hostile(character: char) -> bool {
    const CONFIGURATION: &str = ";{}\"'`\\#$";
    const EXPRESSION: &str = "()[]|*+?^";
    character.is_control()
        || character.is_whitespace()
        || CONFIGURATION.contains(character)
        || EXPRESSION.contains(character)
}

fn rejection(message: String, hint: &str) -> Rejection {
    Rejection {
        path: PATH_FIELD.to_owned(),
        message,
        hint: Some(hint.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exposure(path: &str) -> Exposure {
        Exposure {
            host: None,
            path: (!path.is_empty()).then(|| ExposurePath::parse(path).unwrap()),
        }
    }

    #[test]
    fn every_way_to_write_a_path_gives_ingress_route_and_address() {
        let table = [
            // written, Ingress, Route, address
            ("", "/canvas(/|$)(.*)", "/", "/canvas"),
            ("/designer", "/designer(/|$)(.*)", "/designer", "/designer"),
            (
                "/designer/",
                "/designer(/|$)(.*)",
                "/designer/",
                "/designer",
            ),
            (
                "/designer///",
                "/designer(/|$)(.*)",
                "/designer///",
                "/designer",
            ),
            ("designer", "/designer(/|$)(.*)", "/designer", "/designer"),
            ("designer/", "/designer(/|$)(.*)", "/designer/", "/designer"),
            (
                "/tools/draw",
                "/tools/draw(/|$)(.*)",
                "/tools/draw",
                "/tools/draw",
            ),
            ("/", "/()(.*)", "/", ""),
            ("//", "/()(.*)", "//", ""),
            (
                "/mine(/|$)(.*)",
                "/mine(/|$)(.*)",
                "/mine(/|$)(.*)",
                "/mine",
            ),
            (
                "/mine/(/|$)(.*)",
                "/mine/(/|$)(.*)",
                "/mine/(/|$)(.*)",
                "/mine",
            ),
            ("mine(/|$)(.*)", "/mine(/|$)(.*)", "/mine(/|$)(.*)", "/mine"),
            ("(/|$)(.*)", "/(/|$)(.*)", "/(/|$)(.*)", ""),
            (
                "/v1.2/a-b_c~d%20e",
                "/v1.2/a-b_c~d%20e(/|$)(.*)",
                "/v1.2/a-b_c~d%20e",
                "/v1.2/a-b_c~d%20e",
            ),
        ];
        for (written, ingress, route, base) in table {
            let exposure = exposure(written);
            assert_eq!(
                exposure.ingress_path("canvas"),
                ingress,
                "Ingress of {written:?}"
            );
            assert_eq!(exposure.route_path(), route, "Route of {written:?}");
            assert_eq!(exposure.base("canvas"), base, "address of {written:?}");
        }
    }

    #[test]
    fn a_path_cannot_break_out_of_a_proxy_configuration() {
        let hostile = include_str!("../../../tests/hostile-paths.json");
        let hostile: Vec<String> = serde_json::from_str(hostile).unwrap();
        for path in &hostile {
            let rejection = ExposurePath::parse(path).unwrap_err();
            assert_eq!(rejection.path, "spec.ingress.path", "{path:?}");
            assert!(rejection.hint.is_some());
        }
        assert_eq!(
            ExposurePath::parse("/a;b").unwrap_err().to_string(),
            "spec.ingress.path: contains ';', which is not allowed in a path"
        );
    }

    #[test]
    fn a_path_has_a_greatest_length() {
        let longest = format!("/{}", "a".repeat(LONGEST_PATH - 1));
        assert!(ExposurePath::parse(&longest).is_ok());
        let rejection = ExposurePath::parse(&format!("{longest}a")).unwrap_err();
        assert_eq!(rejection.message, "is longer than 2048 bytes");
    }
}
