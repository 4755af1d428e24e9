package ensemble_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// archive is a package archive in a folder, such as Debian's: one release, and the
// keyring that verifies its signature.
type archive struct{ dir, keyring string }

// newArchive makes an archive with libzookeeper-java of a version, signed or not.
func newArchive(t *testing.T, version string, signed bool) *archive {
	t.Helper()
	for _, program := range []string{"apt-get", "dpkg-deb", "gpg"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s", program)
		}
	}
	a := &archive{dir: t.TempDir()}
	must(t, os.Chmod(a.dir, 0o755)) // apt reads it as another user
	must(t, os.Chmod(filepath.Dir(a.dir), 0o755))
	pool := filepath.Join(a.dir, "pool")
	must(t, os.MkdirAll(pool, 0o755))
	packages := a.pack(t, "libzookeeper-java", version, version, "zookeeper", "zookeeper-jute")
	// Debian trims Curator's source, which shows in its version.
	for _, part := range []string{"client", "framework", "recipes"} {
		packages += "\n" + a.pack(t, "libcurator-"+part+"-java", version+"+ds", version, "curator-"+part)
	}
	home := t.TempDir()
	must(t, os.Chmod(home, 0o700))
	t.Setenv("GNUPGHOME", home)
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run() })
	run(t, "gpg", "--batch", "--passphrase", "", "--quick-generate-key", "archive@example.org", "ed25519", "sign", "never")
	a.keyring = filepath.Join(a.dir, "keyring.gpg")
	run(t, "gpg", "--batch", "--output", a.keyring, "--export", "archive@example.org")
	arch := strings.TrimSpace(run(t, "dpkg", "--print-architecture"))
	name := "main/binary-" + arch + "/Packages"
	dist := filepath.Join(a.dir, "dists", "trixie")
	must(t, os.MkdirAll(filepath.Join(dist, filepath.Dir(name)), 0o755))
	must(t, os.WriteFile(filepath.Join(dist, name), []byte(packages), 0o644))
	release := fmt.Sprintf("Origin: Debian\nSuite: testing\nCodename: trixie\nArchitectures: %s\nComponents: main\nDate: %s\nSHA256:\n %x %d %s\n",
		arch, time.Now().UTC().Format(time.RFC1123), sha256.Sum256([]byte(packages)), len(packages), name)
	must(t, os.WriteFile(filepath.Join(dist, "Release"), []byte(release), 0o644))
	if signed {
		run(t, "gpg", "--batch", "--output", filepath.Join(dist, "InRelease"), "--clear-sign", filepath.Join(dist, "Release"))
	}
	return a
}

// pack makes a package of jars, which have the upstream version, and returns its entry in
// the archive's list.
func (a *archive) pack(t *testing.T, name, version, upstream string, jars ...string) string {
	t.Helper()
	tree, file := t.TempDir(), filepath.Join(a.dir, "pool", name+"_"+version+"-1_all.deb")
	must(t, os.MkdirAll(filepath.Join(tree, "DEBIAN"), 0o755))
	must(t, os.MkdirAll(filepath.Join(tree, "usr/share/java"), 0o755))
	control := fmt.Sprintf("Package: %s\nVersion: %s-1\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: jars\n", name, version)
	must(t, os.WriteFile(filepath.Join(tree, "DEBIAN/control"), []byte(control), 0o644))
	for _, jar := range jars {
		must(t, os.WriteFile(filepath.Join(tree, "usr/share/java", jar+"-"+upstream+".jar"), []byte(jar), 0o644))
	}
	run(t, "dpkg-deb", "--root-owner-group", "-b", tree, file)
	deb, err := os.ReadFile(file)
	must(t, err)
	return fmt.Sprintf("%sFilename: pool/%s\nSize: %d\nSHA256: %x\n", control, filepath.Base(file), len(deb), sha256.Sum256(deb))
}

func (a *archive) deb(version string) string {
	return filepath.Join(a.dir, "pool", "libzookeeper-java_"+version+"-1_all.deb")
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// install runs the script for a version, with this archive in place of Debian's.
func install(t *testing.T, a *archive, version string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", "install.sh", "--zookeeper", version)
	cmd.Env = append(os.Environ(), "ZKVERIFY_DEBIAN_MIRROR=file://"+a.dir, "ZKVERIFY_DEBIAN_KEYRING="+a.keyring)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// holds fails the test unless the cache holds exactly these names.
func holds(t *testing.T, cache string, want ...string) {
	t.Helper()
	var got []string
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the cache holds %v, want %v", got, want)
	}
}

func TestAVersionOfTheArchiveIsUnpackedOnce(t *testing.T) {
	a, cache := newArchive(t, "99.9.1", true), cacheWith(t)
	// Leftovers of a killed script are removed.
	must(t, os.MkdirAll(filepath.Join(cache, "zookeeper-99.9.1.new.999999999", "lib"), 0o755))
	if out, err := install(t, a, "99.9.1"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	holds(t, cache, "zookeeper-99.9.1")
	class, err := ensemble.FindZooKeeper("99.9.1")
	must(t, err)
	for _, place := range append(filepath.SplitList(class), filepath.Join(cache, "zookeeper-99.9.1/lib/zookeeper-99.9.1.jar")) {
		if found, _ := filepath.Glob(place); len(found) == 0 {
			t.Errorf("there is no %s", place)
		}
	}
	must(t, os.RemoveAll(a.dir))
	if out, err := install(t, a, "99.9.1"); err != nil || !strings.Contains(out, "99.9.1 is there") {
		t.Errorf("again, without the archive: %v\n%s", err, out)
	}
	// Even with a version to be installed, a place that is set is not passed over.
	t.Setenv("ZKVERIFY_ZOOKEEPER", "/no/such/place")
	if out, err := install(t, a, "99.9.1"); err == nil || !strings.Contains(out, "ZKVERIFY_ZOOKEEPER is /no/such/place") {
		t.Errorf("with a wrong setting: %v\n%s", err, out)
	}
}

// Curator comes in three packages, of one version.
func TestAVersionOfCuratorIsUnpacked(t *testing.T) {
	a, cache := newArchive(t, "99.9.1", true), cacheWith(t)
	script := func(version string) (string, error) {
		cmd := exec.Command("sh", "unpack.sh", "curator", version, filepath.Join(cache, "curator-"+version))
		cmd.Env = append(os.Environ(), "ZKVERIFY_DEBIAN_MIRROR=file://"+a.dir, "ZKVERIFY_DEBIAN_KEYRING="+a.keyring)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := script("99.9.2"); err == nil || !strings.Contains(out, "no Curator 99.9.2 now. It has 99.9.1 (trixie)") {
		t.Errorf("of a version that the archive does not have: %v\n%s", err, out)
	}
	holds(t, cache)
	if out, err := script("99.9.1"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	holds(t, cache, "curator-99.9.1")
	holds(t, filepath.Join(cache, "curator-99.9.1", "lib"), "curator-client-99.9.1.jar", "curator-framework-99.9.1.jar", "curator-recipes-99.9.1.jar")
}

func TestWhatIsNotSignedAndWholeIsNotUnpacked(t *testing.T) {
	for name, test := range map[string]struct {
		signed bool
		spoil  func(*archive)
		says   string
	}{
		"no signature": {says: "is not signed"},
		"signed with another key": {signed: true, says: "not signed", spoil: func(a *archive) {
			run(t, "gpg", "--batch", "--passphrase", "", "--quick-generate-key", "other@example.org", "ed25519", "sign", "never")
			must(t, os.Remove(a.keyring))
			run(t, "gpg", "--batch", "--output", a.keyring, "--export", "other@example.org")
		}},
		"another package": {signed: true, says: "the download failed", spoil: func(a *archive) {
			deb, err := os.ReadFile(a.deb("99.9.1"))
			must(t, err)
			deb[len(deb)-9] ^= 1
			must(t, os.WriteFile(a.deb("99.9.1"), deb, 0o644))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a, cache := newArchive(t, "99.9.1", test.signed), cacheWith(t)
			if test.spoil != nil {
				test.spoil(a)
			}
			if out, err := install(t, a, "99.9.1"); err == nil || !strings.Contains(out, test.says) {
				t.Errorf("got %v, want %q in\n%s", err, test.says, out)
			}
			holds(t, cache)
		})
	}
}

func TestAVersionThatTheArchiveDoesNotHave(t *testing.T) {
	a, cache := newArchive(t, "99.9.1", true), cacheWith(t)
	if out, err := install(t, a, "99.9.2"); err == nil || !strings.Contains(out, "no ZooKeeper 99.9.2 now. It has 99.9.1 (trixie)") {
		t.Errorf("got %v\n%s", err, out)
	}
	holds(t, cache)
	if out, err := install(t, a, "newest"); err == nil || !strings.Contains(out, "neither a version such as 3.9.6 nor") {
		t.Errorf("got %v\n%s", err, out)
	}
}

// An interrupt ends the download, and leaves nothing.
func TestAnInterruptedDownloadLeavesNothing(t *testing.T) {
	a, cache := newArchive(t, "99.9.1", true), cacheWith(t)
	// The server accepts a connection and answers nothing.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	tmp := t.TempDir()
	must(t, os.Chmod(tmp, 0o777))
	cmd := exec.Command("sh", "unpack.sh", "zookeeper", "99.9.1", filepath.Join(cache, "zookeeper-99.9.1"))
	cmd.Env = append(os.Environ(), "ZKVERIFY_DEBIAN_MIRROR=http://"+silent.Addr().String()+"/debian", "ZKVERIFY_DEBIAN_KEYRING="+a.keyring, "TMPDIR="+tmp)
	must(t, cmd.Start())
	conn, err := silent.Accept()
	must(t, err)
	defer conn.Close()
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("got %v, want exit status 130", err)
	}
	holds(t, cache)
	holds(t, tmp)
	// apt itself would give up after 20 s.
	must(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the download goes on: %v", err)
	}
}

// Without apt, a release can be unpacked by hand, and the script tells how.
func TestWithoutDebianTheScriptSaysWhatToDo(t *testing.T) {
	cacheWith(t)
	home := t.TempDir()
	must(t, os.Mkdir(filepath.Join(home, "lib"), 0o755))
	must(t, os.WriteFile(filepath.Join(home, "lib", "zookeeper-3.9.2.jar"), nil, 0o644))
	bin := t.TempDir()
	for _, name := range []string{"sh", "uname", "ls", "grep", "dirname", "java", "readlink", "id"} {
		path, err := exec.LookPath(name)
		must(t, err)
		must(t, os.Symlink(path, filepath.Join(bin, name)))
	}
	t.Setenv("ZOOKEEPER_HOME", home)
	t.Setenv("PATH", bin)
	out, err := exec.Command("sh", "install.sh", "--zookeeper", "99.9.1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "Unpack apache-zookeeper-99.9.1-bin.tar.gz") || !strings.Contains(string(out), "ZKVERIFY_ZOOKEEPER=FOLDER") {
		t.Errorf("got %v\n%s", err, out)
	}
}
