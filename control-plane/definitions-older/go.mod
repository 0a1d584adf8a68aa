// Not for building: the definitions of other operators' kinds are read from these modules. `go mod tidy` would drop them.
module mainstay/control-plane/definitions-older

go 1.26.0

require (
	github.com/RedHatInsights/cyndi-operator v0.1.12
	github.com/cert-manager/cert-manager v1.20.0
	github.com/kedacore/keda/v2 v2.20.0
	github.com/prometheus-operator/prometheus-operator v0.84.0
)
