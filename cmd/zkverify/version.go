package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// version is set by the linker.
var version = ""

// versionCmd prints the versions that a bug report needs.
type versionCmd struct{}

func (versionCmd) Help() string {
	return words.WithExamples("--version prints the version alone.", "zkverify version")
}

func (versionCmd) Run(con *console) error {
	_, err := fmt.Fprintf(con.out, "zkverify %s\nhistory format %d\n%s %s/%s\n", versionText(), histories.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
