//! The small types.

use std::collections::{BTreeMap, HashMap};

use agui_core::{
    AgentIdentity, Capabilities, ExecutionCapabilities, HumanInTheLoopCapabilities, Json, JsonObject,
    JsonPointer, MessageId, MultiAgentCapabilities, MultimodalCapabilities, MultimodalInput,
    OutputCapabilities, Reading, SubagentDescription, ThreadId, Tool, ToolCapabilities, UnixMillis,
};

#[test]
fn ids_are_strings_on_the_wire_and_keys_in_maps() {
    let id: ThreadId = serde_json::from_str(r#""a\u0062""#).unwrap();
    assert_eq!(id, "ab");
    assert_eq!(serde_json::to_string(&id).unwrap(), r#""ab""#);
    assert_eq!((id.to_string().as_str(), format!("{id:?}").as_str()), ("ab", "\"ab\""));
    assert_eq!(HashMap::from([(id.clone(), 1)]).get("ab"), Some(&1));
    assert_eq!(BTreeMap::from([(id.clone(), 1)]).get("ab"), Some(&1));
    assert!(ThreadId::new("a") < id);
    assert!(serde_json::from_str::<MessageId>("5").is_err());
}

#[test]
fn times_are_plain_numbers() {
    let at: UnixMillis = serde_json::from_str("17").unwrap();
    assert_eq!((at, at.as_u64()), (UnixMillis::new(17), 17));
    assert_eq!(serde_json::to_string(&at).unwrap(), "17");
}

#[test]
fn opaque_json_is_checked_and_kept() {
    let json = Json::from_string(r#" {"a": 1.50}"#.to_owned());
    assert_eq!(json.unwrap().get(), r#"{"a": 1.50}"#);
    assert!(Json::from_string("{".to_owned()).is_err());
    assert!(Json::from_string("NaN".to_owned()).is_err());
    assert!(Json::from_serialize(&HashMap::from([((1, 2), 3)])).is_err());
    let json = Json::from_serialize(&[1, 2]).unwrap();
    assert_eq!((json.get(), json.parse::<Vec<u8>>().unwrap()), ("[1,2]", vec![1, 2]));
    assert!(json.parse::<String>().is_err());
    assert!(Json::null().is_null() && !json.is_null());
    assert_eq!(serde_json::from_value::<Json>(serde_json::json!({ "a": 1 })).unwrap().get(), r#"{"a":1}"#);
    assert_eq!(Json::from_serialize(&json).unwrap(), json);

    assert!(JsonObject::from_string("[]".to_owned()).is_err());
    assert!(JsonObject::from_serialize("x").is_err());
    assert!(serde_json::from_str::<JsonObject>("[]").is_err());
    let object = JsonObject::from_serialize(&BTreeMap::from([("a", 1)])).unwrap();
    assert_eq!(object.parse::<BTreeMap<String, u8>>().unwrap()["a"], 1);
    assert_eq!(Json::from(object).get(), r#"{"a":1}"#);
}

#[test]
fn json_pointers_are_checked_and_escaped() {
    for good in ["", "/", "/a/0/-", "/~0~1"] {
        assert_eq!(JsonPointer::new(good).unwrap().as_str(), good);
    }
    for bad in ["a", "a/b", "/~", "/~2", "/a~"] {
        assert!(JsonPointer::new(bad).is_err(), "{bad}");
    }
    assert_eq!(JsonPointer::from_tokens(["a/b", "~1", ""]).as_str(), "/a~1b/~01/");
}

#[test]
fn capabilities_read_and_write_without_loss() {
    let capabilities = Capabilities::new()
        .with_identity(AgentIdentity::new().with_name("n").with_agent_type("t"))
        .with_tools(ToolCapabilities::new().with_supported(true).with_items([Tool::new("f", "")]))
        .with_output(OutputCapabilities::new().with_supported_mime_types(["text/plain".to_owned()]))
        .with_multi_agent(MultiAgentCapabilities::new().with_subagents([SubagentDescription::new("s")]))
        .with_multimodal(MultimodalCapabilities::new().with_input(MultimodalInput::new().with_image(false)))
        .with_execution(ExecutionCapabilities::new().with_max_execution_time_ms(5_u64))
        .with_human_in_the_loop(HumanInTheLoopCapabilities::new().with_interrupts(true))
        .with_custom(JsonObject::from_string(r#"{"x":1.0}"#.to_owned()).unwrap());
    let expected = concat!(
        r#"{"identity":{"name":"n","type":"t"},"tools":{"supported":true,"items":[{"name":"f","description":""}]},"#,
        r#""output":{"supportedMimeTypes":["text/plain"]},"multiAgent":{"subagents":[{"name":"s"}]},"#,
        r#""multimodal":{"input":{"image":false}},"execution":{"maxExecutionTime":5},"#,
        r#""humanInTheLoop":{"interrupts":true},"custom":{"x":1.0}}"#,
    );
    assert_eq!(serde_json::to_string(&capabilities).unwrap(), expected);
    assert_eq!(Capabilities::from_json(expected.as_bytes(), Reading::Exact).unwrap(), capabilities);
    assert_eq!(serde_json::to_string(&Capabilities::new()).unwrap(), "{}");
}
