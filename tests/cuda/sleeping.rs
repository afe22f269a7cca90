//! A judge that sleeps has left the device, and comes back (`/sleep` and `/wake_up` of `juror serve`).

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use juror_data::Sample;
use juror_data::verdict::{Status, Verdict};
use juror_engine::model::DeviceChoice;
use juror_judge::judge::service::{JudgeService, ServiceSetup, TakeVerdict};
use juror_judge::judge::{EngineOptions, JudgeText};
use juror_judge::protocol::{self, template::PromptTemplate};
use juror_judge::runtime::Phase;

use crate::{alone, imitation};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// Gives verdicts to who waits for them.
struct Verdicts(Mutex<Sender<Verdict>>);

impl TakeVerdict for Verdicts {
    fn take(&self, verdict: Verdict) {
        self.0.lock().unwrap().send(verdict).unwrap();
    }

    fn is_wanted(&self) -> bool {
        true
    }
}

fn service(tensor_parallel: Option<usize>) -> JudgeService {
    let source = juror_judge::catalog::resolve("tiny").unwrap();
    let protocol = protocol::resolve("prime").unwrap();
    let template = PromptTemplate::parse(protocol.template.as_deref().unwrap()).unwrap();
    let text = JudgeText::load(&source, &protocol, &template).unwrap();
    let options = text.run_options(1);
    let setup = ServiceSetup {
        model: source.into(),
        text: Arc::new(text),
        options,
        devices: vec![DeviceChoice::Cuda(0)],
        engine: EngineOptions {
            tensor_parallel,
            ..EngineOptions::default()
        },
    };
    JudgeService::start(setup, None).unwrap()
}

fn ask(service: &JudgeService, sum: u32) -> Receiver<Verdict> {
    let (sender, verdicts) = channel();
    let take: Arc<dyn TakeVerdict> = Arc::new(Verdicts(Mutex::new(sender)));
    let response = format!("2 + {} = {sum}. The answer is {sum}.", sum - 2);
    let question = format!("Ann has 2 apples and buys {} more. How many?", sum - 2);
    let sample = Sample::new(question, sum.to_string(), response);
    service.judge("test", vec![(0, sample)], &take);
    verdicts
}

fn wait_until(service: &JudgeService, is_it: fn(&Phase) -> bool) {
    let mut phase = service.phase();
    while !is_it(&phase) {
        assert!(!matches!(phase, Phase::Failed(_)), "{phase:?}");
        let next = service.wait_for_change(&phase, PATIENCE);
        assert_ne!(next, phase, "it stays so");
        phase = next;
    }
}

#[test]
fn a_judge_that_sleeps_has_left_the_device() {
    let _alone = alone();
    // The weights alone are 4.8 million numbers of 16 bits, of which each of two devices has a little more than half.
    sleeps(None, 9_600_000);
    sleeps(Some(2), 5_100_000);
}

fn sleeps(tensor_parallel: Option<usize>, weights: u64) {
    let service = service(tensor_parallel);
    let first = ask(&service, 5).recv_timeout(PATIENCE).unwrap();
    assert_eq!(first.status, Status::Ok, "{first:?}");
    let awake = imitation::bytes(0);
    assert!(awake > weights, "{awake}");
    for sum in [6, 7] {
        service.sleep();
        wait_until(&service, |phase| matches!(phase, Phase::Asleep(None)));
        assert_eq!([imitation::bytes(0), imitation::bytes(1)], [0, 0]);
        // What is asked meanwhile waits.
        let waiting = ask(&service, sum);
        service.wake_up();
        assert_eq!(waiting.recv_timeout(PATIENCE).unwrap().status, Status::Ok);
        assert!(imitation::bytes(0) > weights);
    }
}
