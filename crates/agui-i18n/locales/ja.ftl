# リクエスト。

error-invalid-input = リクエストが無効です。
field-problem =
    { $kind ->
        [missing] フィールド { $pointer } がありません。
        [wrong-type] フィールド { $pointer } の型が正しくありません。
        [unknown-key] フィールド { $pointer } は認識できません。
        [out-of-range] フィールド { $pointer } の値は許可されていません。
        [duplicate-key] フィールド { $pointer } が重複しています。
        [syntax] フィールド { $pointer } は有効な JSON ではありません。
       *[other] フィールド { $pointer } が無効です。
    }
error-input-envelope = AG-UI の RunAgentInput の形式が無効です。{ field-problem }
error-input-extension = 転送された iac-code プロパティが無効です。{ field-problem }
error-input-tools = クライアントが提供するツールには対応していません。フィールド: /tools
error-input-guidance = 実行中のガイダンスはパイプラインモードでのみ利用できます。フィールド: /forwardedProps/iacCode/activeGuidance
error-workspace-not-absolute = iac-code のワークスペースは絶対パスで指定してください。フィールド: /forwardedProps/iacCode/cwd
error-workspace-invalid = iac-code のワークスペースが無効です。フィールド: /forwardedProps/iacCode/cwd
error-workspace-outside = iac-code のワークスペースが許可されたディレクトリの外にあります。フィールド: /forwardedProps/iacCode/cwd
error-workspace-not-directory = iac-code のワークスペースはディレクトリではありません。フィールド: /forwardedProps/iacCode/cwd
error-workspace-not-created = iac-code のワークスペースを作成できません。フィールド: /forwardedProps/iacCode/cwd
error-message-missing = 新しい実行にはユーザーメッセージが必要です。フィールド: /messages
error-message-content = ユーザーメッセージの内容が無効です。フィールド: { $pointer }
error-message-part = テキストと埋め込み画像のみに対応しています。フィールド: { $pointer }
error-media-remote = リモートのメディア URL には対応していません。フィールド: { $pointer }
error-image-type = この画像形式には対応していません。フィールド: { $pointer }
error-image-base64 = 画像データは有効な base64 ではありません。フィールド: { $pointer }
error-image-too-large = 画像のサイズが上限を超えています。フィールド: { $pointer }
error-images-too-large = 画像の合計サイズが上限を超えています。フィールド: /messages
error-image-invalid = 画像データが無効です。フィールド: { $pointer }
error-cancel-ids = threadId と rosInvocationId は必須です。

# HTTP。

error-unauthorized = 有効なベアラートークンが必要です。
error-access-denied = アクセスが拒否されました。
error-forbidden-origin = このオリジンからのリクエストは許可されていません。
error-forbidden-host = このホスト名へのリクエストは許可されていません。
error-content-type = Content-Type は application/json にしてください。
error-not-acceptable = 応答は text/event-stream でのみ送信できます。
error-run-body-too-large = AG-UI リクエストの本文が大きすぎます。
error-cancel-body-too-large = キャンセルリクエストの本文が大きすぎます。
error-run-body-not-json = リクエストの本文は有効な JSON ではありません。
error-cancel-body-not-json = キャンセルリクエストの本文は有効な JSON ではありません。
error-run-body-not-object = RunAgentInput は JSON オブジェクトにしてください。
error-cancel-body-not-object = キャンセルリクエストは JSON オブジェクトにしてください。
error-not-found = 要求されたパスは存在しません。
error-method-not-allowed-except = このパスで使用できるのは { $methods } のみです。
error-method-not-allowed = このパスではこのメソッドを使用できません。
error-upgrade-required = このパスで使用できるのは WebSocket 接続のみです。
error-request-timeout = 時間内にリクエストを受信できませんでした。
error-rate-limited = リクエストが多すぎます。しばらくしてからもう一度お試しください。
error-rate-limited-for = リクエストが多すぎます。{ $seconds } 秒後にもう一度お試しください。
error-session-busy = セッションは別のリクエストを処理中です。
error-server-busy = サーバーが混み合っています。しばらくしてからもう一度お試しください。
error-shutting-down = サーバーを停止しています。しばらくしてからもう一度お試しください。
error-agent-failed = エージェントの実行に失敗しました。
error-internal = 内部エラーが発生しました。

# スレッドと再開。

error-state-unavailable = AG-UI アダプターの状態を利用できません。
error-run-id-used = この AG-UI 実行 ID はすでに使用されています。
error-thread-busy = この AG-UI スレッドではすでに実行が進行中です。
error-thread-binding = この AG-UI スレッドはすでに別のワークスペースまたは呼び出し元に関連付けられています。
error-resume-required = この AG-UI スレッドは割り込みへの回答を待っています。
error-resume-required-for = この AG-UI スレッドは次の割り込みへの回答を待っています: { $ids }
error-execution-gone = 再開しようとした実行はもう利用できません。
error-resume-mismatch = 再開リクエストが中断された実行と一致しません。
error-task-gone = 再開しようとした A2A タスクは利用できません。
error-session-gone = 再開しようとした iac-code セッションは利用できません。
error-resume-duplicate = 再開リクエストに重複した割り込み ID が含まれています。
error-resume-incomplete = 再開リクエストでは、未回答の割り込みすべてに 1 回ずつ回答してください。
error-unknown-interrupt = 再開リクエストが不明な割り込みを参照しています。
error-payload-missing = 解決済みの割り込みには回答の内容が必要です。
error-payload-invalid = 割り込みへの回答の内容が無効です。
error-answer-missing = 割り込みへの回答に選択肢もテキストも含まれていません。
error-already-applied = この割り込みへの回答はすでに適用されています。
error-execution-expired = この割り込みは期限切れのため、回答できません。
error-backup-syncing = セッションのバックアップを同期中です。{ $seconds } 秒後にもう一度お試しください。
error-backup-blocked = セッションのバックアップがまだ完了していません。しばらくしてからもう一度お試しください。
error-persist-execution = 実行の関連付けを保存できませんでした。
error-persist-session = 実行セッションの関連付けを保存できませんでした。
error-persist-interrupt = 中断された実行の状態を保存できませんでした。
error-persist-answer = 受け付けた割り込みへの回答を保存できませんでした。

# A2A サービス。

error-a2a-unavailable = ローカルの A2A 実行サービスを利用できません。
error-a2a-silent = ローカルの A2A 実行サービスが応答しなくなりました。
error-a2a-cut = ローカルの A2A 実行サービスとの接続が切れました。
error-a2a-unreadable = ローカルの A2A 実行サービスから解釈できない応答がありました。
error-answer-not-accepted = A2A の割り込みへの回答が受け付けられませんでした。
error-permission-not-accepted = A2A の許可要求への回答が受け付けられませんでした。
error-answer-rejected = ローカルの A2A 実行サービスが割り込みへの回答を拒否しました。
error-context-changed = A2A コンテキストの識別情報が予期せず変わりました。
error-task-changed = A2A タスクの識別情報が予期せず変わりました。
error-task-mismatch = A2A タスクの識別情報が中断された実行と一致しません。
error-session-changed = iac-code セッションの識別情報が予期せず変わりました。
error-interrupt-task = 別の A2A タスクに属する割り込みがあります。
error-interrupt-context = 別の A2A コンテキストに属する割り込みがあります。
error-execution-failed = A2A の実行に失敗しました。
error-execution-failed-with-id = A2A の実行に失敗しました。エラー ID: { $errorId }
error-execution-failed-for-now = A2A の実行が一時的な原因で失敗しました。もう一度お試しください。
error-request-refused = ローカルの A2A 実行サービスがリクエストを拒否しました。
error-request-refused-for = ローカルの A2A 実行サービスがリクエストを拒否しました。理由: { $reason }
error-permission-suspended = 許可を待つ間に実行が中断されました。しばらくしてからもう一度お試しください。
error-sign-in-needed = 実行を続けるには、先にサインインしてください。
error-cancelled = 実行はキャンセルされました。
error-cancelled-by-answer = 割り込みへの回答により、実行はキャンセルされました。
error-execution-not-found = 実行が見つかりませんでした。
error-run-not-found = AG-UI 実行が見つかりませんでした。
error-events-lost = AG-UI 実行の一部のイベントはもう保持されていません。このエラーの ID から読み続けると残りを取得できます。

# ユーザーへの質問。

interrupt-permission = 許可が必要です
interrupt-input = 入力が必要です
interrupt-sign-in = サインインが必要です
interrupt-candidate = 実施するプランを選択してください
interrupt-resource = クラウドリソースを選択してください
interrupt-deployment = デプロイを確認してください。クラウドリソースが作成または変更され、料金が発生することがあります。
interrupt-pause = パイプラインは一時停止しています。続行しますか？
interrupt-backup-blocked = セッションのバックアップがブロックされているため、パイプラインを続行できません。もう一度試しますか？
interrupt-identity = クラウドの ID を検証できなかったため、回答は適用されませんでした。認証情報を確認し、もう一度回答してください。
notice-permission-downgraded = この操作は許可されましたが、実行サービスが承認を記録できなかったため、拒否として扱われました。操作は実行されていません。
option-allow-once = 今回のみ許可
option-deny = 拒否
option-yes = はい
option-no = いいえ
option-continue = 続行
option-stop = 停止
option-deploy = デプロイする
option-do-not-deploy = デプロイしない
option-try-again = 再試行
label-decision = 決定
label-choice = 選択
label-free-text = 回答
label-resource = リソース
