package main

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/zkverify/zkverify/ensemble"
)

//go:embed peers/CuratorDriver.java
var curatorDriver string

//go:embed peers/kazoo_driver.py
var kazooDriver string

// startCurator compiles and starts the driver of Curator's locks. The error names the
// missing tool of the machine.
func startCurator(ctx context.Context, dir string) (*process, error) {
	tools, err := ensemble.FindCurator()
	if err != nil {
		return nil, err
	}
	source := filepath.Join(dir, "CuratorDriver.java")
	if err := os.WriteFile(source, []byte(curatorDriver), 0o600); err != nil {
		return nil, err
	}
	if err := tools.Compile(ctx, dir, source); err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	return startProcess(ctx, tools.Java, append([]string{"-Dorg.slf4j.simpleLogger.defaultLogLevel=error"}, tools.Arguments(dir, "CuratorDriver")...)...)
}

// startKazoo starts the driver of kazoo's locks with the first Python that has kazoo. The
// error names the missing tool of the machine.
func startKazoo(ctx context.Context, dir string) (*process, error) {
	source := filepath.Join(dir, "kazoo_driver.py")
	if err := os.WriteFile(source, []byte(kazooDriver), 0o600); err != nil {
		return nil, err
	}
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(ctx, python, "-c", "import kazoo").Run() == nil {
			return startProcess(ctx, python, source)
		}
	}
	return nil, errors.New("no Python 3 with kazoo (Debian: apt install python3-kazoo)")
}
