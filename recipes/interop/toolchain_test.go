package interop_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// classPathVariable names Curator's jars, with all that they need and a binding
// for SLF4J, as a Java class path: for a Curator other than Debian's.
const classPathVariable = "ZKVERIFY_CURATOR"

// debianJars is where Debian's package libcurator-recipes-java puts its jars.
const debianJars = "/usr/share/java"

// toolchain is what the peer is compiled and run with.
type toolchain struct {
	java, javac string
	compile     string // class path: javac does not follow the manifests of these jars
	run         string
	curator     string // version
}

// findToolchain says what is missing when something is.
func findToolchain() (toolchain, error) {
	t := toolchain{}
	if set := os.Getenv(classPathVariable); set != "" {
		t.compile, t.run = set, set
		t.curator = "of " + classPathVariable
	} else {
		var jars []string
		for _, name := range []string{"curator-recipes", "curator-framework", "curator-client", "guava", "zookeeper", "zookeeper-jute"} {
			jar := filepath.Join(debianJars, name+".jar")
			if _, err := os.Stat(jar); err != nil {
				return t, fmt.Errorf("no Curator: %s is missing (Debian: libcurator-recipes-java; else set %s)", jar, classPathVariable)
			}
			jars = append(jars, jar)
		}
		t.compile = strings.Join(jars, string(filepath.ListSeparator))
		t.run = jars[0] + string(filepath.ListSeparator) + filepath.Join(debianJars, "slf4j-simple.jar")
		t.curator = versionOf(jars[0])
	}
	var err error
	if t.java, err = ensemble.FindJava(""); err != nil {
		return t, fmt.Errorf("no Java: %w", err)
	}
	// The compiler that comes with this Java: another one's classes may be too
	// new for it.
	real, err := filepath.EvalSymlinks(t.java)
	if err != nil {
		return t, err
	}
	t.javac = filepath.Join(filepath.Dir(real), "javac")
	if _, err := exec.LookPath(t.javac); err != nil {
		return t, fmt.Errorf("no Java compiler: %s has no javac beside it (Debian: default-jdk-headless)", real)
	}
	return t, nil
}

// versionOf reads the version of Debian's jar out of the name of a link to it.
func versionOf(jar string) string {
	name := strings.TrimSuffix(jar, ".jar") + "-"
	links, _ := filepath.Glob(name + "[0-9]*.jar")
	if len(links) == 0 {
		return "of unknown version"
	}
	return strings.TrimSuffix(strings.TrimPrefix(links[0], name), ".jar")
}

// build compiles the peer into dir.
func (t toolchain) build(dir string) error {
	sources, err := filepath.Glob(filepath.Join("java", "*.java"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, t.javac, append([]string{"-d", dir, "-cp", t.compile}, sources...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("javac: %w\n%s", err, out)
	}
	return nil
}
