//! What programs say and how they end, the same for every command of every system.
//!
//! | Module | What is in it |
//! |---|---|
//! | [`printer`] | stdout for data, stderr for everything else |
//! | [`exit`] | exit statuses and the form of error messages |
//! | [`color`] | the flag `--color` |
//! | [`output_files`] | generated files: whole or not at all, and only where they differ |
#![deny(missing_docs)]

pub mod color;
pub mod exit;
pub mod output_files;
pub mod printer;
