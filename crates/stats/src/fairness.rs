//! An index of how evenly something is shared.

/// Jain's fairness index of what each got: 1 when all got the same, 1/n when one got everything.
///
/// `None` when there are no shares, and when all of them are zero.
///
/// Source: R. Jain, D. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for
/// resource allocation in shared computer systems" (1984): (Σx)² / (n Σx²).
pub fn fairness(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(fairness(&[]), None);
        assert_eq!(fairness(&[0.0, 0.0]), None);
        assert_eq!(fairness(&[5.0]), Some(1.0));
        assert_eq!(fairness(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(fairness(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
    }

    proptest! {
        #[test]
        fn it_lies_between_one_for_all_and_all_alike(shares in prop::collection::vec(0.001f64..1e12, 1..50)) {
            let index = fairness(&shares).unwrap();
            prop_assert!(index <= 1.0 + 1e-9 && index >= 1.0 / shares.len() as f64 - 1e-9);
        }
    }
}
