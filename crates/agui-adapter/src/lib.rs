//! The run coordinator: an AG-UI agent whose work is done by an A2A kernel.
