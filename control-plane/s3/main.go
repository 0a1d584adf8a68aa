// Command s3 is an S3 server for tests: buckets in memory, requests checked for their signature.
//
//	s3 --access-key KEY --secret-key KEY
//
// It listens on a free loopback port. Its first line is the address, every other one the name of a new bucket.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"
)

func main() {
	access := flag.String("access-key", "", "access key that requests are signed with")
	secret := flag.String("secret-key", "", "secret key that belongs to it")
	flag.Parse()
	if err := serve(*access, *secret); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// store tells of the buckets that it makes.
type store struct {
	*s3mem.Backend
}

func (s store) CreateBucket(ctx context.Context, name string) error {
	err := s.Backend.CreateBucket(ctx, name)
	if err == nil {
		fmt.Println(name)
	}
	return err
}

func serve(access, secret string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	keys := map[string]string{access: secret}
	server := gofakes3.New(store{s3mem.New()}, gofakes3.WithV4Auth(keys))
	return http.Serve(listener, server.Server())
}
