package main

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble"
)

func TestTheExitStatusOfARunTellsWhatMattersMost(t *testing.T) {
	broken := errors.New("a fault did not heal")
	full := errors.New("no space left on device")
	for _, c := range []struct {
		outcome           verdict.Outcome
		interrupted       bool
		failed, unprinted error
		status            int
	}{
		{verdict.Holds, false, nil, nil, 0},
		{verdict.Holds, true, nil, nil, 2},
		{verdict.Holds, false, broken, nil, 2},
		{verdict.Holds, false, nil, full, 2},
		{verdict.Holds, false, fmt.Errorf("phase: %w", ensemble.ErrServerDied), nil, 69},
		{verdict.Violated, false, nil, nil, 1},
		{verdict.Violated, true, nil, nil, 1},
		{verdict.Violated, false, broken, nil, 1},
		{verdict.Violated, true, ensemble.ErrServerDied, nil, 1},
		{verdict.Violated, false, nil, full, 2},
		{verdict.Unknown, false, nil, nil, 2},
		{verdict.Unknown, true, nil, nil, 2},
		{verdict.NotExercised, false, nil, nil, 2},
		{verdict.NotExercised, true, nil, nil, 2},
		{verdict.NotJudged, false, nil, nil, 2},
	} {
		if got := statusOf(runEnd(c.outcome, c.interrupted, c.failed, c.unprinted)); got != c.status {
			t.Errorf("%s, interrupted %v, failed: %v, unprinted: %v: exit status %d, want %d", c.outcome, c.interrupted, c.failed, c.unprinted, got, c.status)
		}
	}
}

// Each flag of the mix reaches the run, and can be read back from the header of its history.
func TestEachFlagOfTheMixIsCarriedThrough(t *testing.T) {
	var flags mixFlags
	v := reflect.ValueOf(&flags).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Float64:
			f.SetFloat(float64(i+1) / 1000)
		default:
			f.SetInt(int64(time.Duration(i+1) * time.Millisecond))
		}
	}
	mix := reflect.ValueOf(flags.mix())
	options := make(map[string]string)
	flags.options(options)
	if len(options) != v.NumField() {
		t.Errorf("%d flags, and %d options: %v", v.NumField(), len(options), options)
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if got := mix.FieldByName(name); !got.IsValid() || got.Interface() != v.Field(i).Interface() {
			t.Errorf("the flag %s is %v, and the run is told %v", name, v.Field(i), got)
		}
	}
	if m := (mixFlags{}).mix(); m.Try >= 0 {
		t.Errorf("a share of 0 has to be told as none, not as %v, which is the default", m.Try)
	}
}
