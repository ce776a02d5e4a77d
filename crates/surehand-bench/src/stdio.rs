//! Over standard streams.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::Instant;

use crate::WINDOW;
use crate::messages::{INITIALIZE, INITIALIZED, LIST, is_echo, session_call};
use crate::server::{Kind, Mode, cpu_seconds};

struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(kind: Kind) -> Self {
        let mut child = kind.command(Mode::Stdio).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::with_capacity(1 << 16, child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn say(&mut self, lines: &[&str]) {
        let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        self.input.write_all(text.as_bytes()).unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU microseconds of the server a call, with `depth` calls under way all the time.
pub(crate) async fn call_cost(kind: Kind, depth: usize) -> f64 {
    let mut process = Process::start(kind);
    process.say(&[INITIALIZE]);
    process.hear();
    process.say(&[INITIALIZED]);
    let Process { child, input, output } = &mut process;
    let output = output.get_mut();
    let (mut next, mut answered) = (1, 0_u64);
    let mut send = |count: usize, input: &mut ChildStdin| {
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(&session_call(next));
            text.push('\n');
            next += 1;
        }
        input.write_all(text.as_bytes()).unwrap();
    };
    send(depth, input);
    let mut chunk = vec![0; 1 << 16];
    let mut begun = Instant::now();
    let (mut used, mut warm) = (0.0, false);
    loop {
        let count = output.read(&mut chunk).unwrap();
        assert!(count > 0, "the server is gone");
        let lines = chunk[..count].iter().filter(|byte| **byte == b'\n').count();
        if answered == 0 {
            assert!(is_echo(&chunk[..count]), "{}", String::from_utf8_lossy(&chunk[..count]));
        }
        answered += lines as u64;
        if !warm && begun.elapsed() > WINDOW / 5 {
            (warm, answered, begun, used) = (true, 1, Instant::now(), cpu_seconds(child.id()));
        }
        if warm && begun.elapsed() > WINDOW {
            return (cpu_seconds(child.id()) - used) * 1e6 / answered as f64;
        }
        send(lines, input);
    }
}

/// Milliseconds from starting the process to its list of tools.
pub(crate) async fn first_list(kind: Kind) -> f64 {
    let begun = Instant::now();
    let mut process = Process::start(kind);
    process.say(&[INITIALIZE]);
    assert!(process.hear().contains("protocolVersion"));
    process.say(&[INITIALIZED, LIST]);
    let list = process.hear();
    assert!(list.contains("echo"), "{list}");
    begun.elapsed().as_secs_f64() * 1e3
}
