package ensemble_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
)

func TestAnUpgradeIsToAnotherVersionThatIsThere(t *testing.T) {
	cache := cacheWith(t, "99.9.1", "99.9.2")
	for _, c := range []struct {
		from, to string
		want     error
	}{
		{"99.9.1", "99.9.2", nil}, {"99.9.1", filepath.Join(cache, "zookeeper-99.9.2"), nil}, {"99.9.1", "", nil},
		{"99.9.1", "99.9.3", ensemble.ErrNoVersion}, {"99.9.3", "99.9.1", ensemble.ErrNoVersion}, {"99.9.1", cache, ensemble.ErrNoZooKeeper},
		{"99.9.1", "99.9.1", ensemble.ErrSameVersion}, {"99.9.1", filepath.Join(cache, "zookeeper-99.9.1"), ensemble.ErrSameVersion},
	} {
		if err := ensemble.CheckUpgrade(c.from, c.to); !errors.Is(err, c.want) {
			t.Errorf("from %s to %s: %v; want %v", c.from, c.to, err, c.want)
		}
	}
	_, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{Java: "/bin/true", ZooKeeper: "99.9.1", UpgradeTo: "99.9.1"})
	if !errors.Is(err, ensemble.ErrSameVersion) {
		t.Error("the servers start:", err)
	}
}

func TestTheOtherVersionHasAName(t *testing.T) {
	cache := cacheWith(t, "99.9.2")
	folder := filepath.Join(cache, "zookeeper-99.9.2")
	unnamed := filepath.Join(t.TempDir(), "of-mine.jar")
	must(t, os.WriteFile(unnamed, nil, 0o644))
	for named, want := range map[string]string{"99.9.2": "99.9.2", folder: "99.9.2", unnamed: "of-mine", "": ""} {
		if got, err := ensemble.UpgradeName(named); err != nil || got != want {
			t.Errorf("%s is called %q, %v; want %q", named, got, err, want)
		}
	}
	if l := (*ensemble.Local)(nil); l.CanUpgrade() {
		t.Error("no servers can be upgraded")
	}
}

func TestServersThatRunOneVersionRefuseAnUpgrade(t *testing.T) {
	l := local(t)
	before, err := l.Output(t.Context(), 1)
	must(t, err)
	if err := l.Upgrade(testContext(t), 1); err == nil || !strings.Contains(err.Error(), "no other version") || l.Upgraded(1) || l.CanUpgrade() {
		t.Errorf("%v, upgraded %v", err, l.Upgraded(1))
	}
	if after, err := l.Output(t.Context(), 1); err != nil || strings.Count(string(after), "Starting quorum peer") != strings.Count(string(before), "Starting quorum peer") {
		t.Error("the server was restarted:", err)
	}
}
