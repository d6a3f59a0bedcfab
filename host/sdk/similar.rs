//! Finds names that a misspelled name may stand for.

use super::names::snake_case;

/// The length in bytes of a name that is compared. A longer name is not similar to any.
const MAX_LENGTH: usize = 64;

/// Returns how many characters differ between a name and a known name, unless that is more than a third of the name.
///
/// The name may have any case: `listPet` is as similar to `list_pets` as `list_pet`.
pub fn distance(name: &str, known: &str) -> Option<usize> {
    if name.len() > MAX_LENGTH || known.len() > 2 * MAX_LENGTH {
        return None;
    }
    let name = snake_case(name);
    let limit = (name.len() / 3).max(1);
    if name.len().abs_diff(known.len()) > limit {
        return None;
    }
    let mut row: Vec<usize> = (0..=known.len()).collect();
    for (index, character) in name.bytes().enumerate() {
        let mut diagonal = index;
        let mut left = index + 1;
        let mut smallest = left;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, other) in row.iter_mut().skip(1).zip(known.bytes()) {
            let replaced = diagonal + usize::from(character != other);
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
            smallest = smallest.min(left);
        }
        if smallest > limit {
            return None;
        }
    }
    row.last().copied().filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn the_distance_counts_characters_up_to_a_third_of_the_name() {
        for (name, known, expected) in [
            ("list_pets", "list_pets", Some(0)),
            ("lst_pets", "list_pets", Some(1)),
            ("listPet", "list_pets", Some(1)),
            ("lits_pets", "list_pets", Some(2)),
            ("get_pet", "get_pets", Some(1)),
            ("pet", "get_pets", None),
            ("zoo", "shop", None),
            ("a", "ab", Some(1)),
        ] {
            assert_eq!(distance(name, known), expected, "{name} {known}");
        }
        assert_eq!(distance(&"x".repeat(1000), &"x".repeat(100)), None);
    }
}
