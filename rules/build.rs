//! Makes JSON without white space of what the program reads when it starts, in the folder `rules` of the build: of
//! `rules/operators/*.yaml` and of `rules/tables/*`, so that it reads neither YAML nor CSV then.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=rules/build.rs");
    let made = PathBuf::from(std::env::var("OUT_DIR")?).join("rules");
    fs::create_dir_all(&made)?;
    let write = |name: &str, value: &Value| fs::write(made.join(name), value.to_string());
    let operators = files("rules/operators", "yaml")?.into_iter().map(|path| {
        let operator: Value = read(&path, |text| Ok(serde_yaml::from_str(text)?))?;
        Ok(json!({ "name": stem(&path), "operator": operator }))
    });
    let operators: Vec<Value> = operators.collect::<Result<_, Box<dyn Error>>>()?;
    write("operators.json", &Value::Array(operators))?;
    for path in files("rules/tables", "csv")? {
        write(&format!("{}.json", stem(&path)), &read(&path, rows)?)?;
    }
    for path in files("rules/tables", "json")? {
        let table = read(&path, |text| Ok(serde_json::from_str(text)?))?;
        write(&format!("{}.json", stem(&path)), &table)?;
    }
    Ok(())
}

/// The rows of a table as objects, without their empty cells and their sources, which only readers of the table need.
fn rows(text: &str) -> Result<Value, Box<dyn Error>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers()?.clone();
    let rows = reader.records().map(|row| {
        let row = row?;
        let cells = columns
            .iter()
            .zip(&row)
            .filter(|(column, cell)| !cell.is_empty() && *column != "source");
        let cells = cells.map(|(column, cell)| (column.to_owned(), Value::from(cell)));
        Ok(Value::Object(cells.collect()))
    });
    rows.collect()
}

/// The files of a folder with an ending, in the order of their names.
fn files(folder: &str, ending: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={folder}");
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|of| of == ending));
    paths.sort_by_key(|path| stem(path));
    Ok(paths)
}

fn read(
    path: &Path,
    parse: impl Fn(&str) -> Result<Value, Box<dyn Error>>,
) -> Result<Value, Box<dyn Error>> {
    let parsed = fs::read_to_string(path)
        .map_err(Into::into)
        .and_then(|text| parse(&text));
    parsed.map_err(|error| format!("{}: {error}", path.display()).into())
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
