package ensemble

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Installation is a ZooKeeper on this machine that can be named by its version.
type Installation struct {
	Version string // such as "3.9.6"
	Place   string // a jar, or a directory whose lib holds ZooKeeper
}

// Installations lists the versions of ZooKeeper that FindZooKeeper knows by name, the
// oldest first: that of Debian's or Homebrew's package, and those that
// ensemble/install.sh --zookeeper has unpacked into the user's cache. It lists each
// version once.
func Installations() []Installation {
	var all []Installation
	for _, place := range append([]string{debianJar}, homebrew...) {
		if _, ok := classPathOf(place); ok {
			for _, version := range jarVersions(place) {
				all = append(all, Installation{version, place})
			}
		}
	}
	for _, place := range unpacked() {
		version := strings.TrimPrefix(filepath.Base(place), "zookeeper-")
		if _, ok := classPathOf(place); ok && versionText.MatchString(version) {
			all = append(all, Installation{version, place})
		}
	}
	slices.SortStableFunc(all, func(a, b Installation) int {
		return slices.Compare(versionNumbers(a.Version), versionNumbers(b.Version))
	})
	return slices.CompactFunc(all, func(a, b Installation) bool { return a.Version == b.Version })
}

// versionText matches a version as it is given on the command line.
var versionText = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

func versionNumbers(version string) (numbers []int) {
	for field := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(field)
		numbers = append(numbers, n)
	}
	return numbers
}

// jarVersions reads the version of a package from the name of its jar.
func jarVersions(place string) (versions []string) {
	lib := filepath.Dir(place)
	if !strings.HasSuffix(place, ".jar") {
		lib = filepath.Join(place, "lib")
	}
	jars, _ := filepath.Glob(filepath.Join(lib, "zookeeper-[0-9]*.jar"))
	for _, jar := range jars {
		if version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(jar), "zookeeper-"), ".jar"); versionText.MatchString(version) {
			versions = append(versions, version)
		}
	}
	return versions
}

// unpacked returns the folders of the cache that install.sh makes.
func unpacked() []string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil // nothing can have been unpacked
	}
	places, _ := filepath.Glob(filepath.Join(cache, "zkverify", "zookeeper-*"))
	return places
}

// installed returns the place of a version, or an error that lists the installed
// versions.
func installed(version string) (string, error) {
	var there []string
	for _, i := range Installations() {
		if i.Version == version {
			return i.Place, nil
		}
		there = append(there, fmt.Sprintf("%s (%s)", i.Version, i.Place))
	}
	return "", fmt.Errorf("%w %s; installed: %s. On Debian, sh ensemble/install.sh --zookeeper %s installs it; elsewhere unpack its release and give the folder instead of the version",
		ErrNoVersion, version, orNone(there), version)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
