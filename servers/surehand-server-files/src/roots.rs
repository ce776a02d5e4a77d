use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use surehand_mcp::ToolFailure;
use surehand_schema::nearest;

/// How many names of a folder are looked at for one that was meant.
const NAMES_COMPARED: usize = 2000;

/// The allowed directories.
pub(crate) struct Roots(Vec<Root>);

struct Root {
    /// As the operator wrote it.
    given: PathBuf,
    /// Without symbolic links, where it could be told.
    real: PathBuf,
    /// Opened once, so that later changes of what its path means cannot move the boundary.
    handle: Option<Dir>,
}

/// A path beneath an allowed directory.
pub(crate) struct Place {
    /// The directory it is beneath.
    pub(crate) dir: Dir,
    /// From there; `.` for the directory itself. It may still try to lead out: only `dir` resolves it.
    pub(crate) inside: PathBuf,
    /// How it is shown.
    pub(crate) shown: PathBuf,
}

impl Roots {
    pub(crate) fn open(roots: Vec<PathBuf>) -> Self {
        let open = |given: PathBuf| Root {
            real: given.canonicalize().unwrap_or_else(|_| given.clone()),
            handle: Dir::open_ambient_dir(&given, ambient_authority()).ok(),
            given,
        };
        Self(roots.into_iter().map(open).collect())
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|root| root.given.display().to_string()).collect()
    }

    /// Which allowed directory a path means, and where beneath it. Nothing is said yet about whether it exists.
    pub(crate) fn place(&self, asked: &str) -> Result<Place, ToolFailure> {
        let asked = Path::new(asked.trim());
        if asked.is_absolute() {
            let beneath = |root: &Root| {
                let inside =
                    asked.strip_prefix(&root.given).or_else(|_| asked.strip_prefix(&root.real)).ok()?;
                Some(inside.to_path_buf())
            };
            // The innermost, where one allowed directory holds another.
            let found = self.0.iter().filter_map(|root| Some((root, beneath(root)?)));
            let (root, inside) = found
                .min_by_key(|(_, inside)| inside.components().count())
                .ok_or_else(|| self.outside(asked))?;
            return root.place(inside);
        }
        let mut places = self.0.iter().map(|root| root.place(asked.to_path_buf()));
        let first = places.next().ok_or_else(|| self.outside(asked))?;
        if first.as_ref().is_ok_and(Place::exists) {
            return first;
        }
        places.find(|place| place.as_ref().is_ok_and(Place::exists)).unwrap_or(first)
    }

    /// What to tell a caller when the kernel refused a path.
    pub(crate) fn explain(&self, place: &Place, error: &io::Error) -> ToolFailure {
        match error.kind() {
            io::ErrorKind::NotFound => place.not_found(),
            io::ErrorKind::NotADirectory => place.not_found(),
            // The kernel's own answer to a path that leads out is EXDEV; the portable resolver says "permission denied".
            _ if leads_out(error) => self.outside(&place.shown),
            io::ErrorKind::PermissionDenied => ToolFailure::new(format!(
                "The operating system does not let `{}` be read.",
                place.shown.display()
            ))
            .code("permission_denied"),
            _ => ToolFailure::new(format!("`{}` cannot be read: {error}.", place.shown.display())),
        }
    }

    fn outside(&self, asked: &Path) -> ToolFailure {
        let names = self.names();
        let allowed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        ToolFailure::new(format!(
            "`{}` is outside of the allowed directories, or a link in it leads out of them. Allowed: {allowed}.",
            asked.display()
        ))
        .code("outside_allowed_directories")
        .suggest("Use a path inside an allowed directory. Only the user can allow another one.")
    }
}

impl Root {
    fn place(&self, inside: PathBuf) -> Result<Place, ToolFailure> {
        let dir = match &self.handle {
            Some(handle) => handle.try_clone(),
            None => Dir::open_ambient_dir(&self.given, ambient_authority()),
        };
        let dir = dir.map_err(|error| {
            let given = self.given.display();
            ToolFailure::new(format!("The allowed directory `{given}` cannot be opened: {error}."))
                .retryable()
        })?;
        let inside = if inside.as_os_str().is_empty() { PathBuf::from(".") } else { inside };
        let mut shown = self.given.clone();
        shown.extend(inside.components().filter(|part| *part != Component::CurDir));
        Ok(Place { dir, inside, shown })
    }
}

impl Place {
    fn exists(&self) -> bool {
        self.dir.symlink_metadata(&self.inside).is_ok()
    }

    /// Says which part is missing, and what in that folder has a similar name.
    fn not_found(&self) -> ToolFailure {
        let mut folder = PathBuf::from(".");
        let mut missing = None;
        for part in self.inside.components() {
            let next = folder.join(part);
            if self.dir.metadata(&next).is_err() {
                missing = Some(part.as_os_str().to_string_lossy().into_owned());
                break;
            }
            folder = next;
        }
        let Some(missing) = missing else {
            return ToolFailure::not_found(format!("`{}` does not exist.", self.shown.display()));
        };
        let names: Vec<String> = match self.dir.read_dir(&folder) {
            Ok(entries) => entries
                .take(NAMES_COMPARED)
                .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
                .collect(),
            Err(_) => Vec::new(),
        };
        let parent: PathBuf = folder.components().filter(|part| *part != Component::CurDir).collect();
        let beside = |name: &str| parent.join(name).display().to_string();
        let close = nearest(&missing, names.iter().map(String::as_str));
        let failure = ToolFailure::not_found(format!(
            "`{}` does not exist: there is no `{missing}`.",
            self.shown.display()
        ));
        let failure = failure.did_you_mean(close.into_iter().map(beside));
        failure.suggest("Use list_directory or search_files to see what is there.")
    }
}

/// Whether the resolver stopped a path at the boundary.
fn leads_out(error: &io::Error) -> bool {
    let escape = error.raw_os_error().is_none() && error.kind() == io::ErrorKind::PermissionDenied;
    escape || error.kind() == io::ErrorKind::CrossesDevices
}
