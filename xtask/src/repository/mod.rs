//! What holds of the whole repository: its manifests, pages, sources and workflows.

mod architecture;
mod budget;
mod examples;
mod hosted;
mod no_paper_by_name;
mod packages;
mod pages;
mod recommended;
mod workspace;
