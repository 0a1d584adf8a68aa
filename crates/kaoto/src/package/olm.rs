//! The operator as OLM offers it.

use mainstay_package::{BundleError, BundleInput, File, Product, bundle};

use super::{crd, csv, operator};
use crate::names;

/// What bundles are made of.
pub(super) fn product(image: &str) -> Product {
    Product {
        name: names::OPERATOR,
        base: csv::base(),
        definitions: vec![crd()],
        objects: operator::operator_objects(image),
        further: Vec::new(),
    }
}

/// Generates a bundle and checks it.
pub fn bundle(input: &BundleInput) -> Result<Vec<File>, BundleError> {
    bundle::bundle(&product(&input.image.to_string()), input)
}

#[cfg(test)]
mod bundle_tests;
#[cfg(test)]
mod rule_tests;
