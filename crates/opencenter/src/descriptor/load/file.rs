//! Overlay files, and directories that stand for all files in them.

use super::{
    Reader,
    names::{in_layer, is_safe_relative},
};
use crate::{
    descriptor::{
        FileEntry, Layer, TemplateStore,
        raw::{RawFile, RawFileDetails, RawRoot},
    },
    finding::Code,
};

/// The suffix that marks a template with expressions.
const TEMPLATE_SUFFIX: &str = ".tpl";

impl Reader<'_> {
    pub(super) fn files(
        &mut self,
        raw: Vec<RawFile>,
        root: Option<&str>,
        pointer: &str,
    ) -> Vec<FileEntry> {
        raw.into_iter()
            .enumerate()
            .filter_map(|(index, file)| self.file(file, root, &format!("{pointer}/{index}")))
            .collect()
    }

    fn file(&mut self, raw: RawFile, root: Option<&str>, pointer: &str) -> Option<FileEntry> {
        let details = match raw {
            RawFile::Name(name) => RawFileDetails {
                name: Some(name),
                ..RawFileDetails::default()
            },
            RawFile::Detailed(details) => details,
        };
        let Some(name) = details.name.or(details.template) else {
            self.report(Code::Oc5018, pointer, "a file needs `name`");
            return None;
        };
        let plain = name.strip_suffix(TEMPLATE_SUFFIX).unwrap_or(&name);
        let output = match (details.output, root) {
            (Some(output), _) => output,
            (None, Some(root)) => format!("{root}/{plain}"),
            (None, None) => {
                self.report(
                    Code::Oc5024,
                    pointer,
                    "files need `render.overlay.root` or `output`",
                );
                return None;
            }
        };
        for path in [plain, &output] {
            if !is_safe_relative(path) {
                self.report(
                    Code::Oc5024,
                    pointer,
                    format!("`{path}` leaves its directory"),
                );
                return None;
            }
        }
        Some(FileEntry {
            template: plain.to_owned(),
            output,
            render: details
                .render
                .unwrap_or_else(|| name.ends_with(TEMPLATE_SUFFIX)),
            sensitive: details.sensitive,
            resource: details.resource,
            patch: details.patch,
            when: self.condition(details.when.as_ref(), &format!("{pointer}/when")),
        })
    }

    /// Writes `roots` out: every template below a directory, minus the excluded ones.
    pub(super) fn roots(
        &mut self,
        raw: Vec<RawRoot>,
        layer: Layer,
        store: &TemplateStore,
    ) -> Vec<FileEntry> {
        let mut files = Vec::new();
        for (index, root) in raw.into_iter().enumerate() {
            let pointer = format!("/roots/{index}");
            let when = self.condition(root.when.as_ref(), &format!("{pointer}/when"));
            let path = root.path.trim_matches('/').to_owned();
            let output = root
                .output
                .unwrap_or_else(|| path.clone())
                .trim_matches('/')
                .to_owned();
            if !is_safe_relative(&path) || !is_safe_relative(&output) || !in_layer(&output, layer) {
                self.report(
                    Code::Oc5024,
                    &pointer,
                    format!("`{output}` leaves its layer"),
                );
                continue;
            }
            for name in store.user_templates_below(&path) {
                let plain = name.strip_suffix(TEMPLATE_SUFFIX).unwrap_or(name);
                if root
                    .excludes
                    .iter()
                    .any(|excluded| excluded == name || excluded == plain)
                {
                    continue;
                }
                files.push(FileEntry {
                    render: name.ends_with(TEMPLATE_SUFFIX),
                    when: when.clone(),
                    output: format!("{output}/{plain}"),
                    ..FileEntry::new(&path, plain)
                });
            }
        }
        files
    }
}
