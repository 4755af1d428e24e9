package ensemble

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// FindJava returns the path of the java program: the named one, else that of JAVA_HOME,
// of PATH, or of Homebrew. It returns ErrNoJava when there is none. If a program is named
// or JAVA_HOME is set, FindJava looks nowhere else.
func FindJava(named string) (string, error) {
	if named != "" {
		if path, err := exec.LookPath(named); err == nil {
			return filepath.Abs(path)
		}
		return "", fmt.Errorf("%s cannot be run: %w", named, ErrNoJava)
	}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		path := filepath.Join(home, "bin", "java")
		if _, err := exec.LookPath(path); err != nil {
			return "", fmt.Errorf("JAVA_HOME is %s, which has no bin/java: %w", home, ErrNoJava)
		}
		return path, nil
	}
	// Homebrew first on macOS: /usr/bin/java is there too, and only says that Java is missing.
	for _, path := range []string{"/opt/homebrew/opt/openjdk/bin/java", "/usr/local/opt/openjdk/bin/java"} {
		if _, err := exec.LookPath(path); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath("java"); err == nil {
		return filepath.Abs(path)
	}
	return "", ErrNoJava
}

const bytemanVariable = "ZKVERIFY_BYTEMAN"

// FindByteman returns the path of Byteman's jar: the one that ZKVERIFY_BYTEMAN names,
// else that of Debian's package, or the one that ensemble/install.sh --byteman has put
// into the user's cache. It returns ErrNoByteman when there is none.
func FindByteman() (jar string, err error) {
	if named := os.Getenv(bytemanVariable); named != "" {
		if _, err := os.Stat(named); err != nil {
			return "", fmt.Errorf("%s: %w; correct or unset %s", named, ErrNoByteman, bytemanVariable)
		}
		return filepath.Abs(named)
	}
	places := []string{"/usr/share/java/byteman.jar"}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "zkverify", "byteman.jar"))
	}
	for _, place := range places {
		if _, err := os.Stat(place); err == nil {
			return place, nil
		}
	}
	return "", ErrNoByteman
}

// NotInstalled reports whether err says that there is no Java or no ZooKeeper, and no
// variable names a place for them: then tests that need servers are skipped. A place that
// is named and missing is a mistake.
func NotInstalled(err error) bool {
	set := os.Getenv("JAVA_HOME") + os.Getenv("ZKVERIFY_ZOOKEEPER") + os.Getenv("ZOOKEEPER_HOME")
	return set == "" && (errors.Is(err, ErrNoJava) || errors.Is(err, ErrNoZooKeeper))
}

// The places where packages put ZooKeeper.
var (
	debianJar     = "/usr/share/java/zookeeper.jar"
	debianBinding = "/usr/share/java/slf4j-simple.jar"
	homebrew      = []string{"/opt/homebrew/opt/zookeeper/libexec", "/usr/local/opt/zookeeper/libexec"}
)

// FindZooKeeper returns the Java class path of ZooKeeper. named is a jar file, the
// directory of an Apache distribution, or a version such as "3.9.6", see Installations.
// When it is empty FindZooKeeper takes ZKVERIFY_ZOOKEEPER, which is read in the same way,
// else ZOOKEEPER_HOME (a directory), else Debian's or Homebrew's package. It returns
// ErrNoZooKeeper when there is none, and ErrNoVersion when the named version is missing.
// If a place is named or set, FindZooKeeper looks nowhere else.
func FindZooKeeper(named string) (classPath string, err error) {
	for _, set := range []struct{ by, place string }{
		{"the ZooKeeper option", named},
		{"ZKVERIFY_ZOOKEEPER", os.Getenv("ZKVERIFY_ZOOKEEPER")},
		{"ZOOKEEPER_HOME", os.Getenv("ZOOKEEPER_HOME")},
	} {
		if set.place == "" {
			continue
		}
		if versionText.MatchString(set.place) {
			place, err := installed(set.place)
			if err != nil {
				return "", fmt.Errorf("%s is %s: %w", set.by, set.place, err)
			}
			set.place = place
		}
		if path, ok := classPathOf(set.place); ok {
			return path, nil
		}
		return "", fmt.Errorf("%s is %s, which is neither a version such as 3.9.6 nor a ZooKeeper jar nor a directory with lib/zookeeper-*.jar: %w", set.by, set.place, ErrNoZooKeeper)
	}
	for _, place := range append([]string{debianJar}, homebrew...) {
		if path, ok := classPathOf(place); ok {
			return path, nil
		}
	}
	return "", ErrNoZooKeeper
}

// classPathOf returns the class path of a jar, or of a directory whose lib holds
// ZooKeeper with all its dependencies.
func classPathOf(place string) (string, bool) {
	place, err := filepath.Abs(place)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(place)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		lib := filepath.Join(place, "lib")
		jars, _ := filepath.Glob(filepath.Join(lib, "zookeeper*.jar"))
		// The jar of a Debian package names the jute of its own release, in a place where another
		// release may have put its jute.
		path, _ := filepath.Glob(filepath.Join(lib, "zookeeper-jute*.jar"))
		return strings.Join(append(path, filepath.Join(lib, "*")), string(filepath.ListSeparator)), len(jars) > 0
	}
	if !strings.HasSuffix(place, ".jar") {
		return "", false
	}
	// The manifest of the jar names its dependencies, except a binding for SLF4J, without which
	// ZooKeeper logs nothing at all.
	path := place
	for _, binding := range []string{filepath.Join(filepath.Dir(place), "slf4j-simple.jar"), debianBinding} {
		if _, err := os.Stat(binding); err == nil {
			return path + string(filepath.ListSeparator) + binding, true
		}
	}
	return path, true
}
