//! One pass of replacements over a text.

/// What is copied, and what stands in its place.
pub(super) struct Rewriting<'t> {
    text: &'t str,
    out: String,
    copied: usize,
}

impl<'t> Rewriting<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            out: String::new(),
            copied: 0,
        }
    }

    /// Keeps everything up to `start` and drops what follows up to `end`. Called with growing positions.
    pub(super) fn cut(&mut self, start: usize, end: usize) {
        if self.copied == 0 && self.out.is_empty() {
            self.out.reserve(self.text.len() + 16);
        }
        self.out
            .push_str(self.text.get(self.copied..start).unwrap_or_default());
        self.copied = end;
    }

    /// Puts the pieces `with` in the place of `start..end`.
    pub(super) fn replace(&mut self, start: usize, end: usize, with: &[&str]) {
        self.cut(start, end);
        self.out.extend(with.iter().copied());
    }

    /// Was what stands at `at` replaced or dropped?
    pub(super) fn is_past(&self, at: usize) -> bool {
        at < self.copied
    }

    /// The new text, if anything was replaced.
    pub(super) fn finish(mut self) -> Option<String> {
        if self.copied == 0 {
            return None;
        }
        self.out
            .push_str(self.text.get(self.copied..).unwrap_or_default());
        Some(self.out)
    }
}

/// `str.replace`, `None` where nothing is found.
pub(super) fn replaced(text: &str, what: &str, with: &str) -> Option<String> {
    text.contains(what).then(|| text.replace(what, with))
}
