// Not for building: the definitions of other operators' kinds are read from these modules. `go mod tidy` would drop them.
module mainstay/control-plane/definitions

go 1.26.0

require (
	github.com/RedHatInsights/cyndi-operator v0.1.13
	github.com/cert-manager/cert-manager v1.21.2
	github.com/kedacore/keda/v2 v2.21.0
	github.com/openshift/api v0.0.0-20240124164020-e2ce40831f2e
	github.com/operator-framework/api v0.30.0
	github.com/prometheus-operator/prometheus-operator v0.85.0
	knative.dev/operator v0.42.2
	sigs.k8s.io/gateway-api v1.5.1
)
