// Not for building: the definitions of other operators' kinds are read from these modules. `go mod tidy` would drop them.
module mainstay/control-plane/definitions-oldest

go 1.26.0

require (
	github.com/RedHatInsights/cyndi-operator v0.1.9
	github.com/cert-manager/cert-manager v1.19.0
	github.com/kedacore/keda/v2 v2.19.0
	github.com/prometheus-operator/prometheus-operator v0.83.0
)
