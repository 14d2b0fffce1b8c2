# Solicitações.

error-invalid-input = A solicitação não é válida.
field-problem =
    { $kind ->
        [missing] O campo { $pointer } está ausente.
        [wrong-type] O campo { $pointer } não é do tipo correto.
        [unknown-key] O campo { $pointer } não é reconhecido.
        [out-of-range] O campo { $pointer } contém um valor não permitido.
        [duplicate-key] O campo { $pointer } aparece duas vezes.
        [syntax] O campo { $pointer } não contém JSON válido.
       *[other] O campo { $pointer } não é válido.
    }
error-input-envelope = A entrada RunAgentInput do AG-UI não é válida. { field-problem }
error-input-extension = As propriedades encaminhadas do iac-code não são válidas. { field-problem }
error-input-tools = Ferramentas fornecidas pelo cliente não são aceitas. Campo: /tools
error-input-guidance = A orientação durante a execução só é possível no modo pipeline. Campo: /forwardedProps/iacCode/activeGuidance
error-workspace-not-absolute = O espaço de trabalho do iac-code deve ser um caminho absoluto. Campo: /forwardedProps/iacCode/cwd
error-workspace-invalid = O espaço de trabalho do iac-code não é válido. Campo: /forwardedProps/iacCode/cwd
error-workspace-outside = O espaço de trabalho do iac-code está fora dos diretórios permitidos. Campo: /forwardedProps/iacCode/cwd
error-workspace-not-directory = O espaço de trabalho do iac-code não é um diretório. Campo: /forwardedProps/iacCode/cwd
error-workspace-not-created = Não é possível criar o espaço de trabalho do iac-code. Campo: /forwardedProps/iacCode/cwd
error-message-missing = Uma nova execução requer uma mensagem do usuário. Campo: /messages
error-message-content = O conteúdo da mensagem do usuário não é válido. Campo: { $pointer }
error-message-part = Somente texto e imagens incorporadas são aceitos. Campo: { $pointer }
error-media-remote = Mídias em endereços remotos não são aceitas. Campo: { $pointer }
error-image-type = Este tipo de imagem não é aceito. Campo: { $pointer }
error-image-base64 = Os dados da imagem não são base64 válido. Campo: { $pointer }
error-image-too-large = Uma imagem excede o tamanho máximo. Campo: { $pointer }
error-images-too-large = O conjunto das imagens excede o tamanho máximo. Campo: /messages
error-image-invalid = Os dados da imagem não são válidos. Campo: { $pointer }
error-cancel-ids = threadId e rosInvocationId são obrigatórios.

# HTTP.

error-unauthorized = É necessário um token de acesso (bearer) válido.
error-access-denied = Acesso negado.
error-forbidden-origin = Solicitações desta origem não são permitidas.
error-forbidden-host = Solicitações para este nome de host não são permitidas.
error-content-type = Content-Type deve ser application/json.
error-not-acceptable = A resposta só pode ser enviada como text/event-stream.
error-run-body-too-large = O corpo da solicitação AG-UI é grande demais.
error-cancel-body-too-large = O corpo da solicitação de cancelamento é grande demais.
error-run-body-not-json = O corpo da solicitação não é JSON válido.
error-cancel-body-not-json = O corpo da solicitação de cancelamento não é JSON válido.
error-run-body-not-object = RunAgentInput deve ser um objeto JSON.
error-cancel-body-not-object = A solicitação de cancelamento deve ser um objeto JSON.
error-not-found = O caminho solicitado não existe.
error-method-not-allowed-except = Este caminho aceita somente { $methods }.
error-method-not-allowed = Este caminho não aceita este método.
error-upgrade-required = Este caminho aceita somente conexões WebSocket.
error-request-timeout = A solicitação não foi recebida a tempo.
error-rate-limited = Muitas solicitações. Tente novamente mais tarde.
error-rate-limited-for =
    { $seconds ->
        [one] Muitas solicitações. Tente novamente em { $seconds } segundo.
       *[other] Muitas solicitações. Tente novamente em { $seconds } segundos.
    }
error-session-busy = A sessão já está processando uma solicitação.
error-server-busy = O servidor está ocupado. Tente novamente mais tarde.
error-shutting-down = O servidor está sendo encerrado. Tente novamente mais tarde.
error-agent-failed = A execução do agente falhou.
error-internal = Ocorreu um erro interno.

# Conversas e retomadas.

error-state-unavailable = O estado do adaptador AG-UI não está disponível.
error-run-id-used = Este identificador de execução AG-UI já foi usado.
error-thread-busy = A conversa AG-UI já tem uma execução ativa.
error-thread-binding = A conversa AG-UI já está vinculada a outro espaço de trabalho ou a outro solicitante.
error-resume-required = A conversa AG-UI está aguardando respostas às interrupções.
error-resume-required-for = A conversa AG-UI está aguardando respostas a estas interrupções: { $ids }
error-execution-gone = A execução a retomar não está mais disponível.
error-resume-mismatch = A solicitação de retomada não corresponde à execução interrompida.
error-task-gone = A tarefa A2A a retomar não está disponível.
error-session-gone = A sessão do iac-code a retomar não está disponível.
error-resume-duplicate = A retomada contém identificadores de interrupção duplicados.
error-resume-incomplete = A retomada deve responder exatamente uma vez a cada interrupção pendente.
error-unknown-interrupt = A retomada faz referência a uma interrupção desconhecida.
error-payload-missing = Uma interrupção resolvida requer um conteúdo de resposta.
error-payload-invalid = O conteúdo da resposta à interrupção não é válido.
error-answer-missing = A resposta à interrupção não contém nenhuma opção nem texto.
error-already-applied = A resposta à interrupção já foi aplicada.
error-execution-expired = A interrupção expirou e não pode mais ser respondida.
error-backup-syncing =
    { $seconds ->
        [one] O backup da sessão ainda está sendo sincronizado. Tente novamente em { $seconds } segundo.
       *[other] O backup da sessão ainda está sendo sincronizado. Tente novamente em { $seconds } segundos.
    }
error-backup-blocked = O backup da sessão ainda não foi concluído. Tente novamente mais tarde.
error-persist-execution = Não foi possível salvar a associação da execução.
error-persist-session = Não foi possível salvar a associação da sessão de execução.
error-persist-interrupt = Não foi possível salvar o estado da execução interrompida.
error-persist-answer = Não foi possível salvar a resposta aceita à interrupção.

# Serviço A2A.

error-a2a-unavailable = O serviço local de execução A2A não está disponível.
error-a2a-silent = O serviço local de execução A2A parou de responder.
error-a2a-cut = A conexão com o serviço local de execução A2A foi perdida.
error-a2a-unreadable = O serviço local de execução A2A enviou uma resposta incompreensível.
error-answer-not-accepted = A resposta à interrupção A2A não foi aceita.
error-permission-not-accepted = A resposta à solicitação de permissão A2A não foi aceita.
error-answer-rejected = O serviço local de execução A2A rejeitou a resposta à interrupção.
error-context-changed = A identidade do contexto A2A mudou de forma inesperada.
error-task-changed = A identidade da tarefa A2A mudou de forma inesperada.
error-task-mismatch = A identidade da tarefa A2A não corresponde à execução interrompida.
error-session-changed = A identidade da sessão do iac-code mudou de forma inesperada.
error-interrupt-task = Uma interrupção pertence a outra tarefa A2A.
error-interrupt-context = Uma interrupção pertence a outro contexto A2A.
error-execution-failed = A execução A2A falhou.
error-execution-failed-with-id = A execução A2A falhou. Identificador do erro: { $errorId }
error-execution-failed-for-now = A execução A2A falhou por um motivo temporário. Tente novamente.
error-request-refused = O serviço local de execução A2A recusou a solicitação.
error-request-refused-for = O serviço local de execução A2A recusou a solicitação. Motivo: { $reason }
error-permission-suspended = A execução foi suspensa enquanto aguardava uma permissão. Tente novamente mais tarde.
error-sign-in-needed = Para continuar a execução, primeiro é necessário entrar na sua conta.
error-cancelled = A execução foi cancelada.
error-cancelled-by-answer = A execução foi cancelada pela resposta à interrupção.
error-execution-not-found = A execução não foi encontrada.
error-run-not-found = A execução AG-UI não foi encontrada.
error-events-lost = Alguns eventos da execução AG-UI não estão mais guardados. Continue a leitura a partir do identificador deste erro para obter os demais.

# Perguntas ao usuário.

interrupt-permission = Permissão necessária
interrupt-input = Resposta necessária
interrupt-sign-in = É necessário entrar na conta
interrupt-candidate = Escolha a solução a ser implementada
interrupt-resource = Escolha um recurso de nuvem
interrupt-deployment = Confirme a implantação. Ela cria ou altera recursos de nuvem e pode gerar custos.
interrupt-pause = O pipeline está pausado. Deseja continuar?
interrupt-backup-blocked = O backup da sessão está bloqueado e o pipeline não pode continuar. Deseja tentar novamente?
interrupt-identity = Não foi possível verificar sua identidade na nuvem e sua resposta não foi aplicada. Verifique as credenciais e responda novamente.
notice-permission-downgraded = Você permitiu esta ação, mas o serviço de execução não conseguiu registrar sua aprovação e a considerou negada. A ação não foi realizada.
option-allow-once = Permitir uma vez
option-deny = Negar
option-yes = Sim
option-no = Não
option-continue = Continuar
option-stop = Parar
option-deploy = Implantar
option-do-not-deploy = Não implantar
option-try-again = Tentar novamente
label-decision = Decisão
label-choice = Sua escolha
label-free-text = Sua resposta
label-resource = Recurso
