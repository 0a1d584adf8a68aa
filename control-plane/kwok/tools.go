//go:build tools

// Package tools names the programs that this module pins, so that `go mod tidy` keeps their dependencies.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
