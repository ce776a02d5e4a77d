//! What the weather codes mean.
//!
//! Source: WMO code table 4677, the codes that Open-Meteo uses.

const CONDITIONS: &[(u8, &str, &str)] = &[
    (0, "clear sky", "晴"),
    (1, "mainly clear", "大部晴朗"),
    (2, "partly cloudy", "多云"),
    (3, "overcast", "阴"),
    (45, "fog", "雾"),
    (48, "fog with rime", "雾凇"),
    (51, "light drizzle", "小毛毛雨"),
    (53, "drizzle", "毛毛雨"),
    (55, "dense drizzle", "大毛毛雨"),
    (56, "light freezing drizzle", "小冻毛毛雨"),
    (57, "freezing drizzle", "冻毛毛雨"),
    (61, "light rain", "小雨"),
    (63, "rain", "中雨"),
    (65, "heavy rain", "大雨"),
    (66, "light freezing rain", "小冻雨"),
    (67, "heavy freezing rain", "大冻雨"),
    (71, "light snow", "小雪"),
    (73, "snow", "中雪"),
    (75, "heavy snow", "大雪"),
    (77, "snow grains", "米雪"),
    (80, "light rain showers", "小阵雨"),
    (81, "rain showers", "阵雨"),
    (82, "violent rain showers", "强阵雨"),
    (85, "light snow showers", "小阵雪"),
    (86, "heavy snow showers", "大阵雪"),
    (95, "thunderstorm", "雷暴"),
    (96, "thunderstorm with light hail", "雷暴伴小冰雹"),
    (99, "thunderstorm with heavy hail", "雷暴伴大冰雹"),
];

/// The weather in English and in Chinese.
pub(crate) fn condition(code: Option<u8>) -> (&'static str, &'static str) {
    let known = CONDITIONS.iter().find(|(known, ..)| Some(*known) == code);
    known.map_or(("unknown", "未知"), |(_, english, chinese)| (english, chinese))
}
