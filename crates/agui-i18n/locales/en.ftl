# Requests.

error-invalid-input = The request is not valid.
field-problem =
    { $kind ->
        [missing] The field { $pointer } is missing.
        [wrong-type] The field { $pointer } has the wrong type.
        [unknown-key] The field { $pointer } is not known.
        [out-of-range] The field { $pointer } has a value that is not allowed.
        [duplicate-key] The field { $pointer } is given twice.
        [syntax] The field { $pointer } is not valid JSON.
       *[other] The field { $pointer } is not valid.
    }
error-input-envelope = Invalid AG-UI RunAgentInput envelope. { field-problem }
error-input-extension = Invalid iac-code forwarded properties. { field-problem }
error-input-tools = Client-provided tools are not supported. Field: /tools
error-input-guidance = Active guidance needs the pipeline run mode. Field: /forwardedProps/iacCode/activeGuidance
error-workspace-not-absolute = The iac-code workspace must be an absolute path. Field: /forwardedProps/iacCode/cwd
error-workspace-invalid = The iac-code workspace is invalid. Field: /forwardedProps/iacCode/cwd
error-workspace-outside = The iac-code workspace is outside the allowed roots. Field: /forwardedProps/iacCode/cwd
error-workspace-not-directory = The iac-code workspace is not a directory. Field: /forwardedProps/iacCode/cwd
error-workspace-not-created = The iac-code workspace cannot be created. Field: /forwardedProps/iacCode/cwd
error-message-missing = A new run requires a user message. Field: /messages
error-message-content = The user message content is invalid. Field: { $pointer }
error-message-part = Only text and inline data images are supported. Field: { $pointer }
error-media-remote = Remote media URLs are not supported. Field: { $pointer }
error-image-type = The image media type is not supported. Field: { $pointer }
error-image-base64 = The image data is not valid base64. Field: { $pointer }
error-image-too-large = An image exceeds the maximum size. Field: { $pointer }
error-images-too-large = The total image content exceeds the maximum size. Field: /messages
error-image-invalid = The image data is invalid. Field: { $pointer }
error-cancel-ids = threadId and rosInvocationId are required.

# HTTP.

error-unauthorized = A valid bearer token is required.
error-access-denied = Access is denied.
error-forbidden-origin = Requests from this origin are not allowed.
error-forbidden-host = Requests for this host name are not allowed.
error-content-type = Content-Type must be application/json.
error-not-acceptable = The response can only be sent as text/event-stream.
error-run-body-too-large = The AG-UI request body is too large.
error-cancel-body-too-large = The cancel request body is too large.
error-run-body-not-json = The request body is not valid JSON.
error-cancel-body-not-json = The cancel request body is not valid JSON.
error-run-body-not-object = RunAgentInput must be a JSON object.
error-cancel-body-not-object = The cancel request must be a JSON object.
error-not-found = The requested path does not exist.
error-method-not-allowed-except = This path accepts only { $methods }.
error-method-not-allowed = This path does not accept this method.
error-upgrade-required = This path accepts only WebSocket connections.
error-request-timeout = The request was not received in time.
error-rate-limited = Too many requests. Try again later.
error-rate-limited-for =
    { $seconds ->
        [one] Too many requests. Try again in { $seconds } second.
       *[other] Too many requests. Try again in { $seconds } seconds.
    }
error-session-busy = The session is already processing a request.
error-server-busy = The server is busy. Try again later.
error-shutting-down = The server is shutting down. Try again later.
error-agent-failed = Agent execution failed.
error-internal = An internal error occurred.

# Threads and resumes.

error-state-unavailable = The AG-UI adapter state is unavailable.
error-run-id-used = The AG-UI run id has already been used.
error-thread-busy = The AG-UI thread already has an active run.
error-thread-binding = The AG-UI thread is already bound to another workspace or caller.
error-resume-required = The AG-UI thread is waiting for interrupt responses.
error-resume-required-for = The AG-UI thread is waiting for responses to these interrupts: { $ids }
error-execution-gone = The execution to resume is no longer available.
error-resume-mismatch = The resume request does not match the interrupted run.
error-task-gone = The A2A task to resume is unavailable.
error-session-gone = The iac-code session to resume is unavailable.
error-resume-duplicate = The resume contains duplicate interrupt ids.
error-resume-incomplete = The resume must resolve every pending interrupt exactly once.
error-unknown-interrupt = The resume references an unknown interrupt.
error-payload-missing = A resolved interrupt requires a payload.
error-payload-invalid = The interrupt response payload is invalid.
error-answer-missing = The interrupt response does not contain an answer.
error-already-applied = The interrupt response has already been applied.
error-execution-expired = The interrupt has expired and can no longer be answered.
error-backup-syncing =
    { $seconds ->
        [one] Session backup is still synchronizing. Retry after { $seconds } second.
       *[other] Session backup is still synchronizing. Retry after { $seconds } seconds.
    }
error-backup-blocked = The session backup is not complete yet. Try again later.
error-persist-execution = The execution mapping could not be committed.
error-persist-session = The execution session mapping could not be committed.
error-persist-interrupt = The interrupted execution state could not be committed.
error-persist-answer = The accepted interrupt response could not be committed.

# The A2A service.

error-a2a-unavailable = The local A2A execution service is unavailable.
error-a2a-silent = The local A2A execution service stopped responding.
error-a2a-cut = The connection to the local A2A execution service was lost.
error-a2a-unreadable = The local A2A execution service sent a response that could not be understood.
error-answer-not-accepted = The A2A interrupt response was not accepted.
error-permission-not-accepted = The A2A permission response was not accepted.
error-answer-rejected = The local A2A execution service rejected the interrupt response.
error-context-changed = The A2A context identity changed unexpectedly.
error-task-changed = The A2A task identity changed unexpectedly.
error-task-mismatch = The A2A task identity does not match the interrupted run.
error-session-changed = The iac-code session identity changed unexpectedly.
error-interrupt-task = An interrupt belongs to another A2A task.
error-interrupt-context = An interrupt belongs to another A2A context.
error-execution-failed = The A2A execution failed.
error-execution-failed-with-id = The A2A execution failed. Error id: { $errorId }
error-execution-failed-for-now = The A2A execution failed for a temporary reason. Try again.
error-request-refused = The local A2A execution service refused the request.
error-request-refused-for = The local A2A execution service refused the request. Reason: { $reason }
error-permission-suspended = The execution was suspended while waiting for a permission. Try again later.
error-sign-in-needed = The execution needs you to sign in first.
error-cancelled = The execution was cancelled.
error-cancelled-by-answer = The execution was cancelled by the interrupt response.
error-execution-not-found = The execution was not found.
error-run-not-found = The run was not found.
error-events-lost = Some events of the run are no longer kept. Reading on from the id of this error gives the rest.

# Questions to the user.

interrupt-permission = Permission required
interrupt-input = Input required
interrupt-sign-in = Sign-in required
interrupt-candidate = Choose the plan to implement
interrupt-resource = Choose a cloud resource
interrupt-deployment = Confirm the deployment. It creates or changes cloud resources and may incur costs.
interrupt-pause = The pipeline is paused. Do you want to continue?
interrupt-backup-blocked = The session backup is blocked, so the pipeline cannot go on. Do you want to try again?
interrupt-identity = Your cloud identity could not be verified, so your answer was not applied. Check the credentials and answer again.
notice-permission-downgraded = You allowed this action, but the execution service could not record your approval and counted it as denied. The action was not carried out.
option-allow-once = Allow once
option-deny = Deny
option-yes = Yes
option-no = No
option-continue = Continue
option-stop = Stop
option-deploy = Deploy
option-do-not-deploy = Do not deploy
option-try-again = Try again
label-decision = Decision
label-choice = Your choice
label-free-text = Your answer
label-resource = Resource
