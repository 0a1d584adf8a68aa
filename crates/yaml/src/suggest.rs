//! The name that was probably meant.

/// The accepted name nearest to what was written, if one is near enough to be a slip.
pub fn closest<'a>(written: &str, accepted: &[&'a str]) -> Option<&'a str> {
    let written = simplified(written);
    let allowed = (written.len() / 3).clamp(1, 3);
    accepted
        .iter()
        .map(|name| (distance(&written, &simplified(name)), *name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}

/// Case and separators are the most common slips, so they count for nothing.
fn simplified(name: &str) -> Vec<char> {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-'))
        .take(64)
        .flat_map(char::to_lowercase)
        .collect()
}

/// The number of letters to insert, delete or replace to get from one word to the other.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, source) in from.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        let mut left = index + 1;
        next.push(left);
        for ((target, diagonal), above) in to.iter().zip(&row).zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(source != target);
            left = replaced.min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_slips_and_leaves_strangers_alone() {
        let accepted = ["replicas", "image", "pullPolicy", "port"];
        let cases = [
            ("replica", Some("replicas")),
            ("Image", Some("image")),
            ("pull_policy", Some("pullPolicy")),
            ("pullPolciy", Some("pullPolicy")),
            ("prot", None),
            ("prt", Some("port")),
            ("volumes", None),
            ("", None),
        ];
        for (written, expected) in cases {
            assert_eq!(closest(written, &accepted), expected, "{written}");
        }
    }
}
