//! What the test programs of this crate share. Each of them has this file as a module, by its path.
#![allow(dead_code, reason = "each program uses a part of it")]

pub(crate) mod clowder;
pub(crate) mod kaoto;
pub(crate) mod program;
