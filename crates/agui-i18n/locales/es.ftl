# Solicitudes.

error-invalid-input = La solicitud no es válida.
field-problem =
    { $kind ->
        [missing] Falta el campo { $pointer }.
        [wrong-type] El campo { $pointer } no es del tipo correcto.
        [unknown-key] El campo { $pointer } no se reconoce.
        [out-of-range] El campo { $pointer } contiene un valor no permitido.
        [duplicate-key] El campo { $pointer } aparece dos veces.
        [syntax] El campo { $pointer } no contiene JSON válido.
       *[other] El campo { $pointer } no es válido.
    }
error-input-envelope = La entrada RunAgentInput de AG-UI no es válida. { field-problem }
error-input-extension = Las propiedades reenviadas de iac-code no son válidas. { field-problem }
error-input-tools = No se admiten herramientas proporcionadas por el cliente. Campo: /tools
error-input-guidance = La orientación durante la ejecución solo es posible en modo pipeline. Campo: /forwardedProps/iacCode/activeGuidance
error-workspace-not-absolute = El espacio de trabajo de iac-code debe ser una ruta absoluta. Campo: /forwardedProps/iacCode/cwd
error-workspace-invalid = El espacio de trabajo de iac-code no es válido. Campo: /forwardedProps/iacCode/cwd
error-workspace-outside = El espacio de trabajo de iac-code está fuera de los directorios permitidos. Campo: /forwardedProps/iacCode/cwd
error-workspace-not-directory = El espacio de trabajo de iac-code no es un directorio. Campo: /forwardedProps/iacCode/cwd
error-workspace-not-created = No se puede crear el espacio de trabajo de iac-code. Campo: /forwardedProps/iacCode/cwd
error-message-missing = Una ejecución nueva requiere un mensaje del usuario. Campo: /messages
error-message-content = El contenido del mensaje del usuario no es válido. Campo: { $pointer }
error-message-part = Solo se admiten texto e imágenes incrustadas. Campo: { $pointer }
error-media-remote = No se admiten contenidos multimedia en direcciones remotas. Campo: { $pointer }
error-image-type = Este tipo de imagen no se admite. Campo: { $pointer }
error-image-base64 = Los datos de la imagen no son base64 válido. Campo: { $pointer }
error-image-too-large = Una imagen supera el tamaño máximo. Campo: { $pointer }
error-images-too-large = El conjunto de las imágenes supera el tamaño máximo. Campo: /messages
error-image-invalid = Los datos de la imagen no son válidos. Campo: { $pointer }
error-cancel-ids = threadId y rosInvocationId son obligatorios.

# HTTP.

error-unauthorized = Se requiere un token de acceso (bearer) válido.
error-access-denied = Acceso denegado.
error-forbidden-origin = No se permiten solicitudes desde este origen.
error-forbidden-host = No se permiten solicitudes para este nombre de host.
error-content-type = Content-Type debe ser application/json.
error-not-acceptable = La respuesta solo se puede enviar como text/event-stream.
error-run-body-too-large = El cuerpo de la solicitud AG-UI es demasiado grande.
error-cancel-body-too-large = El cuerpo de la solicitud de cancelación es demasiado grande.
error-run-body-not-json = El cuerpo de la solicitud no es JSON válido.
error-cancel-body-not-json = El cuerpo de la solicitud de cancelación no es JSON válido.
error-run-body-not-object = RunAgentInput debe ser un objeto JSON.
error-cancel-body-not-object = La solicitud de cancelación debe ser un objeto JSON.
error-not-found = La ruta solicitada no existe.
error-method-not-allowed-except = Esta ruta solo acepta { $methods }.
error-method-not-allowed = Esta ruta no acepta este método.
error-upgrade-required = Esta ruta solo acepta conexiones WebSocket.
error-request-timeout = La solicitud no se ha recibido a tiempo.
error-rate-limited = Demasiadas solicitudes. Inténtelo de nuevo más tarde.
error-rate-limited-for =
    { $seconds ->
        [one] Demasiadas solicitudes. Inténtelo de nuevo dentro de { $seconds } segundo.
       *[other] Demasiadas solicitudes. Inténtelo de nuevo dentro de { $seconds } segundos.
    }
error-session-busy = La sesión ya está procesando una solicitud.
error-server-busy = El servidor está ocupado. Inténtelo de nuevo más tarde.
error-shutting-down = El servidor se está cerrando. Inténtelo de nuevo más tarde.
error-agent-failed = La ejecución del agente ha fallado.
error-internal = Se ha producido un error interno.

# Hilos y reanudaciones.

error-state-unavailable = El estado del adaptador AG-UI no está disponible.
error-run-id-used = Este identificador de ejecución AG-UI ya se ha utilizado.
error-thread-busy = El hilo AG-UI ya tiene una ejecución activa.
error-thread-binding = El hilo AG-UI ya está vinculado a otro espacio de trabajo u otro solicitante.
error-resume-required = El hilo AG-UI está esperando respuestas a sus interrupciones.
error-resume-required-for = El hilo AG-UI está esperando respuestas a estas interrupciones: { $ids }
error-execution-gone = La ejecución que se quiere reanudar ya no está disponible.
error-resume-mismatch = La solicitud de reanudación no corresponde a la ejecución interrumpida.
error-task-gone = La tarea A2A que se quiere reanudar no está disponible.
error-session-gone = La sesión de iac-code que se quiere reanudar no está disponible.
error-resume-duplicate = La reanudación contiene identificadores de interrupción duplicados.
error-resume-incomplete = La reanudación debe responder exactamente una vez a cada interrupción pendiente.
error-unknown-interrupt = La reanudación hace referencia a una interrupción desconocida.
error-payload-missing = Una interrupción resuelta requiere un contenido de respuesta.
error-payload-invalid = El contenido de la respuesta a la interrupción no es válido.
error-answer-missing = La respuesta a la interrupción no contiene ninguna opción ni texto.
error-already-applied = La respuesta a la interrupción ya se ha aplicado.
error-execution-expired = La interrupción ha caducado y ya no se puede responder.
error-backup-syncing =
    { $seconds ->
        [one] La copia de seguridad de la sesión aún se está sincronizando. Inténtelo de nuevo dentro de { $seconds } segundo.
       *[other] La copia de seguridad de la sesión aún se está sincronizando. Inténtelo de nuevo dentro de { $seconds } segundos.
    }
error-backup-blocked = La copia de seguridad de la sesión aún no ha terminado. Inténtelo de nuevo más tarde.
error-persist-execution = No se ha podido guardar la asociación de la ejecución.
error-persist-session = No se ha podido guardar la asociación de la sesión de ejecución.
error-persist-interrupt = No se ha podido guardar el estado de la ejecución interrumpida.
error-persist-answer = No se ha podido guardar la respuesta aceptada a la interrupción.

# Servicio A2A.

error-a2a-unavailable = El servicio local de ejecución A2A no está disponible.
error-a2a-silent = El servicio local de ejecución A2A ha dejado de responder.
error-a2a-cut = Se ha perdido la conexión con el servicio local de ejecución A2A.
error-a2a-unreadable = El servicio local de ejecución A2A ha enviado una respuesta incomprensible.
error-answer-not-accepted = No se ha aceptado la respuesta a la interrupción A2A.
error-permission-not-accepted = No se ha aceptado la respuesta a la solicitud de permiso A2A.
error-answer-rejected = El servicio local de ejecución A2A ha rechazado la respuesta a la interrupción.
error-context-changed = La identidad del contexto A2A ha cambiado de forma inesperada.
error-task-changed = La identidad de la tarea A2A ha cambiado de forma inesperada.
error-task-mismatch = La identidad de la tarea A2A no corresponde a la ejecución interrumpida.
error-session-changed = La identidad de la sesión de iac-code ha cambiado de forma inesperada.
error-interrupt-task = Una interrupción pertenece a otra tarea A2A.
error-interrupt-context = Una interrupción pertenece a otro contexto A2A.
error-execution-failed = La ejecución A2A ha fallado.
error-execution-failed-with-id = La ejecución A2A ha fallado. Identificador del error: { $errorId }
error-execution-failed-for-now = La ejecución A2A ha fallado por una causa temporal. Inténtelo de nuevo.
error-request-refused = El servicio local de ejecución A2A ha rechazado la solicitud.
error-request-refused-for = El servicio local de ejecución A2A ha rechazado la solicitud. Motivo: { $reason }
error-permission-suspended = La ejecución se ha suspendido a la espera de un permiso. Inténtelo de nuevo más tarde.
error-sign-in-needed = Para continuar la ejecución, primero debe iniciar sesión.
error-cancelled = La ejecución se ha cancelado.
error-cancelled-by-answer = La respuesta a la interrupción ha cancelado la ejecución.
error-execution-not-found = No se ha encontrado la ejecución.
error-run-not-found = No se ha encontrado la ejecución AG-UI.
error-events-lost = Algunos eventos de la ejecución AG-UI ya no se conservan. Siga leyendo desde el identificador de este error para obtener el resto.

# Preguntas al usuario.

interrupt-permission = Se requiere permiso
interrupt-input = Se requiere una respuesta
interrupt-sign-in = Es necesario iniciar sesión
interrupt-candidate = Elija la solución que se va a implementar
interrupt-resource = Elija un recurso en la nube
interrupt-deployment = Confirme el despliegue. Crea o modifica recursos en la nube y puede generar costes.
interrupt-pause = El pipeline está en pausa. ¿Desea continuar?
interrupt-backup-blocked = La copia de seguridad de la sesión está bloqueada y el pipeline no puede continuar. ¿Desea intentarlo de nuevo?
interrupt-identity = No se ha podido verificar su identidad en la nube y su respuesta no se ha aplicado. Compruebe las credenciales y responda de nuevo.
notice-permission-downgraded = Usted ha permitido esta acción, pero el servicio de ejecución no ha podido registrar su aprobación y la ha considerado denegada. La acción no se ha realizado.
option-allow-once = Permitir una vez
option-deny = Denegar
option-yes = Sí
option-no = No
option-continue = Continuar
option-stop = Detener
option-deploy = Desplegar
option-do-not-deploy = No desplegar
option-try-again = Reintentar
label-decision = Decisión
label-choice = Su elección
label-free-text = Su respuesta
label-resource = Recurso
