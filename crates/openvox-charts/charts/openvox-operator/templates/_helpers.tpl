{{/* The name that all objects share. */}}
{{- define "openvox-operator.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $joined := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- .Values.fullnameOverride | default $joined | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* The labels by which the Deployment and the Service find pods. */}}
{{- define "openvox-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The labels of all objects. */}}
{{- define "openvox-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "openvox-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "openvox-operator.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "openvox-operator.fullname" .) "default") -}}
{{- end }}

{{/* The one namespace that the operator works in; empty for all. */}}
{{- define "openvox-operator.watchNamespace" -}}
{{- if eq .Values.scope.mode "namespace" -}}
{{- .Values.scope.watchNamespace | default .Release.Namespace -}}
{{- else if ne .Values.scope.mode "cluster" -}}
{{- fail (printf "scope.mode is `cluster` or `namespace`, not `%s`" .Values.scope.mode) -}}
{{- end -}}
{{- end }}

{{/* The Secret with the certificate of the webhooks. */}}
{{- define "openvox-operator.certificateSecret" -}}
{{- if .Values.webhook.certManager.enabled -}}
{{- printf "%s-webhook-cert" (include "openvox-operator.fullname" .) -}}
{{- else -}}
{{- .Values.webhook.tls.certSecret | default (printf "%s-webhook-cert" (include "openvox-operator.fullname" .)) -}}
{{- end -}}
{{- end }}
