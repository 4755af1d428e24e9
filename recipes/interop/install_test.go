package interop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
)

// The install script and the tests look in the same places: both must find the same tools.
func TestTheInstallScriptAndTheTestsAgree(t *testing.T) {
	home := t.TempDir() // of a Java without a compiler
	must(t, os.Mkdir(filepath.Join(home, "bin"), 0o755))
	must(t, os.WriteFile(filepath.Join(home, "bin", "java"), []byte("#!/bin/sh\n"), 0o755))
	for name, env := range map[string][2]string{
		"with nothing set":                    {ensemble.CuratorVariable, os.Getenv(ensemble.CuratorVariable)},
		"with another Curator":                {ensemble.CuratorVariable, "/opt/curator/*"},
		"with a version that is not there":    {ensemble.CuratorVariable, "99.9.1"},
		"with a Java that brings no compiler": {"JAVA_HOME", home},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(env[0], env[1])
			out, err := exec.Command("sh", filepath.Join("..", "..", "ensemble", "install.sh"), "--check", "--curator").CombinedOutput()
			script := err == nil && strings.Contains(string(out), "curator: yes, javac: yes")
			_, toolsErr := ensemble.FindCurator()
			if tests := toolsErr == nil; tests != script {
				t.Errorf("the tests find what they need: %v (%v); the script: %v (%s)", tests, toolsErr, script, out)
			}
		})
	}
}
