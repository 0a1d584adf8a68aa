//go:build tools

// Package tools names the program that this module pins, so that `go mod tidy` keeps its dependencies.
package tools

import (
	_ "helm.sh/helm/v4/cmd/helm"
)
