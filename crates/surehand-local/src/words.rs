//! Words of English and Chinese texts, and what questions call the things that tools name otherwise.

/// Everyday words, and the words by which tools speak of the same thing. Both languages, lower case; a Chinese phrase is looked for
/// anywhere in the text, an English one among its words.
const SAME_THING: &[(&str, &[&str])] = &[
    ("天气", &["weather", "forecast"]),
    ("气温", &["weather", "temperature"]),
    ("温度", &["temperature", "weather"]),
    ("下雨", &["weather", "rain"]),
    ("下雪", &["weather", "snow"]),
    ("预报", &["forecast", "weather"]),
    ("热", &["weather", "temperature"]),
    ("冷", &["weather", "temperature"]),
    ("伞", &["weather", "rain"]),
    ("刮风", &["weather", "wind"]),
    ("晴", &["weather"]),
    ("湿度", &["humidity", "weather"]),
    ("时间", &["time"]),
    ("几点", &["time", "current"]),
    ("时区", &["timezone", "time", "zone"]),
    ("时差", &["timezone", "time", "convert"]),
    ("现在", &["current", "now"]),
    ("日期", &["date", "time"]),
    ("今天几号", &["date", "time", "current"]),
    ("星期几", &["date", "time", "current"]),
    ("上午", &["convert"]),
    ("下午", &["convert"]),
    ("早上", &["convert"]),
    ("晚上", &["convert"]),
    ("点半", &["convert"]),
    ("点是", &["convert"]),
    ("换算", &["convert"]),
    ("转换", &["convert"]),
    ("文件", &["file", "files"]),
    ("文件夹", &["directory", "folder"]),
    ("目录", &["directory", "folder", "list"]),
    ("读", &["read"]),
    ("打开", &["open", "read"]),
    ("内容", &["content", "read", "text"]),
    ("写了什么", &["read", "content", "text"]),
    ("列出", &["list"]),
    ("有哪些", &["list"]),
    ("有什么", &["list"]),
    ("搜索", &["search", "find"]),
    ("查找", &["search", "find"]),
    ("找", &["search", "find"]),
    ("多大", &["size", "info"]),
    ("字节", &["size", "info"]),
    ("多少度", &["weather", "temperature"]),
    ("大小", &["size", "info"]),
    ("修改", &["modified", "info", "edit"]),
    ("写入", &["write"]),
    ("保存", &["write", "save"]),
    ("创建", &["create"]),
    ("新建", &["create"]),
    ("删除", &["delete", "remove"]),
    ("移动", &["move"]),
    ("重命名", &["rename", "move"]),
    ("复制", &["copy"]),
    ("邮件", &["mail", "email", "message"]),
    ("消息", &["message"]),
    ("发送", &["send"]),
    ("发", &["send"]),
    ("日历", &["calendar", "event"]),
    ("日程", &["calendar", "event", "schedule"]),
    ("会议", &["meeting", "calendar", "event"]),
    ("提醒", &["reminder"]),
    ("翻译", &["translate"]),
    ("计算", &["calculate", "calculator"]),
    ("汇率", &["exchange", "currency", "rate"]),
    ("货币", &["currency"]),
    ("美元", &["currency", "usd"]),
    ("人民币", &["currency", "cny"]),
    ("股票", &["stock"]),
    ("股价", &["stock", "price"]),
    ("价格", &["price"]),
    ("新闻", &["news"]),
    ("网页", &["web", "page", "url", "fetch"]),
    ("网址", &["url", "web"]),
    ("网站", &["web", "url"]),
    ("上网", &["web"]),
    ("地图", &["map"]),
    ("路线", &["route", "directions"]),
    ("距离", &["distance"]),
    ("图片", &["image"]),
    ("数据库", &["database", "query", "sql"]),
    ("表", &["table"]),
    ("仓库", &["repository"]),
    ("提交", &["commit"]),
    ("分支", &["branch"]),
    ("问题单", &["issue"]),
    ("记住", &["memory", "remember"]),
    ("笔记", &["note", "notes"]),
    ("命令", &["command", "run", "shell"]),
    ("运行", &["run", "execute"]),
    ("航班", &["flight"]),
    ("酒店", &["hotel"]),
    ("订", &["book", "order"]),
    ("音乐", &["music", "play"]),
    ("umbrella", &["weather", "rain"]),
    ("rain", &["weather"]),
    ("rainy", &["weather", "rain"]),
    ("snow", &["weather"]),
    ("sunny", &["weather"]),
    ("hot", &["weather", "temperature"]),
    ("hotter", &["weather", "temperature"]),
    ("warm", &["weather", "temperature"]),
    ("warmer", &["weather", "temperature"]),
    ("cold", &["weather", "temperature"]),
    ("colder", &["weather", "temperature"]),
    ("windy", &["weather", "wind"]),
    ("degrees", &["temperature", "weather"]),
    ("forecast", &["weather"]),
    ("temperature", &["weather"]),
    ("clock", &["time"]),
    ("oclock", &["time", "convert"]),
    ("am", &["time", "convert"]),
    ("pm", &["time", "convert"]),
    ("bytes", &["size", "info"]),
    ("larger", &["size", "info"]),
    ("bigger", &["size", "info"]),
    ("now", &["current"]),
    ("folder", &["directory"]),
    ("directory", &["folder"]),
    ("contents", &["read", "content"]),
    ("say", &["read", "content"]),
    ("show", &["read", "list"]),
    ("open", &["read"]),
    ("print", &["read"]),
    ("find", &["search"]),
    ("look", &["search", "find"]),
    ("big", &["size", "info"]),
    ("large", &["size", "info"]),
    ("size", &["info"]),
    ("modified", &["info"]),
    ("changed", &["modified", "info"]),
    ("email", &["mail"]),
    ("mail", &["email"]),
    ("meeting", &["calendar", "event"]),
    ("appointment", &["calendar", "event"]),
    ("dollars", &["currency", "usd"]),
    ("euros", &["currency", "eur"]),
];

/// How much a word counts that the question did not say itself.
const WIDENED: f64 = 0.8;

/// The words of a text in order, lower case: English ones cut at case changes and digits and without their commonest endings,
/// Chinese, Japanese and Korean text as single characters and pairs.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut last_lower = false;
    for character in text.chars() {
        if is_cjk(character) {
            push_word(&mut found, &mut word);
            found.push(character.to_string());
            if let Some(first) = before {
                found.push([first, character].iter().collect());
            }
            before = Some(character);
            last_lower = false;
            continue;
        }
        before = None;
        if !character.is_alphanumeric() || (character.is_uppercase() && last_lower) {
            push_word(&mut found, &mut word);
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        last_lower = character.is_lowercase();
    }
    push_word(&mut found, &mut word);
    found
}

/// The words of a question with their weights: its own, and those that mean the same thing.
pub(crate) fn expand(question: &str) -> Vec<(String, f64)> {
    let lower = question.to_lowercase();
    let own = words(question);
    let spoken: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() || is_cjk(c)).collect();
    let mut all: Vec<(String, f64)> = Vec::new();
    let mut add = |word: String, weight: f64| match all.iter_mut().find(|(known, _)| *known == word) {
        Some((_, known)) => *known = known.max(weight),
        None => all.push((word, weight)),
    };
    for word in own {
        if !is_empty_word(&word) {
            add(word, 1.0);
        }
    }
    for (phrase, others) in SAME_THING {
        let said = if phrase.is_ascii() { spoken.contains(phrase) } else { lower.contains(phrase) };
        if said {
            others.iter().for_each(|other| add(stem(other), WIDENED));
        }
    }
    all
}

/// Whether a character belongs to a script that writes without spaces.
pub(crate) fn is_cjk(character: char) -> bool {
    matches!(character as u32, 0x2E80..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
        && !matches!(
            character,
            '、' | '。' | '「' | '」' | '『' | '』' | '《' | '》' | '〈' | '〉' | '【' | '】' | '\u{3000}'
        )
}

fn push_word(found: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        found.push(stem(word));
        word.clear();
    }
}

/// Without the endings that tell one form of an English word from another. Crude, and the same on both sides.
fn stem(word: &str) -> String {
    let is_plain = word.is_ascii() && !word.ends_with("ss");
    for (ending, least) in [("ies", 5), ("ing", 6), ("es", 5), ("ed", 5), ("s", 4)] {
        if is_plain
            && word.len() >= least
            && let Some(rest) = word.strip_suffix(ending)
        {
            let rest = rest.strip_suffix('e').unwrap_or(rest);
            return if ending == "ies" { format!("{rest}y") } else { rest.to_owned() };
        }
    }
    if word.len() >= 5 && word.is_ascii() {
        word.strip_suffix('e').unwrap_or(word).to_owned()
    } else {
        word.to_owned()
    }
}

/// Words that say nothing about what is wanted.
fn is_empty_word(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "the"
            | "is"
            | "are"
            | "was"
            | "be"
            | "it"
            | "i"
            | "me"
            | "my"
            | "you"
            | "your"
            | "we"
            | "what"
            | "who"
            | "which"
            | "how"
            | "when"
            | "where"
            | "why"
            | "do"
            | "doe"
            | "did"
            | "can"
            | "could"
            | "will"
            | "would"
            | "to"
            | "of"
            | "in"
            | "on"
            | "at"
            | "for"
            | "from"
            | "and"
            | "or"
            | "with"
            | "by"
            | "that"
            | "thi"
            | "there"
            | "if"
            | "as"
            | "about"
            | "pleas"
            | "giv"
            | "tell"
            | "s"
            | "的"
            | "了"
            | "是"
            | "我"
            | "你"
            | "吗"
            | "呢"
            | "在"
            | "有"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sentences_come_apart_into_the_same_words() {
        assert_eq!(words("getCurrentTime"), ["get", "current", "time"]);
        assert_eq!(words("search_files"), ["search", "fil"]);
        assert_eq!(words("Reads a file"), ["read", "a", "file"]);
        assert_eq!(words("北京a天"), ["北", "京", "北京", "a", "天"]);
    }

    #[test]
    fn a_chinese_question_reaches_english_words() {
        let asked = expand("北京天气");
        assert!(asked.contains(&("weather".to_owned(), WIDENED)));
        assert!(asked.contains(&("北京".to_owned(), 1.0)));
    }
}
