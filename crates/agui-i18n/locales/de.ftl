# Anfragen.

error-invalid-input = Die Anfrage ist ungültig.
field-problem =
    { $kind ->
        [missing] Das Feld { $pointer } fehlt.
        [wrong-type] Das Feld { $pointer } hat den falschen Typ.
        [unknown-key] Das Feld { $pointer } ist nicht bekannt.
        [out-of-range] Das Feld { $pointer } enthält einen unzulässigen Wert.
        [duplicate-key] Das Feld { $pointer } ist doppelt angegeben.
        [syntax] Das Feld { $pointer } enthält kein gültiges JSON.
       *[other] Das Feld { $pointer } ist ungültig.
    }
error-input-envelope = Die AG-UI-Eingabe RunAgentInput ist ungültig. { field-problem }
error-input-extension = Die weitergeleiteten iac-code-Eigenschaften sind ungültig. { field-problem }
error-input-tools = Vom Client bereitgestellte Werkzeuge werden nicht unterstützt. Feld: /tools
error-input-guidance = Hinweise an eine laufende Ausführung sind nur im Pipeline-Modus möglich. Feld: /forwardedProps/iacCode/activeGuidance
error-workspace-not-absolute = Der iac-code-Arbeitsbereich muss ein absoluter Pfad sein. Feld: /forwardedProps/iacCode/cwd
error-workspace-invalid = Der iac-code-Arbeitsbereich ist ungültig. Feld: /forwardedProps/iacCode/cwd
error-workspace-outside = Der iac-code-Arbeitsbereich liegt außerhalb der erlaubten Verzeichnisse. Feld: /forwardedProps/iacCode/cwd
error-workspace-not-directory = Der iac-code-Arbeitsbereich ist kein Verzeichnis. Feld: /forwardedProps/iacCode/cwd
error-workspace-not-created = Der iac-code-Arbeitsbereich kann nicht angelegt werden. Feld: /forwardedProps/iacCode/cwd
error-message-missing = Eine neue Ausführung benötigt eine Nachricht des Benutzers. Feld: /messages
error-message-content = Der Inhalt der Benutzernachricht ist ungültig. Feld: { $pointer }
error-message-part = Nur Text und eingebettete Bilder werden unterstützt. Feld: { $pointer }
error-media-remote = Medien unter entfernten Adressen werden nicht unterstützt. Feld: { $pointer }
error-image-type = Dieser Bildtyp wird nicht unterstützt. Feld: { $pointer }
error-image-base64 = Die Bilddaten sind kein gültiges Base64. Feld: { $pointer }
error-image-too-large = Ein Bild überschreitet die maximale Größe. Feld: { $pointer }
error-images-too-large = Alle Bilder zusammen überschreiten die maximale Größe. Feld: /messages
error-image-invalid = Die Bilddaten sind ungültig. Feld: { $pointer }
error-cancel-ids = threadId und rosInvocationId sind erforderlich.

# HTTP.

error-unauthorized = Ein gültiges Bearer-Token ist erforderlich.
error-access-denied = Der Zugriff wurde verweigert.
error-forbidden-origin = Anfragen von diesem Ursprung sind nicht erlaubt.
error-forbidden-host = Anfragen an diesen Hostnamen sind nicht erlaubt.
error-content-type = Content-Type muss application/json sein.
error-not-acceptable = Die Antwort kann nur als text/event-stream gesendet werden.
error-run-body-too-large = Der Inhalt der AG-UI-Anfrage ist zu groß.
error-cancel-body-too-large = Der Inhalt der Abbruchanfrage ist zu groß.
error-run-body-not-json = Der Inhalt der Anfrage ist kein gültiges JSON.
error-cancel-body-not-json = Der Inhalt der Abbruchanfrage ist kein gültiges JSON.
error-run-body-not-object = RunAgentInput muss ein JSON-Objekt sein.
error-cancel-body-not-object = Die Abbruchanfrage muss ein JSON-Objekt sein.
error-not-found = Der angeforderte Pfad existiert nicht.
error-method-not-allowed-except = Dieser Pfad akzeptiert nur { $methods }.
error-method-not-allowed = Dieser Pfad akzeptiert diese Methode nicht.
error-upgrade-required = Dieser Pfad akzeptiert nur WebSocket-Verbindungen.
error-request-timeout = Die Anfrage wurde nicht rechtzeitig empfangen.
error-rate-limited = Zu viele Anfragen. Versuchen Sie es später erneut.
error-rate-limited-for =
    { $seconds ->
        [one] Zu viele Anfragen. Versuchen Sie es in { $seconds } Sekunde erneut.
       *[other] Zu viele Anfragen. Versuchen Sie es in { $seconds } Sekunden erneut.
    }
error-session-busy = Die Sitzung bearbeitet bereits eine Anfrage.
error-server-busy = Der Server ist ausgelastet. Versuchen Sie es später erneut.
error-shutting-down = Der Server wird gerade beendet. Versuchen Sie es später erneut.
error-agent-failed = Die Ausführung des Agenten ist fehlgeschlagen.
error-internal = Ein interner Fehler ist aufgetreten.

# Threads und Fortsetzungen.

error-state-unavailable = Der Zustand des AG-UI-Adapters ist nicht verfügbar.
error-run-id-used = Diese AG-UI-Ausführungs-ID wurde bereits verwendet.
error-thread-busy = In diesem AG-UI-Thread läuft bereits eine Ausführung.
error-thread-binding = Dieser AG-UI-Thread ist bereits an einen anderen Arbeitsbereich oder Aufrufer gebunden.
error-resume-required = Dieser AG-UI-Thread wartet auf Antworten zu Unterbrechungen.
error-resume-required-for = Dieser AG-UI-Thread wartet auf Antworten zu diesen Unterbrechungen: { $ids }
error-execution-gone = Die fortzusetzende Ausführung ist nicht mehr verfügbar.
error-resume-mismatch = Die Fortsetzungsanfrage passt nicht zur unterbrochenen Ausführung.
error-task-gone = Die fortzusetzende A2A-Aufgabe ist nicht verfügbar.
error-session-gone = Die fortzusetzende iac-code-Sitzung ist nicht verfügbar.
error-resume-duplicate = Die Fortsetzung enthält doppelte Unterbrechungs-IDs.
error-resume-incomplete = Die Fortsetzung muss jede offene Unterbrechung genau einmal beantworten.
error-unknown-interrupt = Die Fortsetzung verweist auf eine unbekannte Unterbrechung.
error-payload-missing = Eine beantwortete Unterbrechung benötigt einen Antwortinhalt.
error-payload-invalid = Der Antwortinhalt zur Unterbrechung ist ungültig.
error-answer-missing = Die Antwort auf die Unterbrechung enthält keine Auswahl und keinen Text.
error-already-applied = Die Antwort auf die Unterbrechung wurde bereits angewendet.
error-execution-expired = Die Unterbrechung ist abgelaufen und kann nicht mehr beantwortet werden.
error-backup-syncing =
    { $seconds ->
        [one] Die Sitzungssicherung wird noch synchronisiert. Versuchen Sie es in { $seconds } Sekunde erneut.
       *[other] Die Sitzungssicherung wird noch synchronisiert. Versuchen Sie es in { $seconds } Sekunden erneut.
    }
error-backup-blocked = Die Sitzungssicherung ist noch nicht abgeschlossen. Versuchen Sie es später erneut.
error-persist-execution = Die Zuordnung der Ausführung konnte nicht gespeichert werden.
error-persist-session = Die Zuordnung der Ausführungssitzung konnte nicht gespeichert werden.
error-persist-interrupt = Der Zustand der unterbrochenen Ausführung konnte nicht gespeichert werden.
error-persist-answer = Die angenommene Antwort auf die Unterbrechung konnte nicht gespeichert werden.

# A2A-Dienst.

error-a2a-unavailable = Der lokale A2A-Ausführungsdienst ist nicht verfügbar.
error-a2a-silent = Der lokale A2A-Ausführungsdienst antwortet nicht mehr.
error-a2a-cut = Die Verbindung zum lokalen A2A-Ausführungsdienst ist abgebrochen.
error-a2a-unreadable = Der lokale A2A-Ausführungsdienst hat eine unverständliche Antwort gesendet.
error-answer-not-accepted = Die Antwort auf die A2A-Unterbrechung wurde nicht angenommen.
error-permission-not-accepted = Die Antwort auf die A2A-Berechtigungsanfrage wurde nicht angenommen.
error-answer-rejected = Der lokale A2A-Ausführungsdienst hat die Antwort auf die Unterbrechung abgelehnt.
error-context-changed = Die Identität des A2A-Kontexts hat sich unerwartet geändert.
error-task-changed = Die Identität der A2A-Aufgabe hat sich unerwartet geändert.
error-task-mismatch = Die Identität der A2A-Aufgabe passt nicht zur unterbrochenen Ausführung.
error-session-changed = Die Identität der iac-code-Sitzung hat sich unerwartet geändert.
error-interrupt-task = Eine Unterbrechung gehört zu einer anderen A2A-Aufgabe.
error-interrupt-context = Eine Unterbrechung gehört zu einem anderen A2A-Kontext.
error-execution-failed = Die A2A-Ausführung ist fehlgeschlagen.
error-execution-failed-with-id = Die A2A-Ausführung ist fehlgeschlagen. Fehler-ID: { $errorId }
error-execution-failed-for-now = Die A2A-Ausführung ist aus einem vorübergehenden Grund fehlgeschlagen. Versuchen Sie es erneut.
error-request-refused = Der lokale A2A-Ausführungsdienst hat die Anfrage abgelehnt.
error-request-refused-for = Der lokale A2A-Ausführungsdienst hat die Anfrage abgelehnt. Grund: { $reason }
error-permission-suspended = Die Ausführung wurde beim Warten auf eine Berechtigung ausgesetzt. Versuchen Sie es später erneut.
error-sign-in-needed = Für diese Ausführung müssen Sie sich zuerst anmelden.
error-cancelled = Die Ausführung wurde abgebrochen.
error-cancelled-by-answer = Die Ausführung wurde durch die Antwort auf die Unterbrechung abgebrochen.
error-execution-not-found = Die Ausführung wurde nicht gefunden.
error-run-not-found = Die AG-UI-Ausführung wurde nicht gefunden.
error-events-lost = Einige Ereignisse der AG-UI-Ausführung sind nicht mehr vorhanden. Lesen Sie ab der ID dieses Fehlers weiter, um die übrigen zu erhalten.

# Fragen an den Benutzer.

interrupt-permission = Berechtigung erforderlich
interrupt-input = Eingabe erforderlich
interrupt-sign-in = Anmeldung erforderlich
interrupt-candidate = Wählen Sie die umzusetzende Lösung aus
interrupt-resource = Wählen Sie eine Cloud-Ressource aus
interrupt-deployment = Bestätigen Sie die Bereitstellung. Sie erstellt oder ändert Cloud-Ressourcen und kann Kosten verursachen.
interrupt-pause = Die Pipeline ist angehalten. Möchten Sie fortfahren?
interrupt-backup-blocked = Die Sitzungssicherung ist blockiert, deshalb kann die Pipeline nicht fortgesetzt werden. Möchten Sie es erneut versuchen?
interrupt-identity = Ihre Cloud-Identität konnte nicht überprüft werden, deshalb wurde Ihre Antwort nicht angewendet. Prüfen Sie die Zugangsdaten und antworten Sie erneut.
notice-permission-downgraded = Sie haben diese Aktion erlaubt, aber der Ausführungsdienst konnte Ihre Zustimmung nicht festhalten und hat sie als Ablehnung gewertet. Die Aktion wurde nicht ausgeführt.
option-allow-once = Einmal erlauben
option-deny = Ablehnen
option-yes = Ja
option-no = Nein
option-continue = Fortfahren
option-stop = Beenden
option-deploy = Bereitstellen
option-do-not-deploy = Nicht bereitstellen
option-try-again = Erneut versuchen
label-decision = Entscheidung
label-choice = Ihre Auswahl
label-free-text = Ihre Antwort
label-resource = Ressource
