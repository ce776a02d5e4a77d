use std::time::Duration;

use surehand_provider::BoxFuture;
use surehand_transport::{HttpClient, HttpOptions, HttpRequest};

use super::part::PartFile;
use super::{FetchWatcher, Source};
use crate::LocalModel;

/// How long a connection may take to come about: where the hub cannot be reached, the next source should get its turn soon.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a broken download goes on from where it broke, as long as each attempt brings something.
const ATTEMPTS: u32 = 5;

/// One address on the web that has the whole file.
struct HubFile {
    name: String,
    url: String,
    http: HttpClient,
}

pub(super) fn sources(model: &LocalModel, http: &HttpClient) -> Vec<Box<dyn Source>> {
    let options = HttpOptions {
        connect_timeout: CONNECT,
        idle_timeout: Duration::from_secs(30),
        ..http.options().clone()
    };
    let http = HttpClient::new(options);
    model
        .hubs
        .iter()
        .map(|hub| {
            let host = hub.url.split('/').nth(2).unwrap_or_default();
            Box::new(HubFile {
                name: format!("{} ({host})", hub.name),
                url: hub.url.to_owned(),
                http: http.clone(),
            }) as Box<dyn Source>
        })
        .collect()
}

impl Source for HubFile {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn append<'a>(
        &'a self,
        part: &'a mut PartFile,
        watcher: FetchWatcher<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let mut attempts = ATTEMPTS;
            loop {
                let before = part.length();
                match self.once(part, watcher).await {
                    Ok(()) => return Ok(()),
                    Err(_) if part.length() > before && attempts > 0 => attempts -= 1,
                    Err(why) => return Err(why),
                }
            }
        })
    }
}

impl HubFile {
    async fn once(&self, part: &mut PartFile, watcher: FetchWatcher<'_>) -> Result<(), String> {
        let url = self.url.parse().map_err(|error| format!("its address is no URL: {error}"))?;
        let mut request = HttpRequest::get(url);
        if part.length() > 0 {
            request = request.header("Range", &format!("bytes={}-", part.length()));
        }
        let mut response = self.http.send(request).await.map_err(|error| chain(&error))?;
        match response.status {
            206 => {
                let begins = format!("bytes {}-", part.length());
                if !response.header("content-range").is_some_and(|range| range.starts_with(&begins)) {
                    return Err("it sent another range than was asked for".to_owned());
                }
            }
            200 => part.start_over().map_err(|error| error.to_string())?,
            status => return Err(format!("it answered with HTTP status {status}")),
        }
        while let Some(chunk) = response.chunk().await.map_err(|error| chain(&error))? {
            part.append(&chunk, watcher).map_err(|error| error.to_string())?;
        }
        if part.length() < part.total() { Err("the download ended early".to_owned()) } else { Ok(()) }
    }
}

/// An error with everything that caused it, for one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(&format!(": {next}"));
        }
        cause = error.source();
    }
    text
}
