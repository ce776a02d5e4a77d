use std::collections::VecDeque;

use surehand_mcp::{
    Ask, ClientCapabilities, ElicitationModes, EnvelopeLimits, Era, Id, Implementation, Message, Opening,
    OpeningOutcome, OpeningRequest, OpeningStep, parse_message, write_notification, write_request,
};
use surehand_model::RawJson;

use crate::transcript::{Transcript, assert_same, message, read};

#[test]
fn a_client_opens_as_the_transcripts_say() {
    for transcript in read("client-opening.md") {
        play(&transcript);
    }
}

/// The machine and what it has sent, under ids that count up.
struct Player {
    opening: Opening,
    asked: Vec<Ask>,
    sent: VecDeque<String>,
    ended: Option<String>,
}

fn play(transcript: &Transcript) {
    let era = match transcript.setting("era") {
        Some("legacy") => Era::Legacy,
        Some("modern") => Era::Modern,
        None => Era::Auto,
        Some(other) => panic!("{}: what era is {other}?", transcript.name),
    };
    let who = Implementation { name: "c".to_owned(), title: None, version: "1".to_owned() };
    let capabilities = match transcript.setting("offers") {
        Some("elicitation") => ClientCapabilities {
            elicitation: ElicitationModes { forms: true, addresses: true },
            ..ClientCapabilities::default()
        },
        None => ClientCapabilities::default(),
        Some(other) => panic!("{}: what is {other}?", transcript.name),
    };
    let (opening, first) = Opening::start(era, who, capabilities);
    let mut player = Player { opening, asked: Vec::new(), sent: VecDeque::new(), ended: None };
    player.ask(first);
    for line in &transcript.lines {
        let name = format!("{}, at {line}", transcript.name);
        if let Some(expected) = line.strip_prefix("-> ") {
            let sent = player.sent.pop_front().unwrap_or_else(|| panic!("{name}: nothing is sent"));
            assert_same(&name, &sent, &message(expected));
        } else if let Some(received) = line.strip_prefix("<- ") {
            player.receive(&message(received));
        } else if let Some(event) = line.strip_prefix(".. ") {
            let outcome = match event {
                "silence" => OpeningOutcome::Silent,
                "the process ends" => OpeningOutcome::Gone,
                other => OpeningOutcome::Foreign(other.to_owned()),
            };
            let latest = *player.asked.last().unwrap();
            player.outcome(latest, outcome);
        } else if line == "(started again)" {
            assert_eq!(player.sent.pop_front().as_deref(), Some(line.as_str()), "{name}");
        } else if let Some(end) = line.strip_prefix("=> ") {
            assert_eq!(player.ended.take().as_deref(), Some(end), "{name}");
        } else {
            panic!("{name}: what is this?");
        }
    }
    assert_eq!((player.sent, player.ended), (VecDeque::new(), None), "{}: more happens", transcript.name);
}

impl Player {
    fn ask(&mut self, request: OpeningRequest) {
        self.asked.push(request.ask);
        let id = Id::number(self.asked.len() as u64);
        self.sent.push_back(write_request(&id, request.method, Some(request.params.as_str())));
    }

    fn receive(&mut self, text: &str) {
        let Ok(Message::Answer { id, outcome }) = parse_message(text, EnvelopeLimits::default()) else {
            panic!("{text} is no answer")
        };
        let ask = self.asked[id.unwrap().as_number().unwrap() as usize - 1];
        let outcome = match outcome {
            Ok(result) => OpeningOutcome::Answered(RawJson::from(result)),
            Err(error) => OpeningOutcome::Refused(error),
        };
        self.outcome(ask, outcome);
    }

    fn outcome(&mut self, ask: Ask, outcome: OpeningOutcome) {
        match self.opening.outcome(ask, outcome) {
            OpeningStep::Ask(request) => self.ask(request),
            OpeningStep::Reopen(request) => {
                self.sent.push_back("(started again)".to_owned());
                self.ask(request);
            }
            OpeningStep::Wait => {}
            OpeningStep::Opened(opened) => {
                if let Some(method) = opened.notify {
                    self.sent.push_back(write_notification(method, None));
                }
                let server = opened.server;
                let tools = if server.has_tools { " with tools" } else { "" };
                self.ended = Some(format!("open: {} {}{tools}", server.revision, server.name));
            }
            OpeningStep::Failed(fault) => self.ended = Some(format!("failed: {fault}")),
        }
    }
}
