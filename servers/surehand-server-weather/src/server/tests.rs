use std::collections::HashMap;
use std::fmt::Write as _;

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use expect_test::expect;
use surehand_mcp::{Effect, ToolInvocation, ToolOutput};
use surehand_model::{ContentBlock, RawJson};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::*;

/// Open-Meteo on loopback, with a few places and the same weather everywhere. Remembers what it was asked.
struct Fake {
    server: Arc<dyn ServerHandler>,
    asked: Arc<Mutex<Vec<String>>>,
    /// Serves until the test ends.
    _tasks: JoinSet<()>,
}

const PLACES: &str = r#"[
    {"name":"Springfield","latitude":39.8,"longitude":-89.64,"country_code":"US","population":116250,"country":"United States","admin1":"Illinois"},
    {"name":"Springfield","latitude":37.21,"longitude":-93.29,"country_code":"US","population":169176,"country":"United States","admin1":"Missouri"},
    {"name":"Springfield","latitude":-27.66,"longitude":152.91,"country_code":"AU","country":"Australia","admin1":"Queensland"},
    {"name":"Paris","latitude":48.85,"longitude":2.35,"country_code":"FR","population":2138551,"country":"France","admin1":"Île-de-France"},
    {"name":"Paris","latitude":33.66,"longitude":-95.55,"country_code":"US","population":24171,"country":"United States","admin1":"Texas"},
    {"name":"北京","latitude":39.9,"longitude":116.4,"country_code":"CN","population":18960744,"country":"中国","admin1":"北京"}
]"#;

impl Fake {
    async fn start() -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, other_log) = (Arc::clone(&asked), Arc::clone(&asked));
        let geocoding = get(async move |uri: Uri| {
            log.lock().unwrap().push(uri.to_string());
            let name = query(&uri)["name"].clone();
            let places: Vec<serde_json::Value> = serde_json::from_str(PLACES).unwrap();
            let found: Vec<_> = places.into_iter().filter(|place| place["name"] == name.as_str()).collect();
            // As the service does it: no member at all where there is nothing.
            if found.is_empty() {
                r#"{"generationtime_ms":0.5}"#.to_owned()
            } else {
                serde_json::json!({ "results": found }).to_string()
            }
        });
        let forecast = get(async move |uri: Uri| {
            other_log.lock().unwrap().push(uri.to_string());
            let query = query(&uri);
            if query["latitude"] == "33.66" {
                return (
                    StatusCode::BAD_REQUEST,
                    r#"{"error":true,"reason":"Daily limit exceeded"}"#.to_owned(),
                );
            }
            let days: usize = query["forecast_days"].parse().unwrap();
            let column = |values: [&str; 2]| format!("[{}]", values[..days.min(2)].join(","));
            let answer = format!(
                r#"{{"current":{{"time":"2026-11-30T09:30","interval":900,"temperature_2m":3.2,"apparent_temperature":-0.4,"relative_humidity_2m":31,"precipitation":0.0,"wind_speed_10m":12.3,"weather_code":0}},
                "daily":{{"time":{},"weather_code":{},"temperature_2m_max":{},"temperature_2m_min":{},"precipitation_sum":{},"precipitation_probability_max":{}}}}}"#,
                column([r#""2026-11-30""#, r#""2026-12-01""#]),
                column(["2", "71"]),
                column(["5.1", "1.0"]),
                column(["-3.4", "-6.2"]),
                column(["0.0", "4.2"]),
                column(["3", "null"]),
            );
            (StatusCode::OK, answer)
        });
        let router = Router::new().route("/v1/search", geocoding).route("/v1/forecast", forecast);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { server: server(options(&base)), asked, _tasks: tasks }
    }

    async fn call(&self, arguments: &str) -> ToolOutput {
        let arguments = RawJson::parse(arguments).unwrap();
        self.server.call(ToolInvocation::detached("get_weather", arguments)).await.unwrap()
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn options(base: &str) -> Options {
    let http =
        HttpClient::new(HttpOptions { idle_timeout: Duration::from_secs(5), ..HttpOptions::default() });
    let url = |path: &str| Url::parse(&format!("{base}{path}")).unwrap();
    Options { http, geocoding: url("/v1/search"), forecast: url("/v1/forecast") }
}

fn query(uri: &Uri) -> HashMap<String, String> {
    url::form_urlencoded::parse(uri.query().unwrap().as_bytes()).into_owned().collect()
}

fn text(output: &ToolOutput) -> String {
    match output.content.as_slice() {
        [ContentBlock::Text(text)] => text.clone(),
        other => panic!("not one text: {other:?}"),
    }
}

#[tokio::test]
async fn the_weather_is_told_in_words_and_fields() {
    let fake = Fake::start().await;
    let output = fake.call(r#"{"city":"北京","days":2}"#).await;
    expect![[r#"
        北京, 中国: clear sky (晴), temperature 3.2 °C, feels like -0.4 °C, humidity 31 %, wind 12.3 km/h, precipitation 0 mm, at 2026-11-30T09:30 local time.
        2026-11-30: partly cloudy (多云), high 5.1 °C, low -3.4 °C, precipitation 0 mm, chance of precipitation 3 %
        2026-12-01: light snow (小雪), high 1 °C, low -6.2 °C, precipitation 4.2 mm
        Weather data by Open-Meteo.com."#]].assert_eq(&text(&output));
    expect![[r#"{"city":"北京","region":"北京","country":"中国","latitude":39.9,"longitude":116.4,"local_time":"2026-11-30T09:30","units":"celsius","temperature":3.2,"feels_like":-0.4,"humidity":31.0,"wind":12.3,"precipitation":0.0,"condition":"clear sky","condition_zh":"晴","daily":[{"date":"2026-11-30","condition":"partly cloudy","condition_zh":"多云","high":5.1,"low":-3.4,"precipitation":0.0,"precipitation_chance":3.0},{"date":"2026-12-01","condition":"light snow","condition_zh":"小雪","high":1.0,"low":-6.2,"precipitation":4.2,"precipitation_chance":null}],"other_places":[]}"#]].assert_eq(output.structured.unwrap().as_str());
    expect![[r#"
        /v1/search?name=%E5%8C%97%E4%BA%AC&count=20&language=zh&format=json
        /v1/forecast?latitude=39.9&longitude=116.4&current=temperature_2m%2Capparent_temperature%2Crelative_humidity_2m%2Cprecipitation%2Cwind_speed_10m%2Cweather_code&daily=weather_code%2Ctemperature_2m_max%2Ctemperature_2m_min%2Cprecipitation_sum%2Cprecipitation_probability_max&timezone=auto&forecast_days=2&temperature_unit=celsius&wind_speed_unit=kmh"#]].assert_eq(&fake.asked().join("\n"));
}

#[tokio::test]
async fn the_largest_place_is_taken_and_the_others_are_named() {
    let fake = Fake::start().await;
    expect![[r#"
        Springfield, Missouri, United States: clear sky (晴), temperature 3.2 °F, feels like -0.4 °F, humidity 31 %, wind 12.3 mph, precipitation 0 mm, at 2026-11-30T09:30 local time.
        2026-11-30: partly cloudy (多云), high 5.1 °F, low -3.4 °F, precipitation 0 mm, chance of precipitation 3 %
        Other places of that name: Springfield, Illinois, United States; Springfield, Queensland, Australia. Add the region or country to choose one.
        Weather data by Open-Meteo.com."#]].assert_eq(&text(&fake.call(r#"{"city":"Springfield","units":"fahrenheit"}"#).await));
    assert!(fake.asked()[1].ends_with("&temperature_unit=fahrenheit&wind_speed_unit=mph"));
}

#[tokio::test]
async fn region_or_country_choose_a_place() {
    let fake = Fake::start().await;
    for (city, place) in [
        ("Springfield, Illinois", "Springfield, Illinois, United States:"),
        ("Springfield, IL, USA", "Springfield, Illinois, United States:"),
        ("Springfield, Australia", "Springfield, Queensland, Australia:"),
        ("Paris, France", "Paris, Île-de-France, France:"),
        ("Paris，fr", "Paris, Île-de-France, France:"),
        ("北京市", "北京, 中国:"),
    ] {
        let shown = text(&fake.call(&serde_json::json!({ "city": city }).to_string()).await);
        assert!(shown.starts_with(place), "{city}: {shown}");
    }
    let nowhere = fake.call(r#"{"city":"Paris, Spain"}"#).await;
    assert!(nowhere.is_error);
    expect![[r#"{"error":"not_found","message":"No place called `Paris` is known in `Spain`.","retryable":false,"did_you_mean":["Paris, Île-de-France, France","Paris, Texas, United States"]}"#]].assert_eq(&text(&nowhere));
}

#[tokio::test]
async fn what_is_not_known_or_refused_is_explained() {
    let fake = Fake::start().await;
    let mut shown = String::new();
    for city in ["Atlantis", "亚特兰蒂斯", " ", "Paris, Texas"] {
        let output = fake.call(&serde_json::json!({ "city": city }).to_string()).await;
        assert!(output.is_error);
        let _ = writeln!(shown, "{}", text(&output));
    }
    expect![[r#"
        {"error":"not_found","message":"No place is known as `Atlantis`.","retryable":false,"suggestion":"Check the spelling, or name a larger city nearby."}
        {"error":"not_found","message":"No place is known as `亚特兰蒂斯`.","retryable":false,"suggestion":"Check the spelling, or write the city's name in English."}
        {"error":"not_found","message":"`city` is empty.","retryable":false,"suggestion":"Name a city, for example \"Beijing\"."}
        {"error":"tool_failed","message":"The weather service refused with status 400: Daily limit exceeded.","retryable":true}
    "#]].assert_eq(&shown);
    let eight = fake.call(r#"{"city":"Paris","days":8}"#).await;
    assert!(eight.is_error && text(&eight).contains(r#""path":"/days""#), "{eight:?}");
}

#[tokio::test]
async fn a_service_that_cannot_be_reached_may_be_tried_again() {
    // A port that was just given back: nobody listens there.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let arguments = RawJson::parse(r#"{"city":"Oslo"}"#).unwrap();
    let output =
        server(options(&base)).call(ToolInvocation::detached("get_weather", arguments)).await.unwrap();
    let shown = text(&output);
    assert!(
        output.is_error && shown.contains("cannot be asked") && shown.contains(r#""retryable":true"#),
        "{shown}"
    );
}

#[tokio::test]
async fn the_same_question_is_asked_once() {
    let fake = Fake::start().await;
    let first = fake.call(r#"{"city":"Paris"}"#).await;
    assert_eq!(fake.asked().len(), 2);
    assert_eq!(fake.call(r#"{"city":" paris ","days":1,"units":"celsius"}"#).await, first);
    assert_eq!(fake.asked(), Vec::<String>::new());
    fake.call(r#"{"city":"Paris","days":2}"#).await;
    assert_eq!(fake.asked().len(), 2);
}

#[test]
fn the_tool_is_described_for_a_model() {
    let tools = server(Options::new(HttpClient::new(HttpOptions::default()))).tools();
    let tool = &tools[0];
    assert_eq!((tools.len(), tool.name.as_str()), (1, "get_weather"));
    expect![[r#"
        Current weather and forecast for a city (天气).
        {"type":"object","properties":{"city":{"type":"string","description":"City name in any language, for example \"Beijing\", \"北京\" or \"Paris, France\"."},"days":{"type":["integer","null"],"description":"How many days of forecast, today included. 1 if left out.","minimum":1,"maximum":7},"units":{"type":["string","null"],"description":"For temperatures; celsius if left out.","enum":["celsius","fahrenheit",null]}},"required":["city"],"additionalProperties":false}
        {"type":"object","properties":{"city":{"type":"string"},"region":{"type":["string","null"],"description":"State or province."},"country":{"type":["string","null"]},"latitude":{"type":"number"},"longitude":{"type":"number"},"local_time":{"type":"string","description":"When it was so, in the place's own time."},"units":{"type":"string","description":"Of all temperatures here; wind is in km/h with Celsius, in mph with Fahrenheit.","enum":["celsius","fahrenheit"]},"temperature":{"type":["number","null"]},"feels_like":{"type":["number","null"]},"humidity":{"type":["number","null"],"description":"In percent."},"wind":{"type":["number","null"]},"precipitation":{"type":["number","null"],"description":"In mm, over the last quarter of an hour."},"condition":{"type":"string"},"condition_zh":{"type":"string","description":"The same in Chinese."},"daily":{"type":"array","description":"From today on.","items":{"type":"object","properties":{"date":{"type":"string"},"condition":{"type":"string"},"condition_zh":{"type":"string","description":"The same in Chinese."},"high":{"type":["number","null"]},"low":{"type":["number","null"]},"precipitation":{"type":["number","null"],"description":"In mm."},"precipitation_chance":{"type":["number","null"],"description":"In percent."}},"required":["date","condition","condition_zh","high","low","precipitation","precipitation_chance"]}},"other_places":{"type":"array","description":"Other places of the same name.","items":{"type":"string"}}},"required":["city","region","country","latitude","longitude","local_time","units","temperature","feels_like","humidity","wind","precipitation","condition","condition_zh","daily","other_places"]}
        ToolAnnotations { read_only: Some(true), destructive: None, idempotent: Some(true), open_world: Some(true) }
    "#]].assert_eq(&format!(
        "{}\n{}\n{}\n{:?}\n",
        tool.description,
        tool.input_schema,
        tool.output_schema.as_ref().unwrap(),
        tool.annotations
    ));
    assert_eq!(cards(), [ToolCard { tool: "get_weather".to_owned(), effect: Effect::Read }]);
}
