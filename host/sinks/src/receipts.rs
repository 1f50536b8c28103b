//! Receipts of a batch, grouped by the worker that waits for them.
//!
//! Invariant: within a worker, receipts are in the order in which they were added.

use std::sync::Arc;

use crate::{Outcome, Receipt, ReceiptPort, Token};

/// Receipts to deliver together.
pub(crate) struct Receipts {
    per_worker: Vec<Vec<Receipt>>,
}

impl Receipts {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            per_worker: vec![Vec::new(); workers],
        }
    }

    /// Nobody waits for a record without a token, and a worker that does not exist cannot be told.
    pub(crate) fn add(&mut self, token: Option<Token>, outcome: Outcome) {
        let Some(token) = token else { return };
        if let Some(receipts) = self.per_worker.get_mut(usize::from(token.worker)) {
            receipts.push(Receipt { token, outcome });
        }
    }

    pub(crate) fn deliver(self, ports: &[Arc<dyn ReceiptPort>]) {
        for (receipts, port) in self.per_worker.into_iter().zip(ports) {
            if !receipts.is_empty() {
                port.deliver(receipts);
            }
        }
    }
}
