"""The scenarios, in the order in which they are listed and run."""
from . import chat, permissions, streams, admission, failures, pipelines, hand_over, crashes  # noqa: F401  (each registers its own)
from .base import SCENARIOS, Scenario

__all__ = ["SCENARIOS", "Scenario"]
