"""One command of iac-code's own state code: load, rewrite or digests; JSON in, JSON out."""
import hashlib
import json
import sys

from iac_code.agui.adapter import AguiA2AAdapter
from iac_code.agui.inputs import canonical_digest
from iac_code.agui.state import FileAguiThreadStateStore

command, state_dir, text = sys.argv[1:]
value = json.loads(text)
store = FileAguiThreadStateStore(state_dir)


def restore(thread_id):
    document = store.load_thread(thread_id)
    return AguiA2AAdapter._restore_thread_state(None, document, expected_thread_id=thread_id)


def shown(binding):
    return {
        "thread_id": binding.thread_id,
        "context_id": binding.context_id,
        "cwd": binding.cwd,
        "user_id": binding.user_id,
        "ros_invocation_id": binding.ros_invocation_id,
        "iac_code_session_id": binding.iac_code_session_id,
        "execution_id": binding.execution_id,
        "task_id": binding.task_id,
        "pending": {key: [item.sideband, item.value] for key, item in binding.pending.items()},
        "pipeline_sequence": binding.pipeline_sequence,
        "pipeline_open_steps": sorted(binding.pipeline_open_steps),
        "text_snapshot_digests": sorted(binding.text_snapshot_digests),
        "run_digests": binding.run_digests,
        "applied_resume_digests": [[*key, digest] for key, digest in sorted(binding.applied_resume_digests.items())],
        "terminal_execution_ids": sorted(binding.terminal_execution_ids),
    }


if command == "load":
    result = [shown(restore(thread_id)) for thread_id in value]
elif command == "rewrite":
    # Adds a run to each thread; the result tells whether this version keeps the expiry of interrupts.
    thread_ids, run_id = value
    result = False
    for thread_id in thread_ids:
        binding = restore(thread_id)
        binding.run_digests[run_id] = hashlib.sha256(f"request of {run_id}".encode()).hexdigest()
        document = AguiA2AAdapter._thread_state_document(None, binding)
        result = any("expiresAt" in item for item in document["execution"]["pending"].values())
        store.save_thread(thread_id, document)
else:
    result = [canonical_digest(json.loads(body)) for body in value]

print(json.dumps(result, ensure_ascii=True))
