//! A Jupyter notebook as a page of the book: its text, its code, what it printed and drew. Nothing
//! is run.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::shell::{read, write};

/// The notebook behind a page, if the page's text comes from one.
pub(super) fn behind(page: &Path) -> Option<PathBuf> {
    let notebook = page.with_extension("ipynb");
    notebook.is_file().then_some(notebook)
}

/// The notebook as Markdown. Its pictures are written beside `page`.
///
/// # Errors
/// The file is no notebook, or a picture cannot be written.
pub(super) fn as_page(notebook: &Path, page: &Path) -> Result<String> {
    let failed = || format!("{} is no notebook", notebook.display());
    let json: Value = serde_json::from_str(&read(notebook)?).with_context(failed)?;
    let mut markdown = Vec::new();
    let mut pictures = 0;
    for cell in json["cells"].as_array().with_context(failed)? {
        let source = lines(&cell["source"]);
        if cell["cell_type"] != "code" {
            markdown.push(source);
            continue;
        }
        markdown.push(block("python", &source));
        for output in cell["outputs"].as_array().into_iter().flatten() {
            if output["output_type"] == "stream" {
                markdown.push(block("text", &lines(&output["text"])));
            }
            if let Some(encoded) = output["data"]["image/png"].as_str() {
                pictures += 1;
                let stem = page.file_stem().unwrap_or_default().to_string_lossy();
                let name = format!("{stem}-{pictures}.png");
                let picture = STANDARD.decode(encoded.trim()).with_context(failed)?;
                write(page.with_file_name(&name), picture)?;
                markdown.push(format!("![What the code above draws]({name})"));
            }
        }
    }
    Ok(markdown.join("\n\n") + "\n")
}

/// A text of the notebook format: a string, or a list of lines.
fn lines(text: &Value) -> String {
    match text {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        text => text.as_str().unwrap_or_default().to_owned(),
    }
}

fn block(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```", text.trim_end())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_notebook_becomes_its_text_code_output_and_pictures() {
        let place = tempfile::tempdir().expect("a folder");
        let notebook = place.path().join("a.ipynb");
        let page = place.path().join("book/a.md");
        let json = serde_json::json!({ "cells": [
            { "cell_type": "markdown", "source": ["# A\n", "text"] },
            { "cell_type": "code", "source": "draw()", "outputs": [
                { "output_type": "stream", "name": "stdout", "text": ["7\n"] },
                { "output_type": "display_data", "data": { "image/png": "cG5n\n", "text/plain": ["<Figure>"] } },
            ] },
        ] });
        fs::write(&notebook, json.to_string()).expect("a file");
        assert_eq!(behind(&place.path().join("a.md")), Some(notebook.clone()));
        assert_eq!(behind(&place.path().join("b.md")), None);
        assert_eq!(
            as_page(&notebook, &page).expect("a notebook"),
            "# A\ntext\n\n```python\ndraw()\n```\n\n```text\n7\n```\n\n![What the code above draws](a-1.png)\n"
        );
        assert_eq!(fs::read(place.path().join("book/a-1.png")).expect("a picture"), b"png");
        fs::write(&notebook, "{}").expect("a file");
        let error = as_page(&notebook, &page).expect_err("it has no cells").to_string();
        assert!(error.ends_with("a.ipynb is no notebook"));
    }
}
