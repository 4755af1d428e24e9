package txnlog_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkverify/zkverify/ensemble/txnlog"
)

func TestACompressedSnapshotThatIsNone(t *testing.T) {
	head := "\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
	for file, content := range map[string]string{
		"snapshot.1.gz":     "no gzip",
		"snapshot.2.gz":     "",
		"snapshot.1.snappy": "no Snappy, though it is long enough",
		"snapshot.2.snappy": head,
		"snapshot.3.snappy": head + "\xff\xff\xff\xff",
		"snapshot.4.snappy": head + "\x00\x00\x00\x05\xff\xff\xff\xff\x0f",
		"snapshot.5.snappy": head + "\x00\x00\x00\x02\x09\x00",
	} {
		path := filepath.Join(t.TempDir(), file)
		must(t, os.WriteFile(path, []byte(content), 0o600))
		if _, err := txnlog.ReadSnapshot(path); !errors.Is(err, txnlog.ErrNotALog) && !errors.Is(err, txnlog.ErrDamaged) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
