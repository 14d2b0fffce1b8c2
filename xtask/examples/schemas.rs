//! Prints the JSON Schemas of the workspace as one object: file name to schema.
//!
//! `cargo xtask schema` starts it.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, generate::SchemaSettings};

fn main() -> anyhow::Result<()> {
    let mut schemas: BTreeMap<&str, Schema> = agui_iac_code::schema::all().into_iter().collect();
    schemas.extend(agui_mapper::schema::all());
    schemas.insert("ag-ui.capabilities.json", schema_of::<agui_core::Capabilities>());
    schemas.insert("ag-ui.event.json", schema_of::<agui_core::Event>());
    schemas.insert("ag-ui.run-agent-input.json", schema_of::<agui_core::RunAgentInput>());
    println!("{}", serde_json::to_string(&schemas)?);
    Ok(())
}

fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}
