package ensemble

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// CuratorVariable names the environment variable that selects another Curator than Debian's: a
// version that sh ensemble/install.sh --curator VERSION has unpacked, or a Java class path
// with Curator, its dependencies, and a binding for SLF4J.
const CuratorVariable = "ZKVERIFY_CURATOR"

// debianJars is the folder of the jars of Debian's packages.
const debianJars = "/usr/share/java"

var isVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// CuratorTools holds the programs and the class path that compile and run a program on Curator,
// for tests and benchmarks.
type CuratorTools struct {
	Java, Javac string
	ClassPath   string
	Version     string // of Curator; "" if CuratorVariable has a class path
}

// FindCurator finds the tools. The error names the missing one.
func FindCurator() (CuratorTools, error) {
	t := CuratorTools{}
	var err error
	if t.ClassPath, t.Version, err = classPath(os.Getenv(CuratorVariable)); err != nil {
		return t, err
	}
	if t.Java, err = FindJava(""); err != nil {
		return t, fmt.Errorf("no Java: %w", err)
	}
	// The compiler that comes with this Java: the classes of another may be too new for
	// it.
	real, err := filepath.EvalSymlinks(t.Java)
	if err != nil {
		return t, err
	}
	t.Javac = filepath.Join(filepath.Dir(real), "javac")
	if _, err := exec.LookPath(t.Javac); err != nil {
		return t, fmt.Errorf("no Java compiler: %s has no javac beside it (Debian: default-jdk-headless)", real)
	}
	return t, nil
}

// classPath returns the class path and the version for a value of CuratorVariable.
func classPath(set string) (path, version string, err error) {
	folder, install := debianJars, "sh ensemble/install.sh --curator"
	switch {
	case set == "":
		version = debianVersion()
	case !isVersion.MatchString(set):
		return set, "", nil
	default:
		version, install = set, install+" "+set
		if set != debianVersion() {
			cache, err := os.UserCacheDir()
			if err != nil {
				return "", "", err
			}
			folder = filepath.Join(cache, "zkverify", "curator-"+set, "lib")
		}
	}
	var jars []string
	for _, name := range []string{"recipes", "framework", "client"} {
		jars = append(jars, filepath.Join(folder, "curator-"+name+"-"+version+".jar"))
	}
	for _, name := range []string{"guava", "zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-simple"} {
		jars = append(jars, filepath.Join(debianJars, name+".jar"))
	}
	for _, jar := range jars {
		if _, err := os.Stat(jar); err != nil {
			return "", "", fmt.Errorf("no Curator: %s is missing (%s; else set %s)", jar, install, CuratorVariable)
		}
	}
	return strings.Join(jars, string(filepath.ListSeparator)), version, nil
}

// debianVersion reads the version of Debian's jar out of its name, "" if there is none.
func debianVersion() string {
	prefix := filepath.Join(debianJars, "curator-recipes-")
	jars, _ := filepath.Glob(prefix + "[0-9]*.jar")
	if len(jars) == 0 {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(jars[0], prefix), ".jar")
}

// Compile compiles sources into a folder.
func (t CuratorTools) Compile(ctx context.Context, folder string, sources ...string) error {
	out, err := exec.CommandContext(ctx, t.Javac, append([]string{"-nowarn", "-d", folder, "-cp", t.ClassPath}, sources...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("javac: %w\n%s", err, out)
	}
	return nil
}

// Arguments returns the arguments of Java that run a class which was compiled into a
// folder.
func (t CuratorTools) Arguments(folder, class string) []string {
	return []string{"-cp", folder + string(filepath.ListSeparator) + t.ClassPath, class}
}
