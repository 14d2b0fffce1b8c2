# Requêtes.

error-invalid-input = La requête n’est pas valide.
field-problem =
    { $kind ->
        [missing] Le champ { $pointer } est absent.
        [wrong-type] Le champ { $pointer } n’a pas le bon type.
        [unknown-key] Le champ { $pointer } n’est pas reconnu.
        [out-of-range] Le champ { $pointer } contient une valeur non autorisée.
        [duplicate-key] Le champ { $pointer } est indiqué deux fois.
        [syntax] Le champ { $pointer } ne contient pas de JSON valide.
       *[other] Le champ { $pointer } n’est pas valide.
    }
error-input-envelope = L’enveloppe AG-UI RunAgentInput n’est pas valide. { field-problem }
error-input-extension = Les propriétés iac-code transmises ne sont pas valides. { field-problem }
error-input-tools = Les outils fournis par le client ne sont pas pris en charge. Champ : /tools
error-input-guidance = Le guidage en cours d’exécution n’est possible qu’en mode pipeline. Champ : /forwardedProps/iacCode/activeGuidance
error-workspace-not-absolute = L’espace de travail iac-code doit être un chemin absolu. Champ : /forwardedProps/iacCode/cwd
error-workspace-invalid = L’espace de travail iac-code n’est pas valide. Champ : /forwardedProps/iacCode/cwd
error-workspace-outside = L’espace de travail iac-code se trouve hors des répertoires autorisés. Champ : /forwardedProps/iacCode/cwd
error-workspace-not-directory = L’espace de travail iac-code n’est pas un répertoire. Champ : /forwardedProps/iacCode/cwd
error-workspace-not-created = L’espace de travail iac-code ne peut pas être créé. Champ : /forwardedProps/iacCode/cwd
error-message-missing = Une nouvelle exécution nécessite un message de l’utilisateur. Champ : /messages
error-message-content = Le contenu du message de l’utilisateur n’est pas valide. Champ : { $pointer }
error-message-part = Seuls le texte et les images intégrées sont pris en charge. Champ : { $pointer }
error-media-remote = Les médias désignés par une adresse distante ne sont pas pris en charge. Champ : { $pointer }
error-image-type = Ce type d’image n’est pas pris en charge. Champ : { $pointer }
error-image-base64 = Les données de l’image ne sont pas en base64 valide. Champ : { $pointer }
error-image-too-large = Une image dépasse la taille maximale. Champ : { $pointer }
error-images-too-large = L’ensemble des images dépasse la taille maximale. Champ : /messages
error-image-invalid = Les données de l’image ne sont pas valides. Champ : { $pointer }
error-cancel-ids = threadId et rosInvocationId sont obligatoires.

# HTTP.

error-unauthorized = Un jeton d’accès (bearer) valide est requis.
error-access-denied = L’accès est refusé.
error-forbidden-origin = Les requêtes provenant de cette origine ne sont pas autorisées.
error-forbidden-host = Les requêtes destinées à ce nom d’hôte ne sont pas autorisées.
error-content-type = Content-Type doit être application/json.
error-not-acceptable = La réponse ne peut être envoyée qu’au format text/event-stream.
error-run-body-too-large = Le corps de la requête AG-UI est trop volumineux.
error-cancel-body-too-large = Le corps de la demande d’annulation est trop volumineux.
error-run-body-not-json = Le corps de la requête n’est pas du JSON valide.
error-cancel-body-not-json = Le corps de la demande d’annulation n’est pas du JSON valide.
error-run-body-not-object = RunAgentInput doit être un objet JSON.
error-cancel-body-not-object = La demande d’annulation doit être un objet JSON.
error-not-found = Le chemin demandé n’existe pas.
error-method-not-allowed-except = Ce chemin n’accepte que { $methods }.
error-method-not-allowed = Ce chemin n’accepte pas cette méthode.
error-upgrade-required = Ce chemin n’accepte que des connexions WebSocket.
error-request-timeout = La requête n’a pas été reçue à temps.
error-rate-limited = Trop de requêtes. Réessayez plus tard.
error-rate-limited-for =
    { $seconds ->
        [one] Trop de requêtes. Réessayez dans { $seconds } seconde.
       *[other] Trop de requêtes. Réessayez dans { $seconds } secondes.
    }
error-session-busy = La session traite déjà une requête.
error-server-busy = Le serveur est occupé. Réessayez plus tard.
error-shutting-down = Le serveur est en cours d’arrêt. Réessayez plus tard.
error-agent-failed = L’exécution de l’agent a échoué.
error-internal = Une erreur interne s’est produite.

# Fils et reprises.

error-state-unavailable = L’état de l’adaptateur AG-UI n’est pas disponible.
error-run-id-used = Cet identifiant d’exécution AG-UI a déjà été utilisé.
error-thread-busy = Une exécution est déjà active dans ce fil AG-UI.
error-thread-binding = Ce fil AG-UI est déjà lié à un autre espace de travail ou à un autre appelant.
error-resume-required = Ce fil AG-UI attend des réponses à ses interruptions.
error-resume-required-for = Ce fil AG-UI attend des réponses à ces interruptions : { $ids }
error-execution-gone = L’exécution à reprendre n’est plus disponible.
error-resume-mismatch = La demande de reprise ne correspond pas à l’exécution interrompue.
error-task-gone = La tâche A2A à reprendre n’est pas disponible.
error-session-gone = La session iac-code à reprendre n’est pas disponible.
error-resume-duplicate = La reprise contient des identifiants d’interruption en double.
error-resume-incomplete = La reprise doit répondre exactement une fois à chaque interruption en attente.
error-unknown-interrupt = La reprise désigne une interruption inconnue.
error-payload-missing = Une interruption résolue nécessite un contenu de réponse.
error-payload-invalid = Le contenu de la réponse à l’interruption n’est pas valide.
error-answer-missing = La réponse à l’interruption ne contient ni choix ni texte.
error-already-applied = La réponse à l’interruption a déjà été appliquée.
error-execution-expired = L’interruption a expiré et ne peut plus recevoir de réponse.
error-backup-syncing =
    { $seconds ->
        [one] La sauvegarde de la session est encore en cours de synchronisation. Réessayez dans { $seconds } seconde.
       *[other] La sauvegarde de la session est encore en cours de synchronisation. Réessayez dans { $seconds } secondes.
    }
error-backup-blocked = La sauvegarde de la session n’est pas encore terminée. Réessayez plus tard.
error-persist-execution = L’association de l’exécution n’a pas pu être enregistrée.
error-persist-session = L’association de la session d’exécution n’a pas pu être enregistrée.
error-persist-interrupt = L’état de l’exécution interrompue n’a pas pu être enregistré.
error-persist-answer = La réponse acceptée à l’interruption n’a pas pu être enregistrée.

# Service A2A.

error-a2a-unavailable = Le service d’exécution A2A local n’est pas disponible.
error-a2a-silent = Le service d’exécution A2A local ne répond plus.
error-a2a-cut = La connexion au service d’exécution A2A local a été perdue.
error-a2a-unreadable = Le service d’exécution A2A local a envoyé une réponse incompréhensible.
error-answer-not-accepted = La réponse à l’interruption A2A n’a pas été acceptée.
error-permission-not-accepted = La réponse à la demande d’autorisation A2A n’a pas été acceptée.
error-answer-rejected = Le service d’exécution A2A local a rejeté la réponse à l’interruption.
error-context-changed = L’identité du contexte A2A a changé de façon inattendue.
error-task-changed = L’identité de la tâche A2A a changé de façon inattendue.
error-task-mismatch = L’identité de la tâche A2A ne correspond pas à l’exécution interrompue.
error-session-changed = L’identité de la session iac-code a changé de façon inattendue.
error-interrupt-task = Une interruption appartient à une autre tâche A2A.
error-interrupt-context = Une interruption appartient à un autre contexte A2A.
error-execution-failed = L’exécution A2A a échoué.
error-execution-failed-with-id = L’exécution A2A a échoué. Identifiant de l’erreur : { $errorId }
error-execution-failed-for-now = L’exécution A2A a échoué pour une raison passagère. Réessayez.
error-request-refused = Le service d’exécution A2A local a refusé la requête.
error-request-refused-for = Le service d’exécution A2A local a refusé la requête. Motif : { $reason }
error-permission-suspended = L’exécution a été suspendue en attendant une autorisation. Réessayez plus tard.
error-sign-in-needed = Vous devez d’abord vous connecter pour poursuivre l’exécution.
error-cancelled = L’exécution a été annulée.
error-cancelled-by-answer = L’exécution a été annulée par la réponse à l’interruption.
error-execution-not-found = L’exécution est introuvable.
error-run-not-found = L’exécution AG-UI est introuvable.
error-events-lost = Certains événements de l’exécution AG-UI ne sont plus conservés. Reprenez la lecture à partir de l’identifiant de cette erreur pour obtenir la suite.

# Questions à l’utilisateur.

interrupt-permission = Autorisation requise
interrupt-input = Saisie requise
interrupt-sign-in = Connexion requise
interrupt-candidate = Choisissez la solution à mettre en œuvre
interrupt-resource = Choisissez une ressource cloud
interrupt-deployment = Confirmez le déploiement. Il crée ou modifie des ressources cloud et peut entraîner des coûts.
interrupt-pause = Le pipeline est en pause. Voulez-vous continuer ?
interrupt-backup-blocked = La sauvegarde de la session est bloquée et le pipeline ne peut pas se poursuivre. Voulez-vous réessayer ?
interrupt-identity = Votre identité cloud n’a pas pu être vérifiée et votre réponse n’a pas été appliquée. Vérifiez les informations d’identification, puis répondez à nouveau.
notice-permission-downgraded = Vous avez autorisé cette action, mais le service d’exécution n’a pas pu enregistrer votre accord et l’a considérée comme refusée. L’action n’a pas été effectuée.
option-allow-once = Autoriser une fois
option-deny = Refuser
option-yes = Oui
option-no = Non
option-continue = Continuer
option-stop = Arrêter
option-deploy = Déployer
option-do-not-deploy = Ne pas déployer
option-try-again = Réessayer
label-decision = Décision
label-choice = Votre choix
label-free-text = Votre réponse
label-resource = Ressource
