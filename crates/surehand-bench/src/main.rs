//! What a call costs our server beside a floor written by hand and a peer, in CPU time of the server's process. Started by
//! `cargo xtask bench mcp`, which builds the servers.
//!
//! Figures are CPU microseconds a call, the median of interleaved rounds: they hold on a machine that does other things too, where
//! calls a second would not. Exits 1 when a bar is missed.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run must say so at once")]
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::disallowed_methods, reason = "it starts and times whole processes")]
#![expect(clippy::disallowed_types, reason = "whole processes run in real time")]

mod http;
mod messages;
mod server;
mod stdio;

use std::process::ExitCode;

use server::{Kind, Mode};

const ROUNDS: usize = 5;

/// A row of the table: what was measured, the three figures, and what ours must not pass.
struct Row {
    what: String,
    unit: &'static str,
    floor: f64,
    ours: f64,
    peer: Option<f64>,
    bar: String,
    holds: bool,
}

fn main() -> ExitCode {
    let peers = Kind::Peer.is_built();
    let kinds: Vec<Kind> = [Kind::Floor, Kind::Ours].into_iter().chain(peers.then_some(Kind::Peer)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut rows = Vec::new();
    for connections in [1, 16, 64] {
        let figures = medians(&kinds, |kind| runtime.block_on(http::call_cost(kind, connections)));
        rows.push(Row::of(
            format!("HTTP 2026-07-28, tools/call, {connections} connections"),
            "CPU µs",
            &figures,
            |floor, ours, peer| ours <= 1.5 * floor && peer.is_none_or(|peer| ours <= 0.35 * peer),
            "1.5 x floor, 0.35 x peer",
        ));
    }
    for depth in [1, 64] {
        let figures = medians(&kinds, |kind| runtime.block_on(stdio::call_cost(kind, depth)));
        rows.push(Row::of(
            format!("stdio, tools/call, {depth} at once"),
            "CPU µs",
            &figures,
            |floor, ours, _| ours <= 3.0 * floor,
            "3 x floor",
        ));
    }
    let figures = best(&kinds, 20, |kind| runtime.block_on(stdio::first_list(kind)));
    rows.push(Row::of(
        "start to first tools/list over stdio (best of 20)".to_owned(),
        "ms",
        &figures,
        |floor, ours, _| ours <= 2.0 * floor,
        "2 x floor",
    ));
    let figures: Vec<f64> =
        kinds.iter().map(|kind| runtime.block_on(http::session_size(*kind, 1_000))).collect();
    rows.push(Row::of(
        "memory of an idle session of 2025-11-25 (1,000 of them)".to_owned(),
        "KB",
        &figures,
        |_, ours, _| ours <= 2.0,
        "2 KB",
    ));
    print(&rows)
}

/// Runs every kind in turn, several times, and gives the median of each.
fn medians(kinds: &[Kind], mut measure: impl FnMut(Kind) -> f64) -> Vec<f64> {
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); kinds.len()];
    for _ in 0..ROUNDS {
        for (kind, round) in kinds.iter().zip(&mut rounds) {
            round.push(measure(*kind));
        }
    }
    rounds
        .into_iter()
        .map(|mut round| {
            round.sort_by(f64::total_cmp);
            round[round.len() / 2]
        })
        .collect()
}

fn best(kinds: &[Kind], rounds: usize, mut measure: impl FnMut(Kind) -> f64) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; kinds.len()];
    for _ in 0..rounds {
        for (kind, least) in kinds.iter().zip(&mut least) {
            *least = least.min(measure(*kind));
        }
    }
    least
}

impl Row {
    fn of(
        what: String,
        unit: &'static str,
        figures: &[f64],
        holds: impl Fn(f64, f64, Option<f64>) -> bool,
        bar: &str,
    ) -> Self {
        let (floor, ours, peer) = (figures[0], figures[1], figures.get(2).copied());
        let holds = holds(floor, ours, peer);
        Self { what, unit, floor, ours, peer, bar: bar.to_owned(), holds }
    }
}

fn print(rows: &[Row]) -> ExitCode {
    println!("| what | unit | floor | ours | peer | ours / floor | ours / peer | bar | |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |");
    for row in rows {
        let peer = row.peer.map_or("-".to_owned(), |peer| format!("{peer:.2}"));
        let to_peer = row.peer.map_or("-".to_owned(), |peer| format!("{:.2}", row.ours / peer));
        let to_floor = if row.floor > 0.0 { format!("{:.2}", row.ours / row.floor) } else { "-".to_owned() };
        let verdict = if row.holds { "ok" } else { "MISSED" };
        println!(
            "| {} | {} | {:.2} | {:.2} | {peer} | {to_floor} | {to_peer} | {} | {verdict} |",
            row.what, row.unit, row.floor, row.ours, row.bar
        );
    }
    if rows.iter().all(|row| row.holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How long one measurement lasts.
const WINDOW: std::time::Duration = std::time::Duration::from_millis(1_000);

/// How each kind is started.
fn mode_of_sessions(kind: Kind) -> Mode {
    if kind == Kind::Peer { Mode::Sessions } else { Mode::Http }
}
