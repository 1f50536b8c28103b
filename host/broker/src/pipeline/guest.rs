//! A module's instance on one worker, replaced when it fails.

use std::sync::Arc;
use std::time::Duration;

use tidegate_rules::{
    Backoff, Batch, Failure, Instance, InstanceSettings, IsolatedRule, Outcome, Projection, RuleError,
    RuleModule,
};

type Create = Box<dyn FnMut() -> Result<Instance, RuleError> + Send>;

/// A guest that serves one rule on one worker.
pub struct Guest {
    rule: IsolatedRule<Create>,
    projection: Projection,
}

impl Guest {
    /// Instantiates `module` and runs its `init`.
    ///
    /// # Errors
    /// What the module's own code did wrong, or a config key that it does not know.
    pub fn new(module: &Arc<RuleModule>, settings: InstanceSettings) -> Result<Self, RuleError> {
        let projection = module.manifest().input;
        let module = Arc::clone(module);
        let create: Create = Box::new(move || Instance::new(&module, settings.clone()));
        Ok(Self {
            rule: IsolatedRule::new(create, Backoff::default())?,
            projection,
        })
    }

    /// What the module asks to see of a message.
    pub fn projection(&self) -> Projection {
        self.projection
    }

    /// Decides on a batch; messages that the module fails on stand in `failures`.
    pub fn run(
        &mut self,
        batch: &Batch,
        now: Duration,
        outcome: &mut Outcome,
        failures: &mut Vec<(u32, Failure)>,
    ) {
        self.rule.run(batch, now, outcome, failures);
    }
}
