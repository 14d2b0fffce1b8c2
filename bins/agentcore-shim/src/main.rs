//! An AG-UI agent as a container on Amazon Bedrock AgentCore.

fn main() {}
