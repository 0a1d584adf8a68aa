//! Puts the parser's own errors into words that say what to do.

use serde_saphyr::granit_parser::{ErrorKind as ScanErrorKind, ScanError};

use crate::{
    error::{Error, ErrorKind},
    limits::Limits,
    source::{Position, Source},
};

/// How far below the reported line a tab is looked for.
const LINES_SEARCHED: u32 = 8;

/// The finding for an error of the parser.
pub(super) fn explain(error: &ScanError, source: &Source, limits: &Limits) -> Error {
    let marker = error.marker();
    let position = Position::from_zero_based_column(marker.line(), marker.col());
    let finding = |kind, message: String| Error::new(kind, source, position, message);
    match error.kind() {
        ScanErrorKind::RecursionLimitExceeded => {
            finding(ErrorKind::Limit, too_deep(limits.effective_depth()))
        }
        ScanErrorKind::UnknownAnchor => finding(
            ErrorKind::Alias,
            "the alias refers to an unknown anchor".to_owned(),
        )
        .with_hint(
            "define the anchor with `&` above the alias, or quote a value that starts with `*`",
        ),
        ScanErrorKind::UndeclaredTagHandle => finding(ErrorKind::Tag, error.info()),
        ScanErrorKind::UnexpectedCharacter { character } => finding(
            ErrorKind::Syntax,
            format!("a plain value cannot start with `{character}`"),
        )
        .with_hint("put the value in quotes"),
        ScanErrorKind::MappingValueNotAllowed => finding(
            ErrorKind::Syntax,
            "a `: ` is not allowed in this place".to_owned(),
        )
        .with_hint("check the indentation, or put a value that contains `: ` in quotes"),
        kind if is_about_tabs(kind) => {
            tab_in_indentation(source, first_tab(source, position).unwrap_or(position))
        }
        _ => finding(ErrorKind::Syntax, error.info()),
    }
}

/// The finding for a tab where only spaces may stand.
pub(super) fn tab_in_indentation(source: &Source, position: Position) -> Error {
    Error::new(
        ErrorKind::Syntax,
        source,
        position,
        "a tab is used for indentation",
    )
    .with_hint("indent with spaces")
}

/// The message for a text that is nested too deeply.
pub(super) fn too_deep(limit: usize) -> String {
    format!("the text is nested more than {limit} levels deep, aliases expanded")
}

fn is_about_tabs(kind: &ScanErrorKind) -> bool {
    matches!(
        kind,
        ScanErrorKind::TabNotAllowed
            | ScanErrorKind::TabInBlockIndentation
            | ScanErrorKind::TabAtBlockScalarStart
            | ScanErrorKind::TabInIndentation
            | ScanErrorKind::TabInPlainScalar
            | ScanErrorKind::InvalidBlockEntryWhitespace
            | ScanErrorKind::InvalidMappingValueWhitespace
    )
}

/// The first tab in the indentation of this line or a later one; the parser may point at the value before it.
fn first_tab(source: &Source, position: Position) -> Option<Position> {
    let mut line = position.line;
    loop {
        let text = source.line(line)?;
        let indentation = text.len() - text.trim_start_matches([' ', '\t']).len();
        if let Some(column) = text.find('\t').filter(|column| *column < indentation) {
            let column = u32::try_from(column + 1).ok()?;
            return Some(Position { line, column });
        }
        line = line
            .checked_add(1)
            .filter(|next| *next <= position.line + LINES_SEARCHED)?;
    }
}
