//! The two questions that a newcomer asks first, asked of the embedded model: the small one, which the test command fetches.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;

use serde_json::{Value, json};

use crate::home::Home;
use crate::readme::{FIRST_QUESTION, SECOND_QUESTION};

/// A home whose cache is the user's own, where the model lies.
fn ask(home: &Home, question: &str) -> Value {
    #[expect(clippy::disallowed_methods, reason = "a test finds the models where the program keeps them")]
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache"));
    let arguments = ["ask", "--model", "local/qwen2.5-coder-0.5b", "--output", "json", question];
    let ran = home.run_with(&arguments, "", &[("XDG_CACHE_HOME", cache.to_str().unwrap())]);
    assert_eq!(ran.code, 0, "run `cargo xtask fetch-model` where the model is missing\n{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Tool and one argument of every call, in order.
fn calls(answer: &Value, argument: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let calls = answer["calls"].as_array().unwrap();
    calls.iter().map(|call| (text(&call["tool"]), text(&call["arguments"][argument]))).collect()
}

#[test]
fn the_first_question_of_the_readme_needs_no_key_and_no_network() {
    let answer = ask(&Home::new(), FIRST_QUESTION);
    assert_eq!(answer["stop"], "complete");
    let zones: Vec<Value> = answer["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["result"]["structuredContent"]["timezone"].clone())
        .collect();
    assert_eq!(zones, ["Asia/Tokyo"], "{answer}");
    assert!(!answer["answer"].as_str().unwrap().is_empty());
}

#[test]
fn three_cities_in_chinese_are_three_calls_and_one_reply() {
    let address = weather_service();
    let home = Home::new();
    let weather = json!({"mcpServers": {"weather": {"bundled": "weather", "args": {
        "geocodingUrl": format!("http://{address}/geocoding"),
        "forecastUrl": format!("http://{address}/forecast"),
    }}}});
    home.write("config/surehand/surehand.json", &weather.to_string());
    let answer = ask(&home, SECOND_QUESTION);
    let cities = calls(&answer, "city");
    let expected = ["上海", "北京", "广州"].map(|city| ("get_weather".to_owned(), city.to_owned()));
    assert_eq!(cities, expected, "{answer}");
    let failed = answer["calls"].as_array().unwrap().iter().any(|call| call["result"]["isError"] == true);
    assert!(!failed, "{answer}");
}

/// Answers like Open-Meteo, for any place, until the test's process ends.
fn weather_service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer_one(&stream.unwrap()));
        }
    });
    address
}

fn answer_one(mut stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request).unwrap();
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 2 {
        line.clear();
    }
    let body = if request.contains("/geocoding") {
        let place = json!({"name": "某地", "latitude": 30.0, "longitude": 120.0, "country": "中国", "country_code": "CN",
            "admin1": "某省", "timezone": "Asia/Shanghai", "population": 9_000_000});
        json!({"results": [place]})
    } else {
        json!({
            "current": {"time": "2026-11-30T09:30", "interval": 900, "temperature_2m": 12.5, "apparent_temperature": 11.0,
                "relative_humidity_2m": 60, "precipitation": 0.0, "wind_speed_10m": 8.0, "weather_code": 0},
            "daily": {"time": ["2026-11-30"], "weather_code": [1], "temperature_2m_max": [15.0], "temperature_2m_min": [8.0],
                "precipitation_sum": [0.0], "precipitation_probability_max": [10]},
        })
    };
    let body = body.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
}
