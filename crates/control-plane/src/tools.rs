//! Programs of other projects that tests hold our work against: `sops`, `age`, `helm` and an S3 server, built once into
//! the cache.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    FileError, Report,
    assets::{Error, build::GoBuild, cache_directory, human_duration, versions::of_module},
};

/// A program that tests hold our work against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Encrypts to age keys.
    Age,
    /// Makes age keys.
    AgeKeygen,
    /// Reads charts.
    Helm,
    /// Encrypts values of YAML files.
    Sops,
    /// Keeps buckets in memory: see `control-plane/s3`.
    S3,
}

impl Tool {
    const ALL: [Self; 5] = [Self::Age, Self::AgeKeygen, Self::Helm, Self::Sops, Self::S3];

    const fn name(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::AgeKeygen => "age-keygen",
            Self::Helm => "helm",
            Self::Sops => "sops",
            Self::S3 => "s3",
        }
    }

    /// The Go module that pins it.
    const fn module(self) -> &'static str {
        match self {
            Self::Age | Self::AgeKeygen | Self::Sops => "sops",
            Self::Helm => "helm",
            Self::S3 => "s3",
        }
    }

    const fn package(self) -> &'static str {
        match self {
            Self::Age => "filippo.io/age/cmd/age",
            Self::AgeKeygen => "filippo.io/age/cmd/age-keygen",
            Self::Helm => "helm.sh/helm/v4/cmd/helm",
            Self::Sops => "github.com/getsops/sops/v3/cmd/sops",
            Self::S3 => ".",
        }
    }
}

/// The tools, each in the directory of its module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    cache: PathBuf,
    modules: Vec<Module>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Module {
    name: &'static str,
    go: String,
    directory: PathBuf,
}

impl Tools {
    /// Finds the tools in the cache, or builds them there. The first build takes a few minutes.
    ///
    /// Of two processes that start together one builds and the other waits for it.
    pub fn find_or_build(report: Report<'_>) -> Result<Self, Error> {
        let tools = Self::locate()?;
        if tools.is_complete() {
            return Ok(tools);
        }
        let cache = &tools.cache;
        fs::create_dir_all(cache).map_err(FileError::of("create", cache))?;
        let lock_path = cache.join("build.lock");
        let lock = fs::File::create(&lock_path).map_err(FileError::of("create", &lock_path))?;
        lock.lock().map_err(FileError::of("lock", &lock_path))?;
        tools.build(report)?;
        Ok(tools)
    }

    fn locate() -> Result<Self, Error> {
        let cache = cache_directory("tools")?;
        let mut modules: Vec<Module> = Vec::new();
        for tool in Tool::ALL {
            let name = tool.module();
            if modules.iter().any(|module| module.name == name) {
                continue;
            }
            let (go, fingerprint) = of_module(name)?;
            let directory = cache.join(format!("{name}-{fingerprint:016x}"));
            modules.push(Module {
                name,
                go,
                directory,
            });
        }
        Ok(Self { cache, modules })
    }

    /// The path of a tool.
    pub fn path(&self, tool: Tool) -> PathBuf {
        let module = self
            .modules
            .iter()
            .find(|module| module.name == tool.module());
        module
            .map_or(&self.cache, |module| &module.directory)
            .join(tool.name())
    }

    fn is_complete(&self) -> bool {
        Tool::ALL.into_iter().all(|tool| self.path(tool).is_file())
    }

    /// Builds each tool that is missing, under another name first, so that a tool that is there is whole.
    fn build(&self, report: Report<'_>) -> Result<(), Error> {
        for module in &self.modules {
            let tools = Tool::ALL.into_iter();
            for tool in tools.filter(|tool| tool.module() == module.name) {
                if !self.path(tool).is_file() {
                    self.build_tool(tool, module, report)?;
                }
            }
        }
        Ok(())
    }

    fn build_tool(&self, tool: Tool, module: &Module, report: Report<'_>) -> Result<(), Error> {
        let partial = module.directory.join("partial");
        fs::create_dir_all(&partial).map_err(FileError::of("create", &partial))?;
        let name = tool.name();
        report(&format!("building {name} once for the tests"));
        let build = GoBuild {
            name,
            package: tool.package(),
            module: module.name,
            linker_flags: "-s -w",
            wanted_go: &module.go,
        };
        build.run(&partial, &|elapsed| {
            report(&format!("building {name}, for {}", human_duration(elapsed)));
        })?;
        rename(&partial.join(name), &self.path(tool))?;
        Ok(())
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(FileError::of("rename", from))
}
