//! `cargo xtask interop`: our client against servers nobody here wrote, and clients nobody here wrote against our server.

mod cell;
mod matrix;
mod page;
mod places;

use crate::parallel::each;
use crate::shell::{Fault, step};

use cell::Outcome;
use matrix::Cell;
use places::Places;

/// More of them would only wait for each other.
const AT_ONCE: usize = 2;

/// Runs the matrix and prints one line a cell; an error where one is not as it must be.
pub(crate) fn interop(args: &[String]) -> Result<(), Fault> {
    let wanted = match args {
        [] => "",
        [name] if !name.starts_with('-') => name,
        _ => return Err(Fault::usage("usage: cargo xtask interop [PEER]")),
    };
    let places = Places::prepare()?;
    let cells: Vec<Cell> =
        matrix::matrix(&places).into_iter().filter(|cell| cell.peer.contains(wanted)).collect();
    if cells.is_empty() {
        return Err(Fault::usage(format!("no peer has `{wanted}` in its name")));
    }
    step(&format!("Talking to others, {} times", cells.len()));
    println!(
        "{:5}  {:33}  {:9}  {:10}  {:10}  {:>5}  {:5}  result",
        "", "peer", "transport", "era", "revision", "tools", "asked"
    );
    // What our own client sees of our server is what every other client must see.
    let own = cell::own_tools(&places)?;
    let outcomes = each(cells, AT_ONCE, |cell| cell::run(&places, cell, &own), print);
    let bad = outcomes.iter().filter(|outcome| outcome.fault.is_some()).count();
    println!("\n{} of {} as they must be", outcomes.len() - bad, outcomes.len());
    if bad == 0 {
        Ok(())
    } else {
        Err(Fault::new(format!("{bad} cells of the matrix are not as they must be")))
    }
}

fn print(outcome: &Outcome) {
    let cell = &outcome.cell;
    let (revision, tools, result) = match &outcome.seen {
        Some(seen) => {
            (seen.revision.as_deref().unwrap_or("unsaid"), seen.tools.len().to_string(), &*seen.text)
        }
        None => ("-", "-".to_owned(), ""),
    };
    let result: String =
        result.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(60).collect();
    println!(
        "{:5}  {:33}  {:9}  {:10}  {revision:10}  {tools:>5}  {:5}  {result}",
        if outcome.fault.is_none() { "ok" } else { "FAIL" },
        cell.peer,
        cell.transport,
        cell.era,
        if cell.asked { "yes" } else { "" },
    );
    if let Some(fault) = &outcome.fault {
        println!("       {}", fault.replace('\n', "\n       "));
    }
}
