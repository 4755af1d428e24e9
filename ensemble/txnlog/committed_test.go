package txnlog_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/zkverify/zkverify/ensemble/txnlog"
)

func TestWhatAMajorityHasLoggedIsCommitted(t *testing.T) {
	const epoch = 1 << 32
	other := deletes(1, 2, 3)
	other[1].path = "/else"
	for name, test := range map[string]struct {
		servers [][]entry
		want    []int64
	}{
		"the same everywhere":              {[][]entry{deletes(1, 2, 3), deletes(1, 2, 3), deletes(1, 2, 3)}, []int64{1, 2, 3}},
		"one lags behind":                  {[][]entry{deletes(1, 2, 3), deletes(1), deletes(1, 2, 3)}, []int64{1, 2, 3}},
		"a proposal of a lost leader":      {[][]entry{deletes(1, 2, 3, epoch+1), deletes(1, 2, epoch+1), deletes(1, 2, epoch+1)}, []int64{1, 2, epoch + 1}},
		"one was sent the leader's tree":   {[][]entry{deletes(1, 2, 3, 4), deletes(1, 2, 3, 4), deletes(1, 4)}, []int64{1, 2, 3, 4}},
		"one wrote transactions twice":     {[][]entry{deletes(1, 2, 3), append(deletes(1, 2), deletes(1, 2, 3)...), deletes(1, 2, 3)}, []int64{1, 2, 3}},
		"one has another transaction":      {[][]entry{deletes(1, 2, 3), other, deletes(1, 2, 3)}, []int64{1, 2, 3}},
		"no two of three have the same":    {[][]entry{deletes(1, 2, 3), other, deletes(1, 3)}, []int64{1, 3}},
		"a server alone":                   {[][]entry{deletes(1, 2)}, []int64{1, 2}},
		"what two of five have is too few": {[][]entry{deletes(1, 2), deletes(1, 2), deletes(1), deletes(1), deletes(1)}, []int64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			dirs := make(map[int]txnlog.Dir)
			for i, entries := range test.servers {
				dirs[i+1] = serverDir(t, entries)
			}
			var got []int64
			for x, err := range txnlog.Committed(dirs) {
				must(t, err)
				if x.Zxid == 2 && x.Changes[0].Path != "/n2" {
					t.Errorf("0x2 is of %s, which one server alone has", x.Changes[0].Path)
				}
				got = append(got, x.Zxid)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%d are committed, want %d", got, test.want)
			}
		})
	}
}

func TestADamagedLogIsNoBasisOfWhatIsCommitted(t *testing.T) {
	dirs := map[int]txnlog.Dir{1: serverDir(t, deletes(1, 2)), 2: serverDir(t, deletes(1, 2)), 3: serverDir(t, deletes(1, 2))}
	log, err := os.ReadFile(dirs[2].Logs[0])
	must(t, err)
	log[len(log)-3]++ // in the digest of the last
	must(t, os.WriteFile(dirs[2].Logs[0], log, 0o600))
	for _, err = range txnlog.Committed(dirs) {
	}
	if !errors.Is(err, txnlog.ErrDamaged) {
		t.Errorf("%v, want ErrDamaged", err)
	}
}
