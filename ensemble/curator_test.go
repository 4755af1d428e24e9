package ensemble

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAVersionIsLookedForInTheCache(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", home)
	if _, _, err := classPath("99.9.1"); err == nil || !strings.Contains(err.Error(), "curator-recipes-99.9.1.jar is missing (sh ensemble/install.sh --curator 99.9.1;") {
		t.Errorf("of a version that is not there: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(cache, "zkverify", "curator-99.9.1", "lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"recipes", "framework", "client"} {
		if err := os.WriteFile(filepath.Join(lib, "curator-"+name+"-99.9.1.jar"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if debianVersion() == "" {
		t.Skip("no Curator of Debian's, whose dependencies another version runs with")
	}
	path, version, err := classPath("99.9.1")
	if err != nil || version != "99.9.1" || !strings.HasPrefix(path, filepath.Join(lib, "curator-recipes-99.9.1.jar")) || !strings.Contains(path, "guava") {
		t.Errorf("of a version that is there: %q, %q, %v", path, version, err)
	}
}

func TestAClassPathIsTakenAsItIs(t *testing.T) {
	if path, version, err := classPath("/opt/curator/*"); err != nil || path != "/opt/curator/*" || version != "" {
		t.Errorf("got %q, %q, %v", path, version, err)
	}
}
