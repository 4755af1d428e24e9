package ensemble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

func at(epoch int64, counters ...int64) (all []int64) {
	for _, c := range counters {
		all = append(all, epoch<<32|c)
	}
	return all
}

// logOf is a log of transactions that hold nothing but their zxids, as it is after
// a kill: zeros behind it, or a last one that was not written to its end.
func logOf(zxids []int64, tail []byte) []byte {
	log := append([]byte(txnLogMagic), make([]byte, txnLogHeader-len(txnLogMagic))...)
	for _, zxid := range zxids {
		body := binary.BigEndian.AppendUint64(make([]byte, txnZxid), uint64(zxid))
		log = binary.BigEndian.AppendUint64(log, uint64(adler32.Checksum(body)))
		log = binary.BigEndian.AppendUint32(log, uint32(len(body)))
		log = append(append(log, body...), txnEnd)
	}
	return append(log, tail...)
}

func TestTransactionsThatStandTwiceAreTakenOutOfALog(t *testing.T) {
	join := slices.Concat[[]int64]
	for name, c := range map[string]struct{ log, want []int64 }{
		"nothing":                               {nil, nil},
		"in order":                              {join(at(1, 1, 2, 3), at(2, 1, 2)), join(at(1, 1, 2, 3), at(2, 1, 2))},
		"once more":                             {at(6, 1, 2, 3, 1, 2, 3, 4, 5), at(6, 1, 2, 3, 4, 5)},
		"once more, in part":                    {at(6, 1, 2, 3, 4, 2, 3), at(6, 1, 2, 3, 4)},
		"three times":                           {at(6, 1, 2, 1, 2, 3, 1, 2, 3, 4), at(6, 1, 2, 3, 4)},
		"one was missing":                       {at(6, 1, 3, 1, 2, 3), at(6, 1, 2, 3)},
		"the next leader has not had all of it": {join(at(6, 1, 2, 3, 4), at(6, 1, 2), at(7, 1, 2)), join(at(6, 1, 2), at(7, 1, 2))},
	} {
		for tail, end := range map[string][]byte{"": nil, ", set aside": make([]byte, 100), ", half written": logOf(at(9, 9), nil)[txnLogHeader : txnLogHeader+20]} {
			dir := t.TempDir()
			path := filepath.Join(dir, "version-2", "log.600000001")
			if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			before := logOf(c.log, end)
			if err := os.WriteFile(path, before, 0o600); err != nil {
				t.Fatal(err)
			}
			taken, err := mendLogs(dir)
			if err != nil || taken != len(c.log)-len(c.want) {
				t.Errorf("%s%s: took out %d, %v", name, tail, taken, err)
			}
			after, err := os.ReadFile(path)
			want := before // not touched
			if taken > 0 {
				want = logOf(c.want, nil)
			}
			if err != nil || !bytes.Equal(after, want) {
				t.Errorf("%s%s: another log, %v", name, tail, err)
			}
		}
	}
}

func TestAnEmptyLogIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "version-2"), 0o755), os.WriteFile(filepath.Join(dir, "version-2", "log.1"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if taken, err := mendLogs(dir); taken != 0 || err != nil {
		t.Error(taken, err)
	}
}

// What ZOOKEEPER-4394 leaves behind: a follower's log in which a node is created
// once more after it was deleted.
func TestAServerIsNotStartedOnALogThatMakesANodeTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	servers, err := StartLocal(ctx, LocalConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	leader, err := servers.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	twice := servers.servers[leader%3] // a follower
	conn, err := connect(ctx, []string{servers.servers[leader-1].Addr}, Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Create("/node", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Delete("/node", -1); err != nil {
		t.Fatal(err)
	}
	if err := servers.Kill(ctx, twice.ID); err != nil {
		t.Fatal(err)
	}

	logs, err := filepath.Glob(filepath.Join(twice.dir, "data", "version-2", "log.*"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	log, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	var create []byte
	written := txnLogHeader
	if err := transactions(bytes.NewReader(log[txnLogHeader:]), func(x txn) {
		if create == nil && bytes.Contains(x.record, []byte("/node")) {
			create = slices.Clone(x.record)
		}
		written += len(x.record)
	}); err != nil || create == nil {
		t.Fatal("no transaction makes the node: ", err)
	}
	if err := os.WriteFile(logs[0], append(log[:written], create...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := servers.Restart(ctx, twice.ID); err != nil {
		t.Fatal(err)
	}
	direct, err := connect(ctx, []string{twice.Addr}, Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	if there, _, err := direct.Exists("/node"); there || err != nil {
		t.Errorf("the node is back on server %d alone: %v, %v", twice.ID, there, err)
	}
	told, err := os.ReadFile(twice.log)
	if want := "1 transactions stood twice in the log of server " + strconv.Itoa(twice.ID); err != nil || !strings.Contains(string(told), want) {
		t.Errorf("its log does not tell %q, %v", want, err)
	}
}
