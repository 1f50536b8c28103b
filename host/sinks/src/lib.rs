//! What a sink is: contract, records, receipts, the lane that drives it.
