//! Makes JSON without white space of what the program reads when it starts: of `rules/operators/*.yaml`, so that it need not read
//! YAML, and of the table of built-in kinds.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

const KINDS: &str = "rules/tables/builtin-resources-1.37.json";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new("rules/operators");
    println!("cargo::rerun-if-changed=rules/build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    paths.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let operators = paths.iter().map(|path| {
        let read = || -> Result<serde_json::Value, Box<dyn Error>> {
            Ok(serde_yaml::from_str(&fs::read_to_string(path)?)?)
        };
        let operator = read().map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(json!({ "name": name, "operator": operator }))
    });
    let operators: Vec<serde_json::Value> = operators.collect::<Result<_, Box<dyn Error>>>()?;
    let made = PathBuf::from(std::env::var("OUT_DIR")?);
    fs::write(
        made.join("operators.json"),
        serde_json::to_string(&operators)?,
    )?;
    println!("cargo::rerun-if-changed={KINDS}");
    let kinds: serde_json::Value = serde_json::from_str(&fs::read_to_string(KINDS)?)?;
    fs::write(
        made.join("builtin-resources.json"),
        serde_json::to_string(&kinds)?,
    )?;
    Ok(())
}
