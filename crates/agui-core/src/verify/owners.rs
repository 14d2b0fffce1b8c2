use std::collections::BTreeMap;

use crate::{Message, MessageId, SubagentRunId, ToolCallId};

/// Whose a message, call or activity is; `None` is the parent agent.
pub(super) type Owner = Option<SubagentRunId>;

/// Who owns what was seen in the run. Kept after the item is closed, because it can be opened again.
///
/// Ids are unique within a kind only, so each kind has its own map.
#[derive(Debug, Default)]
pub(super) struct Owners {
    pub(super) messages: BTreeMap<MessageId, Owner>,
    pub(super) reasoning: BTreeMap<MessageId, Owner>,
    pub(super) activities: BTreeMap<MessageId, Owner>,
    pub(super) tool_calls: BTreeMap<ToolCallId, Owner>,
}

impl Owners {
    pub(super) const fn new() -> Self {
        Self {
            messages: BTreeMap::new(),
            reasoning: BTreeMap::new(),
            activities: BTreeMap::new(),
            tool_calls: BTreeMap::new(),
        }
    }

    /// Takes the owners of a message list. A snapshot replaces what is known, history does not.
    pub(super) fn seed(&mut self, messages: &[Message], source: Seed) {
        for message in messages {
            let owner = message.subagent_run_id();
            let map = match message {
                Message::Reasoning(_) => &mut self.reasoning,
                Message::Activity(_) => &mut self.activities,
                _ => &mut self.messages,
            };
            insert(map, message.id(), owner, source);
            if let Message::Assistant(assistant) = message {
                for call in &assistant.tool_calls {
                    insert(&mut self.tool_calls, &call.id, owner, source);
                }
            }
        }
    }
}

/// Where a message list comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seed {
    /// The input of the run.
    History,
    /// `MESSAGES_SNAPSHOT`.
    Snapshot,
}

fn insert<K: Ord + Clone>(map: &mut BTreeMap<K, Owner>, id: &K, owner: Option<&SubagentRunId>, source: Seed) {
    if source == Seed::Snapshot || !map.contains_key(id) {
        map.insert(id.clone(), owner.cloned());
    }
}
