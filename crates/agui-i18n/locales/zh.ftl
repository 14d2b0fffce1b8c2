# 请求。

error-invalid-input = 请求无效。
field-problem =
    { $kind ->
        [missing] 缺少字段 { $pointer }。
        [wrong-type] 字段 { $pointer } 的类型不正确。
        [unknown-key] 无法识别字段 { $pointer }。
        [out-of-range] 字段 { $pointer } 的值不在允许范围内。
        [duplicate-key] 字段 { $pointer } 重复出现。
        [syntax] 字段 { $pointer } 不是有效的 JSON。
       *[other] 字段 { $pointer } 无效。
    }
error-input-envelope = AG-UI RunAgentInput 请求格式无效。{ field-problem }
error-input-extension = iac-code 转发属性无效。{ field-problem }
error-input-tools = 不支持由客户端提供的工具。字段：/tools
error-input-guidance = 只有在流水线模式下才能对进行中的执行进行引导。字段：/forwardedProps/iacCode/activeGuidance
error-workspace-not-absolute = iac-code 工作区必须是绝对路径。字段：/forwardedProps/iacCode/cwd
error-workspace-invalid = iac-code 工作区无效。字段：/forwardedProps/iacCode/cwd
error-workspace-outside = iac-code 工作区不在允许的根目录内。字段：/forwardedProps/iacCode/cwd
error-workspace-not-directory = iac-code 工作区不是目录。字段：/forwardedProps/iacCode/cwd
error-workspace-not-created = 无法创建 iac-code 工作区。字段：/forwardedProps/iacCode/cwd
error-message-missing = 新的运行需要一条用户消息。字段：/messages
error-message-content = 用户消息内容无效。字段：{ $pointer }
error-message-part = 仅支持文本和内嵌图片。字段：{ $pointer }
error-media-remote = 不支持远程媒体地址。字段：{ $pointer }
error-image-type = 不支持该图片类型。字段：{ $pointer }
error-image-base64 = 图片数据不是有效的 base64。字段：{ $pointer }
error-image-too-large = 图片超过大小上限。字段：{ $pointer }
error-images-too-large = 图片总大小超过上限。字段：/messages
error-image-invalid = 图片数据无效。字段：{ $pointer }
error-cancel-ids = threadId 和 rosInvocationId 为必填项。

# HTTP。

error-unauthorized = 需要有效的 Bearer 令牌。
error-access-denied = 访问被拒绝。
error-forbidden-origin = 不允许来自该来源的请求。
error-forbidden-host = 不允许对该主机名的请求。
error-content-type = Content-Type 必须为 application/json。
error-not-acceptable = 响应只能以 text/event-stream 格式发送。
error-run-body-too-large = AG-UI 请求体过大。
error-cancel-body-too-large = 取消请求的请求体过大。
error-run-body-not-json = 请求体不是有效的 JSON。
error-cancel-body-not-json = 取消请求的请求体不是有效的 JSON。
error-run-body-not-object = RunAgentInput 必须是 JSON 对象。
error-cancel-body-not-object = 取消请求必须是 JSON 对象。
error-not-found = 请求的路径不存在。
error-method-not-allowed-except = 该路径仅接受 { $methods }。
error-method-not-allowed = 该路径不接受此方法。
error-upgrade-required = 该路径仅接受 WebSocket 连接。
error-request-timeout = 未能及时收到请求。
error-rate-limited = 请求过多，请稍后重试。
error-rate-limited-for = 请求过多，请在 { $seconds } 秒后重试。
error-session-busy = 会话正在处理另一个请求。
error-server-busy = 服务器繁忙，请稍后重试。
error-shutting-down = 服务器正在关闭，请稍后重试。
error-agent-failed = 智能体执行失败。
error-internal = 发生内部错误。

# 会话线程与恢复。

error-state-unavailable = AG-UI 适配器状态不可用。
error-run-id-used = 该 AG-UI 运行 ID 已被使用。
error-thread-busy = 该 AG-UI 线程已有正在进行的运行。
error-thread-binding = 该 AG-UI 线程已绑定到其他工作区或调用方。
error-resume-required = 该 AG-UI 线程正在等待对中断的答复。
error-resume-required-for = 该 AG-UI 线程正在等待对以下中断的答复：{ $ids }
error-execution-gone = 要恢复的执行已不可用。
error-resume-mismatch = 恢复请求与被中断的运行不匹配。
error-task-gone = 要恢复的 A2A 任务不可用。
error-session-gone = 要恢复的 iac-code 会话不可用。
error-resume-duplicate = 恢复请求包含重复的中断 ID。
error-resume-incomplete = 恢复请求必须对每个待处理的中断恰好答复一次。
error-unknown-interrupt = 恢复请求引用了未知的中断。
error-payload-missing = 已解决的中断需要提供答复内容。
error-payload-invalid = 中断答复的内容无效。
error-answer-missing = 中断答复中既没有选项，也没有文本。
error-already-applied = 该中断答复此前已经应用。
error-execution-expired = 该中断已过期，无法再答复。
error-backup-syncing = 会话备份仍在同步，请在 { $seconds } 秒后重试。
error-backup-blocked = 会话备份尚未完成，请稍后重试。
error-persist-execution = 无法保存执行关联信息。
error-persist-session = 无法保存执行会话关联信息。
error-persist-interrupt = 无法保存被中断的执行状态。
error-persist-answer = 无法保存已接受的中断答复。

# A2A 服务。

error-a2a-unavailable = 本地 A2A 执行服务不可用。
error-a2a-silent = 本地 A2A 执行服务已停止响应。
error-a2a-cut = 与本地 A2A 执行服务的连接已断开。
error-a2a-unreadable = 本地 A2A 执行服务返回了无法理解的响应。
error-answer-not-accepted = A2A 中断答复未被接受。
error-permission-not-accepted = A2A 授权答复未被接受。
error-answer-rejected = 本地 A2A 执行服务拒绝了该中断答复。
error-context-changed = A2A 上下文标识意外发生变化。
error-task-changed = A2A 任务标识意外发生变化。
error-task-mismatch = A2A 任务标识与被中断的运行不匹配。
error-session-changed = iac-code 会话标识意外发生变化。
error-interrupt-task = 有中断属于另一个 A2A 任务。
error-interrupt-context = 有中断属于另一个 A2A 上下文。
error-execution-failed = A2A 执行失败。
error-execution-failed-with-id = A2A 执行失败。错误 ID：{ $errorId }
error-execution-failed-for-now = A2A 执行因暂时性原因失败，请重试。
error-request-refused = 本地 A2A 执行服务拒绝了该请求。
error-request-refused-for = 本地 A2A 执行服务拒绝了该请求。原因：{ $reason }
error-permission-suspended = 执行在等待授权时被挂起，请稍后重试。
error-sign-in-needed = 需要先登录才能继续执行。
error-cancelled = 执行已取消。
error-cancelled-by-answer = 执行已因中断答复而取消。
error-execution-not-found = 未找到该执行。
error-run-not-found = 未找到该 AG-UI 运行。
error-events-lost = 该 AG-UI 运行的部分事件已不再保留。从此错误的 ID 处继续读取可获得其余事件。

# 向用户提出的问题。

interrupt-permission = 需要授权
interrupt-input = 需要输入
interrupt-sign-in = 需要登录
interrupt-candidate = 请选择要实施的方案
interrupt-resource = 请选择云资源
interrupt-deployment = 请确认部署。部署会创建或更改云资源，并可能产生费用。
interrupt-pause = 流水线已暂停。是否继续？
interrupt-backup-blocked = 会话备份受阻，流水线无法继续。是否重试？
interrupt-identity = 无法验证您的云身份，您的答复未被应用。请检查凭证后重新答复。
notice-permission-downgraded = 您已允许此操作，但执行服务未能记录您的批准，并将其视为拒绝。该操作未被执行。
option-allow-once = 允许一次
option-deny = 拒绝
option-yes = 是
option-no = 否
option-continue = 继续
option-stop = 停止
option-deploy = 部署
option-do-not-deploy = 不部署
option-try-again = 重试
label-decision = 决定
label-choice = 您的选择
label-free-text = 您的答复
label-resource = 资源
