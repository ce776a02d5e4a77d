use surehand_mcp::{BoxFuture, ElicitationModes};

use super::*;

/// Says yes, with nothing filled in, after a while.
struct Slow(Duration);

impl Elicitor for Slow {
    fn modes(&self) -> ElicitationModes {
        ElicitationModes { forms: true, addresses: false }
    }

    fn elicit<'a>(&'a self, _: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
        Box::pin(async move {
            sleep(self.0).await;
            ElicitAnswer::Accept(Vec::new())
        })
    }
}

fn slow(seconds: u64) -> Arc<Questions> {
    let elicitor: Arc<dyn Elicitor> = Arc::new(Slow(Duration::from_secs(seconds)));
    Questions::new(&ClientOptions { on_elicitation: Some(elicitor), ..ClientOptions::default() })
}

fn form() -> Option<RawJson> {
    RawJson::parse(
        r#"{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","default":1.10}}}}"#,
    )
    .ok()
}

fn id(text: &str) -> Id {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"m"}}"#);
    match surehand_mcp::parse_message(&text, surehand_mcp::EnvelopeLimits::default()) {
        Ok(surehand_mcp::Message::Request { id, .. }) => id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_timer_stands_still_while_somebody_is_asked_and_goes_on_afterwards() {
    let questions = slow(1_000);
    let since = Instant::now();
    let work = async {
        sleep(Duration::from_secs(1)).await;
        let _ = questions.elicit(form().as_ref()).await;
        sleep(Duration::from_secs(60)).await;
    };
    assert_eq!(questions.within(Duration::from_secs(5), work).await, None);
    assert_eq!(since.elapsed(), Duration::from_secs(1_005));
}

#[tokio::test(start_paused = true)]
async fn defaults_are_filled_in_and_a_withdrawn_question_is_never_answered() {
    let mut pending = Pending::new(slow(10));
    assert_eq!(pending.ask(id("1"), InputKind::Elicitation, form()), None);
    assert_eq!(pending.ask(id("\"two\""), InputKind::Elicitation, form()), None);
    pending.withdraw(&id("1"));
    assert_eq!(
        pending.next().await,
        r#"{"jsonrpc":"2.0","id":"two","result":{"action":"accept","content":{"n":1.10}}}"#
    );
    let rest = tokio::time::timeout(Duration::from_secs(100), pending.next()).await;
    assert!(rest.is_err(), "{rest:?}");
    assert_eq!(*pending.questions.open.borrow(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_without_end_is_refused_and_a_bad_question_is_told_so() {
    let mut pending = Pending::new(slow(10));
    for n in 0..OPEN_AT_ONCE {
        assert_eq!(pending.ask(Id::number(n as u64), InputKind::Elicitation, form()), None);
    }
    assert_eq!(
        pending.ask(id("99"), InputKind::Elicitation, form()).as_deref(),
        Some(
            r#"{"jsonrpc":"2.0","id":99,"error":{"code":-32603,"message":"16 questions are open already"}}"#
        )
    );
    let mut pending = Pending::new(slow(0));
    pending.ask(id("5"), InputKind::Elicitation, RawJson::parse(r#"{"message":"?"}"#).ok());
    assert_eq!(
        pending.next().await,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"`requestedSchema` is missing"}}"#
    );
}

#[tokio::test]
async fn what_is_not_offered_is_declined_without_asking() {
    let url = RawJson::parse(r#"{"mode":"url","message":"?","url":"https://a.test"}"#).ok();
    assert_eq!(slow(3_600).elicit(url.as_ref()).await.unwrap().as_str(), r#"{"action":"decline"}"#);
}
