module mainstay/control-plane/pki

go 1.25.0
