//! Tables of pairs and the verdicts of Math-Verify on them.
