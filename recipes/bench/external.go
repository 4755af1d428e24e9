package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/zkverify/zkverify/ensemble"
)

//go:embed peers/CuratorDriver.java
var curatorDriver string

//go:embed peers/kazoo_driver.py
var kazooDriver string

// Where Debian's packages put Curator, whose manifest names what it needs, and
// the binding for SLF4J, which it does not.
const (
	curatorJar   = "/usr/share/java/curator-recipes.jar"
	slf4jBinding = "/usr/share/java/slf4j-simple.jar"
)

// curatorVariable replaces them by a class path with all of that.
const curatorVariable = "ZKVERIFY_CURATOR"

// startCurator compiles and starts the driver of Curator's locks. The error says
// what the machine lacks.
func startCurator(ctx context.Context, dir string) (*process, error) {
	const separator = string(filepath.ListSeparator)
	java, err := ensemble.FindJava("")
	if err != nil {
		return nil, err
	}
	javac, err := findJavac(java)
	if err != nil {
		return nil, err
	}
	classPath := os.Getenv(curatorVariable)
	if classPath == "" {
		if _, err := os.Stat(curatorJar); err != nil {
			return nil, fmt.Errorf("no Curator (Debian: apt install libcurator-recipes-java), and %s is not set", curatorVariable)
		}
		classPath = curatorJar + separator + slf4jBinding
	}
	source := filepath.Join(dir, "CuratorDriver.java")
	if err := os.WriteFile(source, []byte(curatorDriver), 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, javac, "-nowarn", "-d", dir, "-cp", classPath, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("javac: %w: %s", err, oneLine(string(out)))
	}
	return startProcess(ctx, java, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", dir+separator+classPath, "CuratorDriver")
}

// findJavac returns the compiler that comes with this Java: another one's classes
// may be too new for it.
func findJavac(java string) (string, error) {
	real, err := filepath.EvalSymlinks(java)
	if err != nil {
		return "", err
	}
	javac, err := exec.LookPath(filepath.Join(filepath.Dir(real), "javac"))
	if err != nil {
		return "", fmt.Errorf("no compiler beside %s (Debian: apt install default-jdk-headless)", real)
	}
	return javac, nil
}

// startKazoo starts the driver of kazoo's locks with the first Python that has
// kazoo. The error says what the machine lacks.
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
