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

// curatorJar is where Debian's libcurator-recipes-java puts Curator; its
// manifest names what it needs. ZKVERIFY_CURATOR replaces it.
const curatorJar = "/usr/share/java/curator-recipes.jar"

// startCurator compiles and starts the driver of Curator's locks. The error says
// what the machine lacks.
func startCurator(ctx context.Context, dir string) (*process, error) {
	java, err := ensemble.FindJava("")
	if err != nil {
		return nil, err
	}
	javac, err := findJavac(java)
	if err != nil {
		return nil, err
	}
	zookeeper, err := ensemble.FindZooKeeper("")
	if err != nil {
		return nil, err
	}
	classPath := os.Getenv("ZKVERIFY_CURATOR")
	if classPath == "" {
		if _, err := os.Stat(curatorJar); err != nil {
			return nil, errors.New("no Curator (Debian: apt install libcurator-recipes-java), and ZKVERIFY_CURATOR is not set")
		}
		classPath = curatorJar
	}
	classPath += string(filepath.ListSeparator) + zookeeper
	source := filepath.Join(dir, "CuratorDriver.java")
	if err := os.WriteFile(source, []byte(curatorDriver), 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, javac, "-nowarn", "-d", dir, "-cp", classPath, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("javac: %w: %s", err, out)
	}
	return startProcess(ctx, java, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-cp", dir+string(filepath.ListSeparator)+classPath, "CuratorDriver")
}

// findJavac returns the compiler beside java, or that of PATH: java may be a link
// from elsewhere.
func findJavac(java string) (string, error) {
	if beside, err := exec.LookPath(filepath.Join(filepath.Dir(java), "javac")); err == nil {
		return beside, nil
	}
	javac, err := exec.LookPath("javac")
	if err != nil {
		return "", errors.New("no javac (Debian: apt install default-jdk-headless)")
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
