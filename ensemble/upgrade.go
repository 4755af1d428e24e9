package ensemble

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// upgrade is the other version that the servers of a Local can be restarted as.
type upgrade struct {
	class string // Java class path; empty if there is none
	name  string
}

// findUpgrade looks for the version of LocalConfig.UpgradeTo. class is the class path of
// the version that the servers start with.
func findUpgrade(named, class string) (upgrade, error) {
	if named == "" {
		return upgrade{}, nil
	}
	other, err := FindZooKeeper(named)
	if err != nil {
		return upgrade{}, fmt.Errorf("upgrade to %s: %w", named, err)
	}
	if other == class {
		return upgrade{}, fmt.Errorf("upgrade to %s: %w", named, ErrSameVersion)
	}
	if versionText.MatchString(named) {
		return upgrade{other, named}, nil
	}
	if known := jarVersions(named); len(known) == 1 {
		return upgrade{other, known[0]}, nil
	}
	return upgrade{other, strings.TrimSuffix(filepath.Base(named), ".jar")}, nil
}

// CheckUpgrade returns nil if servers can be started as one version and restarted as the
// other, and else the error that StartLocal would return. The versions are named as in
// LocalConfig.
func CheckUpgrade(zooKeeper, upgradeTo string) error {
	class, err := FindZooKeeper(zooKeeper)
	if err != nil {
		return err
	}
	_, err = findUpgrade(upgradeTo, class)
	return err
}

var _ Upgradable = (*Local)(nil)

// CanUpgrade reports whether LocalConfig.UpgradeTo named another version.
func (l *Local) CanUpgrade() bool { return l != nil && l.upgrade.class != "" }

// OtherVersion returns the name of the version of LocalConfig.UpgradeTo, "" if there is
// none.
func (l *Local) OtherVersion() string { return l.upgrade.name }

// Upgrade restarts the server as the version of LocalConfig.UpgradeTo.
func (l *Local) Upgrade(ctx context.Context, id int) error { return l.runAs(ctx, id, true) }

// Downgrade restarts the server as the version that it was first started as.
func (l *Local) Downgrade(ctx context.Context, id int) error { return l.runAs(ctx, id, false) }

// runAs restarts the server as one of the two versions.
func (l *Local) runAs(ctx context.Context, id int, upgraded bool) error {
	s, err := l.server(id)
	if err == nil && !l.CanUpgrade() {
		err = fmt.Errorf("there is no other version than %s", l.version)
	}
	if err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	s.kill()
	s.mu.Lock()
	s.upgraded = upgraded
	s.mu.Unlock()
	return l.Restart(ctx, id)
}

// Upgraded reports whether the server runs, or is to run, as the version of
// LocalConfig.UpgradeTo.
func (l *Local) Upgraded(id int) bool {
	s, err := l.server(id)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.upgraded
}

// class returns the class path of the version that the server is to run as. The caller
// has locked mu.
func (s *server) class() string {
	if s.upgraded {
		return s.local.upgrade.class
	}
	return s.local.class
}
