//! What is wrong with the configuration, as far as that can be told without starting anything.

use surehand_sandbox::{ChildSpec, SpawnError, find_command};

use super::settings::{Launch, Problem, Settings, Severity};

/// Everything that reading the files has brought up, and each command that cannot be found; gravest first.
///
/// Looks at files, starts nothing, reaches no address.
pub fn check(settings: &Settings) -> Vec<Problem> {
    let mut problems = settings.problems.clone();
    for server in settings.servers.iter().filter(|server| server.starts()) {
        let place = match &server.file {
            Some(file) => format!("{}, server `{}`", file.display(), server.name),
            None => format!("server `{}`", server.name),
        };
        let Launch::Child { command, env, cwd, .. } = &server.launch else { continue };
        let spec = ChildSpec {
            command: command.clone(),
            env: env.clone(),
            cwd: cwd.clone().or_else(|| Some(settings.paths.cwd.clone())),
            search_path: settings.children.search_path.clone(),
            inherit: settings.children.inherit.clone(),
            ..ChildSpec::default()
        };
        // What a variable holds is not shown, not even as a command.
        let covered = |text: String| match server.shown.command.as_str() {
            "" => text,
            shown if shown == command => text,
            shown => text.replace(command.as_str(), shown),
        };
        let mut report = |what: String, hint: String| {
            let (what, hint) = (covered(what), covered(hint));
            let server = Some(server.name.clone());
            problems.push(Problem { severity: Severity::Error, r#where: place.clone(), server, what, hint });
        };
        if let Some(folder) = cwd.as_ref().filter(|folder| !folder.is_dir()) {
            report(
                format!("its working directory {} does not exist", folder.display()),
                "change `cwd`".into(),
            );
        }
        match find_command(&spec) {
            Ok(_) => {}
            Err(SpawnError::CommandNotFound { command, searched, hint }) => {
                let mut folders: Vec<String> = Vec::new();
                for folder in searched.iter().map(|folder| folder.display().to_string()) {
                    if !folders.contains(&folder) {
                        folders.push(folder);
                    }
                }
                let searched = if folders.is_empty() {
                    String::new()
                } else {
                    format!("; looked in {}", folders.join(", "))
                };
                report(format!("the command `{command}` is not found{searched}"), hint);
            }
            Err(error) => report(error.to_string(), String::new()),
        }
    }
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    problems
}
