//go:build tools

// Package tools names the programs that this module pins, so that `go mod tidy` keeps their dependencies.
package tools

import (
	_ "filippo.io/age/cmd/age"
	_ "filippo.io/age/cmd/age-keygen"
	_ "github.com/getsops/sops/v3/cmd/sops"
)
