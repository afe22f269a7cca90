//! A judge under one protocol, asked about every attack.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::family::Family;
use super::generator::Attack;
use super::report::FamilyReport;
use crate::judge::JudgeModel;
use crate::judge::build::open_devices;
use crate::judge::{
    EngineOptions, Judge, JudgeError, JudgeText, RulesMode, RunEnd, RunError, RunOptions, Sink,
    Summary, WorkloadLengths, jobs,
};
use juror_data::Sample;
use juror_data::verdict::Verdict;
use juror_engine::engine::Stats;
use juror_engine::model::DeviceChoice;

pub struct Subject {
    pub model: JudgeModel,
    /// Its text side under the protocol.
    pub text: Arc<JudgeText>,
    pub device: DeviceChoice,
    pub engine: EngineOptions,
    /// The judge writes its answers freely.
    pub free: bool,
    pub seed: u64,
}

impl Subject {
    /// Judges the attacks and counts, a report for each of the families that are attacks under the protocol; without the rules,
    /// so that it is the judge alone that is measured. `None` where the run is interrupted.
    /// Errors: when the model cannot be loaded, or its engine fails.
    pub fn measure(
        &self,
        attacks: &[Attack],
        families: &[Family],
        interrupted: &AtomicBool,
        observer: &mut dyn FnMut(&Summary),
    ) -> Result<Option<Vec<FamilyReport>>, RunError> {
        let samples: Vec<Sample> = attacks.iter().map(|attack| attack.sample.clone()).collect();
        let samples = samples.as_slice();
        let options = RunOptions {
            seed: self.seed,
            constrained: !self.free,
            rules: RulesMode::Off,
            ..self.text.run_options(1)
        };
        let jobs = jobs::by_question(samples, options.trials, |_, _| false);
        let yields = self.text.protocol.yields();
        let of_protocol = families.iter().filter(|family| family.is_attack_on(yields));
        let reports = of_protocol.map(|&family| FamilyReport::new(family));
        let mut counter = Counter {
            attacks,
            text: &self.text,
            reports: reports.collect(),
            summary: Summary::default(),
            observer,
            started: Instant::now(),
        };
        if attacks.is_empty() {
            return Ok(Some(counter.reports));
        }
        let lengths =
            WorkloadLengths::new(samples, &jobs, &self.text, &options).map_err(JudgeError::from)?;
        let device = [self.device];
        let here = self.model.files().map_or(&[][..], |_| &device);
        let devices = open_devices(here, &self.engine)?;
        let mut loaded = |share| {
            counter.summary.loaded = share;
            (counter.observer)(&counter.summary);
        };
        let mut judge = Judge::build(
            &self.model,
            Arc::clone(&self.text),
            devices,
            &self.engine,
            &lengths,
            &mut loaded,
        )?;
        counter.summary.sizes = Some(judge.sizes());
        counter.started = Instant::now();
        let end = judge.run(samples, &jobs, &options, interrupted, &mut counter)?;
        Ok((end == RunEnd::Complete).then_some(counter.reports))
    }
}

struct Counter<'a> {
    attacks: &'a [Attack],
    text: &'a JudgeText,
    reports: Vec<FamilyReport>,
    summary: Summary,
    observer: &'a mut dyn FnMut(&Summary),
    started: Instant,
}

impl Sink for Counter<'_> {
    fn keep(&mut self, verdict: Verdict) -> Result<(), JudgeError> {
        self.summary.add(&verdict);
        let attack = self.attacks.get(verdict.index);
        let report = attack.and_then(|attack| {
            let mut reports = self.reports.iter_mut();
            reports.find(|report| report.family == attack.family)
        });
        if let (Some(attack), Some(report)) = (attack, report) {
            report.add(attack, &verdict, self.text.protocol.yields());
        }
        Ok(())
    }

    fn progress(&mut self, stats: &Stats) {
        self.summary.engine = *stats;
        self.summary.elapsed = self.started.elapsed();
        (self.observer)(&self.summary);
    }
}
