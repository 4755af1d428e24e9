package txnlog_test

import (
	"slices"
	"testing"

	"github.com/zkverify/zkverify/ensemble/txnlog"
)

func TestTransactionsThatAreLoggedTwice(t *testing.T) {
	for name, test := range map[string]struct{ log, want []int64 }{
		"none":           {[]int64{1, 2, 3, 5}, nil},
		"two once more":  {[]int64{1, 2, 3, 2, 3, 4}, []int64{2, 3}},
		"one three time": {[]int64{1, 2, 2, 2, 3}, []int64{2}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := txnlog.Twice(serverDir(t, deletes(test.log...)))
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%v, %v; want %v", got, err, test.want)
			}
		})
	}
}
