"""The scenarios, in the order in which they are listed and run: the longest begins first."""
from . import crashes, chat, permissions, streams, admission, failures, pipelines, hand_over  # noqa: F401  (each registers its own)
from .base import SCENARIOS, Scenario

__all__ = ["SCENARIOS", "Scenario"]
