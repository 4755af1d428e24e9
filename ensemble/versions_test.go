package ensemble_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
)

// cacheWith makes a folder with these unpacked versions the user's cache, and returns it.
func cacheWith(t *testing.T, versions ...string) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("ZKVERIFY_ZOOKEEPER", "")
	t.Setenv("ZOOKEEPER_HOME", "")
	cache, err := os.UserCacheDir()
	must(t, err)
	for _, version := range versions {
		lib := filepath.Join(cache, "zkverify", "zookeeper-"+version, "lib")
		must(t, os.MkdirAll(lib, 0o755))
		for _, jar := range []string{"zookeeper", "zookeeper-jute"} {
			must(t, os.WriteFile(filepath.Join(lib, jar+"-"+version+".jar"), nil, 0o644))
		}
	}
	return filepath.Join(cache, "zkverify")
}

func TestAVersionIsFoundInTheCache(t *testing.T) {
	cache := cacheWith(t, "99.9.1", "99.10.0", "99.9.1.new.77", "99.9.2-SNAPSHOT")
	var versions []string
	for _, i := range ensemble.Installations() {
		if strings.HasPrefix(i.Version, "99.") {
			versions = append(versions, i.Version)
		}
	}
	if want := []string{"99.9.1", "99.10.0"}; !slices.Equal(versions, want) {
		t.Errorf("installed: %v, want %v", versions, want)
	}
	for _, by := range []string{"option", "environment"} {
		named := "99.9.1"
		if by == "environment" {
			t.Setenv("ZKVERIFY_ZOOKEEPER", named)
			named = ""
		}
		class, err := ensemble.FindZooKeeper(named)
		must(t, err)
		// Its jute comes before the jar, whose manifest may name another.
		lib := filepath.Join(cache, "zookeeper-99.9.1", "lib")
		want := []string{filepath.Join(lib, "zookeeper-jute-99.9.1.jar"), filepath.Join(lib, "*")}
		if got := filepath.SplitList(class); !slices.Equal(got, want) {
			t.Errorf("by %s: class path %v, want %v", by, got, want)
		}
	}
}

func TestAVersionThatIsNotThereIsNamedWithThoseThatAre(t *testing.T) {
	cacheWith(t, "99.9.1")
	_, err := ensemble.FindZooKeeper("99.9.3")
	if !errors.Is(err, ensemble.ErrNoVersion) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"there is no ZooKeeper 99.9.3", "99.9.1 (", "install.sh --zookeeper 99.9.3"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %q", part, err)
		}
	}
	// A folder of that name is no version.
	t.Chdir(t.TempDir())
	must(t, os.MkdirAll("99.9.3/lib", 0o755))
	must(t, os.WriteFile("99.9.3/lib/zookeeper-99.9.3.jar", nil, 0o644))
	if _, err := ensemble.FindZooKeeper("99.9.3"); !errors.Is(err, ensemble.ErrNoVersion) {
		t.Errorf("got %v", err)
	}
	if _, err := ensemble.FindZooKeeper("./99.9.3"); err != nil {
		t.Error(err)
	}
}
