// Overlay writes what go build -overlay needs to build a program on a seeded runtime:
// changed copies of files of the standard library, and overlay.json, which names them.
//
//	go run ./internal/seeded/overlay -o _DIR
//	CGO_ENABLED=0 go build -tags seeded -overlay _DIR/overlay.json ./cmd/zkverify
//
// Go ignores a folder whose name starts with "_" when it looks for packages.
//
// The copies are made from the files of the Go that is in use. Each text that is replaced
// has to occur as often as it does in the versions of Go that this program knows; if it
// does not, the program says so and writes nothing. See docs/simulation.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

func main() {
	out := flag.String("o", "", "folder to write to, which is made if it is missing")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	goroot, version, err := toolchain()
	if err != nil {
		return err
	}
	return generate(goroot, version, out)
}

// toolchain returns the GOROOT and the version of the Go in use.
func toolchain() (goroot, version string, err error) {
	stdout, err := exec.Command("go", "env", "-json", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	var env struct{ GOROOT, GOVERSION string }
	if err := json.Unmarshal(stdout, &env); err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	return env.GOROOT, strings.TrimSpace(env.GOVERSION), nil
}
