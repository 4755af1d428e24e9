package ensemble_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
)

// The install script and the program look in the same places: each finds the same
// installations.
func TestTheInstallScriptAndTheProgramAgree(t *testing.T) {
	home := t.TempDir()
	must(t, os.Mkdir(filepath.Join(home, "lib"), 0o755))
	must(t, os.WriteFile(filepath.Join(home, "lib", "zookeeper-3.9.2.jar"), nil, 0o644))
	cache := cacheWith(t, "99.9.1")
	for name, env := range map[string][2]string{
		"with nothing set":                             {"ZOOKEEPER_HOME", ""},
		"with an Apache distribution":                  {"ZOOKEEPER_HOME", home},
		"with a distribution that is not there":        {"ZOOKEEPER_HOME", "/no/such/home"},
		"with a jar":                                   {"ZKVERIFY_ZOOKEEPER", filepath.Join(home, "lib", "zookeeper-3.9.2.jar")},
		"with a directory that holds no ZooKeeper":     {"ZKVERIFY_ZOOKEEPER", filepath.Join(home, "lib")},
		"with a Java home that holds no Java":          {"JAVA_HOME", home},
		"with a distribution named by our own setting": {"ZKVERIFY_ZOOKEEPER", home},
		"with a version that is unpacked":              {"ZKVERIFY_ZOOKEEPER", "99.9.1"},
		"with its folder":                              {"ZKVERIFY_ZOOKEEPER", filepath.Join(cache, "zookeeper-99.9.1")},
		"with a version that is not there":             {"ZKVERIFY_ZOOKEEPER", "99.9.2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(env[0], env[1])
			out, err := exec.Command("sh", "install.sh", "--check").CombinedOutput()
			script := err == nil && strings.Contains(string(out), "java: yes, zookeeper: yes")
			_, javaErr := ensemble.FindJava("")
			_, zooErr := ensemble.FindZooKeeper("")
			if program := javaErr == nil && zooErr == nil; program != script {
				t.Errorf("the program finds both: %v (%v, %v); the script: %v (%s)", program, javaErr, zooErr, script, out)
			}
		})
	}
}
