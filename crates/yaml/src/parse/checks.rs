//! What the reader refuses: too much, too deep, wrong tags, misleading characters.

use serde_saphyr::granit_parser::{ScalarStyle, Span, StructureStyle, Tag};

use super::{
    Reader, characters,
    node::{Cost, Repeated, position},
    scalar::{self, ScalarTag},
    syntax,
};
use crate::{
    error::{Error, ErrorKind, quoted},
    source::Position,
};

impl Reader<'_> {
    pub(super) fn spend(&mut self, cost: Cost, span: &Span) -> Result<(), Error> {
        self.spent.add(cost);
        if self.spent.nodes > self.limits.nodes {
            let message = format!(
                "the text has more than {} nodes, aliases expanded",
                self.limits.nodes
            );
            return Err(self.error(ErrorKind::Limit, span, message));
        }
        // A scalar is hardly ever longer than its source, so in practice only repetition gets here.
        if self.spent.bytes > self.limits.bytes {
            let message = format!(
                "the values exceed {} bytes, aliases expanded",
                self.limits.bytes
            );
            return Err(self.error(ErrorKind::Limit, span, message));
        }
        Ok(())
    }

    pub(super) fn check_depth(&self, depth: usize, span: &Span) -> Result<(), Error> {
        let limit = self.limits.effective_depth();
        if depth <= limit {
            return Ok(());
        }
        Err(self.error(ErrorKind::Limit, span, syntax::too_deep(limit)))
    }

    pub(super) fn check_collection(
        &mut self,
        tag: Option<&Tag>,
        own: &str,
        span: &Span,
        depth: usize,
    ) -> Result<(), Error> {
        self.check_depth(depth.saturating_add(1), span)?;
        self.spend(Cost { nodes: 1, bytes: 0 }, span)?;
        match tag {
            Some(tag)
                if !tag.is_yaml_core_schema_tag(own)
                    && !scalar::is_non_specific(tag)
                    && !self.passes_over(tag) =>
            {
                Err(self.tag_error(tag, span))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a tab in front of a block collection, where the parser lets it pass and `kubectl` does not.
    pub(super) fn check_indentation(
        &self,
        style: StructureStyle,
        span: &Span,
    ) -> Result<(), Error> {
        let before = span
            .start
            .byte_offset()
            .and_then(|offset| self.text.get(..offset))
            .unwrap_or_default();
        let is_indented_by_tab = style == StructureStyle::Block
            && before
                .bytes()
                .rev()
                .take_while(|byte| matches!(byte, b' ' | b'\t' | b'-'))
                .any(|byte| byte == b'\t');
        if is_indented_by_tab {
            Err(syntax::tab_in_indentation(self.source, position(span)))
        } else {
            Ok(())
        }
    }

    pub(super) fn check_scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        span: &Span,
    ) -> Result<(), Error> {
        if text.len() > self.limits.scalar_bytes {
            let message = format!(
                "the scalar has {} bytes, the limit is {}",
                text.len(),
                self.limits.scalar_bytes
            );
            return Err(self.error(ErrorKind::Limit, span, message));
        }
        if self.has_unusual_breaks {
            let raw = span.slice(self.text).unwrap_or_default();
            let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
            let found = raw
                .chars()
                .find(|character| characters::is_misread(*character, is_quoted));
            if let Some(character) = found {
                let code = u32::from(character);
                let hint = if style == ScalarStyle::DoubleQuoted {
                    format!("write it as \\u{code:04x}")
                } else {
                    format!("use double quotes and write it as \\u{code:04x}")
                };
                let message =
                    format!("U+{code:04X} ends a line for some YAML readers, kubectl among them");
                return Err(self.error(ErrorKind::Scalar, span, message).with_hint(hint));
            }
        }
        Ok(())
    }

    pub(super) fn scalar_tag(
        &self,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<Option<ScalarTag>, Error> {
        let known = |tag| match ScalarTag::from_tag(tag) {
            None if self.passes_over(tag) => Ok(ScalarTag::Text),
            known => known.ok_or_else(|| self.tag_error(tag, span)),
        };
        tag.map(known).transpose()
    }

    fn passes_over(&self, tag: &Tag) -> bool {
        self.dialect.passes_over_unknown_tags() && !tag.is_yaml_core_schema()
    }

    pub(super) fn tag_error(&self, tag: &Tag, span: &Span) -> Error {
        let place = span.tag_start.map_or_else(|| *span, Span::empty);
        let name = quoted(&tag.original());
        if tag.is_yaml_core_schema() {
            return self.error(
                ErrorKind::Tag,
                &place,
                format!("tag {name} does not fit this value"),
            );
        }
        self.error(ErrorKind::Tag, &place, format!("tag {name} is unknown"))
            .with_hint("remove the tag; Kubernetes has no custom tags")
    }

    pub(super) fn merge_error(&self, span: &Span) -> Error {
        let message = "a merge key takes a mapping or a list of mappings";
        self.error(ErrorKind::Merge, span, message)
            .with_hint("quote the key, `'<<'`, if no merge is meant")
    }

    pub(super) fn repetition_error(&self, repeated: &Repeated, span: &Span) -> Error {
        let Position { line, column } = repeated.first;
        let name = quoted(&repeated.name);
        let message = format!("key {name} is given twice, first in line {line}, column {column}");
        self.error(ErrorKind::DuplicateKey, span, message)
    }

    pub(super) fn scalar_error(&self, problem: scalar::Problem, span: &Span) -> Error {
        let error = self.error(problem.kind, span, problem.message);
        match problem.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    pub(super) fn error(&self, kind: ErrorKind, span: &Span, message: impl Into<String>) -> Error {
        Error::new(kind, self.source, position(span), message)
    }
}
