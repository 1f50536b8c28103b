//! The steps on which the log's promises rest, by name, so that the proofs can leave one out and show that it is missed.
//!
//! Invariant: outside this crate's tests nothing is ever left out.

/// A step that must not be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// fsync of appended frames before they are reported.
    SyncFrames,
    /// fsync of the last mark of a segment when the next one is taken into use, or a crash makes it look damaged.
    SyncLeftMark,
    /// fsync of the directory before frames go into a prepared segment.
    SyncPreparedName,
    /// fsync of a cleaned segment before it takes the place of others.
    SyncCleaned,
    /// fsync of the directory before the segments a cleaned one replaces are removed.
    SyncCleanedName,
    /// fsync of the directory after a removal and before the next: acknowledgements must not go before their entries.
    SyncRemoved,
    /// fsync of what recovery kept, and of the cut behind it, before sequences are given again.
    SyncRecovered,
    /// fsync of the directory before recovery judges and removes by what it finds there.
    SyncNamesFirst,
    /// Reporting and showing a commit only after its fsync.
    ReportAfterSync,
    /// Cutting at the first frame that is missing and was never committed.
    CutAtGap,
}

/// What is left out: nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Omitted {
    #[cfg(test)]
    pub step: Option<Step>,
}

impl Omitted {
    #[cfg_attr(
        not(test),
        allow(clippy::unused_self, reason = "only the proofs leave anything out")
    )]
    pub(crate) fn omits(self, step: Step) -> bool {
        #[cfg(test)]
        return self.step == Some(step);
        #[cfg(not(test))]
        {
            let _ = step;
            false
        }
    }
}
