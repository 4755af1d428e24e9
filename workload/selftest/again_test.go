package selftest

import (
	"errors"
	"reflect"
	"testing"
)

func TestATrialThatHasShownNothingIsMadeAgain(t *testing.T) {
	type run = func(*Trial) (void bool, err error)
	void := func(t *Trial) (bool, error) {
		t.Why, t.Fired = "nobody to hit", []string{"left over"}
		return true, nil
	}
	good := func(t *Trial) (bool, error) { t.OK = true; return false, nil }
	bad := func(t *Trial) (bool, error) { t.Why = "escaped"; return false, nil }
	broken := func(*Trial) (bool, error) { return false, errors.New("no ensemble") }
	for name, c := range map[string]struct {
		runs []run
		want Trial
		err  bool
	}{
		"at once":          {runs: []run{good}, want: Trial{Target: "it", OK: true}},
		"the second time":  {runs: []run{void, good}, want: Trial{Target: "it", Seed: 1, OK: true, Again: 1}},
		"never":            {runs: []run{void, void, void}, want: Trial{Target: "it", Seed: 2, Why: "nobody to hit", Fired: []string{"left over"}, Again: 2}},
		"a lock escapes":   {runs: []run{bad}, want: Trial{Target: "it", Why: "escaped"}},
		"escapes later":    {runs: []run{void, bad}, want: Trial{Target: "it", Seed: 1, Why: "escaped", Again: 1}},
		"it cannot be run": {runs: []run{broken}, want: Trial{Target: "it"}, err: true},
	} {
		t.Run(name, func(t *testing.T) {
			trial := Trial{Target: "it"}
			err := trial.untilShown(func(trial *Trial) (bool, error) {
				if len(c.runs) == 0 {
					t.Fatal("once too often")
				}
				run := c.runs[0]
				c.runs = c.runs[1:]
				return run(trial)
			})
			if (err != nil) != c.err || len(c.runs) > 0 || !reflect.DeepEqual(trial, c.want) {
				t.Errorf("%+v, %v, %d runs not made; want %+v", trial, err, len(c.runs), c.want)
			}
		})
	}
}
