package workload

import (
	"reflect"
	"testing"
)

func TestWatchesAreCountedUnderTheLocksAlone(t *testing.T) {
	const wchp = "/z/run-1/locks/lock-0/n-1\n\t0x1\n\t0x2\n/z/run-1/sessions\n\t0x3\n/z/run-1/locks/lock-1\n\t0x1\n/z/run-1/locksmith\n\t0x1\n\n"
	got := watchedPaths(wchp, "/z/run-1/locks")
	if want := []string{"/z/run-1/locks/lock-0/n-1", "/z/run-1/locks/lock-0/n-1", "/z/run-1/locks/lock-1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("watches on %v; want %v", got, want)
	}
}
