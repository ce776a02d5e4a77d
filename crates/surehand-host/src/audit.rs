//! The audit stage of the pipeline: off the threads that must not wait, and a log that cannot be written denies.

use std::sync::Arc;

use surehand_audit::{AuditLog, Intent, Outcome, RepairNote};
use surehand_model::RawJson;

use crate::connection::chain;
use crate::record::{Decided, Verdict};

/// Where calls are recorded.
pub(crate) struct Audit {
    /// Names this run of the program in every record.
    pub(crate) run: Arc<str>,
    pub(crate) log: AuditTarget,
}

/// Whether and where calls are recorded.
pub(crate) enum AuditTarget {
    /// The operator switched it off.
    Off,
    /// In this log.
    Log(Arc<AuditLog>),
    /// It should be recorded and cannot be, for this reason: nothing runs.
    Broken(String),
}

/// A call that is about to run, or was refused.
pub(crate) struct Planned {
    pub(crate) time_ms: u64,
    pub(crate) call: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) arguments: Option<RawJson>,
    pub(crate) decided: Decided,
    pub(crate) repairs: Vec<RepairNote>,
}

/// A call that has ended.
pub(crate) struct Ended {
    pub(crate) time_ms: u64,
    pub(crate) call: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) result: String,
    pub(crate) is_error: bool,
    pub(crate) duration_ms: u64,
}

impl Audit {
    /// Records what is about to happen; it is on the disk when this returns.
    pub(crate) async fn intent(&self, planned: Planned) -> Result<(), String> {
        let run = Arc::clone(&self.run);
        self.write(move |log| {
            let intent = Intent {
                time_ms: planned.time_ms,
                run: &run,
                call: &planned.call,
                server: &planned.server,
                tool: &planned.tool,
                arguments: planned.arguments.as_ref(),
                decision: verdict_of(planned.decided.verdict),
                decided_by: &planned.decided.by,
                rule: &planned.decided.rule,
                repairs: &planned.repairs,
            };
            log.record_intent(&intent).map(drop)
        })
        .await
    }

    /// Records how it ended.
    pub(crate) async fn outcome(&self, ended: Ended) -> Result<(), String> {
        let run = Arc::clone(&self.run);
        self.write(move |log| {
            let outcome = Outcome {
                time_ms: ended.time_ms,
                run: &run,
                call: &ended.call,
                server: &ended.server,
                tool: &ended.tool,
                result: Some(ended.result.as_bytes()),
                is_error: ended.is_error,
                duration_ms: ended.duration_ms,
            };
            log.record_outcome(&outcome).map(drop)
        })
        .await
    }

    async fn write(
        &self,
        record: impl FnOnce(&AuditLog) -> Result<(), surehand_audit::AuditError> + Send + 'static,
    ) -> Result<(), String> {
        let log = match &self.log {
            AuditTarget::Off => return Ok(()),
            AuditTarget::Broken(why) => return Err(why.clone()),
            AuditTarget::Log(log) => Arc::clone(log),
        };
        match tokio::task::spawn_blocking(move || record(&log)).await {
            Ok(written) => written.map_err(|fault| chain(&fault)),
            Err(_) => Err("writing the audit log broke down".to_owned()),
        }
    }
}

fn verdict_of(verdict: Verdict) -> surehand_audit::Verdict {
    match verdict {
        Verdict::Allowed => surehand_audit::Verdict::Allowed,
        Verdict::Approved => surehand_audit::Verdict::Approved,
        Verdict::Denied => surehand_audit::Verdict::Denied,
        Verdict::Invalid => surehand_audit::Verdict::Invalid,
    }
}
