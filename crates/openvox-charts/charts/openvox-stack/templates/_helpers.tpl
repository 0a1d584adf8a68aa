{{- define "openvox-stack.fullname" -}}
{{- .Values.fullnameOverride | default .Release.Name -}}
{{- end }}

{{- define "openvox-stack.config" -}}
{{- .Values.config.name | default (include "openvox-stack.fullname" .) -}}
{{- end }}

{{- define "openvox-stack.ca" -}}
{{- .Values.ca.name | default (printf "%s-ca" (include "openvox-stack.fullname" .)) -}}
{{- end }}

{{- define "openvox-stack.database" -}}
{{- required "database.name is required when database.enabled is true" .Values.database.name -}}
{{- end }}

{{- define "openvox-stack.nodeClassifier" -}}
{{- .Values.nodeClassifier.name | default (printf "%s-enc" (include "openvox-stack.fullname" .)) -}}
{{- end }}

{{/* What every object says of where it comes from. */}}
{{- define "openvox-stack.metadata" -}}
namespace: {{ .Release.Namespace | quote }}
labels:
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
  app.kubernetes.io/instance: {{ .Release.Name }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The name of an entry of a list, or its key if entries stand in a mapping. */}}
{{- define "openvox-stack.entry" -}}
{{- $name := .entry.name | default (kindIs "string" .key | ternary .key "") -}}
{{- required (printf "%s[%v].name is required" .of .key) $name -}}
{{- end }}
