package campaign

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Runs go on beside each other, while results are taken one after the other.
func TestRunsAreMadeSeveralAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, began := &Campaign{Jobs: 3, Total: 7}, time.Now()
		told, sum, taking := "", 0, false
		err := Make(t.Context(), c, slices.Values([]int{1, 2, 3, 4, 5, 6, 7}), func(_ context.Context, n int) (int, error) {
			time.Sleep(time.Second)
			return 10 * n, nil
		}, func(n, result int) error {
			if taking || result != 10*n {
				t.Errorf("%d is taken for run %d, while another one is: %v", result, n, taking)
			}
			taking = true
			defer func() { taking = false }()
			sum += n
			told += c.Left()
			return nil
		})
		if took := time.Since(began); err != nil || sum != 1+2+3+4+5+6+7 || took != 3*time.Second {
			t.Errorf("the runs have the sum %d in %v, error %v", sum, took, err)
		}
		if !strings.HasPrefix(told, " (1 of 7, about 6s left) (2 of 7,") || strings.Count(told, "left") != 6 {
			t.Errorf("it says %q", told)
		}
	})
}

// No run begins after an error, the end of the time, or the end of the context. A run that the end
// of the context cuts off has no result.
func TestACampaignEndsEarly(t *testing.T) {
	broken := errors.New("disk full")
	for name, c := range map[string]struct {
		limit   time.Duration
		failAt  int // the run that fails
		badAt   int // the run whose result cannot be taken
		cancel  int // the run in which the context ends
		want    []int
		failure error
	}{
		"in an hour":       {limit: time.Hour, want: []int{1, 2, 3, 4}},
		"a run fails":      {failAt: 3, want: []int{1, 2}, failure: broken},
		"a result is lost": {badAt: 2, want: []int{1}, failure: broken},
		"an interrupt":     {cancel: 3, want: []int{1, 2}},
		"the time is up":   {limit: 2500 * time.Millisecond, want: []int{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var taken []int
				err := Make(ctx, &Campaign{For: c.limit}, slices.Values([]int{1, 2, 3, 4}), func(_ context.Context, n int) (int, error) {
					time.Sleep(time.Second)
					switch n {
					case c.failAt:
						return n, broken
					case c.cancel:
						cancel()
					}
					return n, nil
				}, func(n, _ int) error {
					if n == c.badAt {
						return broken
					}
					taken = append(taken, n)
					return nil
				})
				if !errors.Is(err, c.failure) || !slices.Equal(taken, c.want) {
					t.Errorf("runs %v, error %v; want %v, %v", taken, err, c.want, c.failure)
				}
			})
		})
	}
}

func TestARunThatShowsNothingIsRepeated(t *testing.T) {
	broken := errors.New("no ensemble")
	for name, c := range map[string]struct {
		voids, failAt, cancel, made int
	}{
		"at once": {made: 1}, "the second time": {voids: 1, made: 2}, "the last time": {voids: 2, made: 3}, "never": {voids: 9, made: 3},
		"it fails": {voids: 9, failAt: 2, made: 2}, "an interrupt": {voids: 9, cancel: 2, made: 2},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var said []string
		campaign, made := &Campaign{Say: func(text string) { said = append(said, text) }}, 0
		err := campaign.UntilShown(ctx, "seed 1", func(again int) (void string, err error) {
			switch made++; {
			case made == c.failAt:
				err = broken
			case made == c.cancel:
				cancel()
			}
			if made <= c.voids {
				void = "busy"
			}
			return void, err
		})
		cancel()
		if made != c.made || (c.failAt > 0) != errors.Is(err, broken) || len(said) != made-1 || len(said) > 0 && said[0] != "seed 1: busy: it is made again" {
			t.Errorf("%s: %d runs, error %v, says %q", name, made, err, said)
		}
	}
}

// The end of a command is its status and its last error. Its folder is empty at the beginning.
func TestACommandIsStarted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for range 2 {
		if err := Fresh(dir); err != nil {
			t.Fatal(err)
		}
		p := Program{Path: "/bin/sh", Before: []string{"-c", `[ -z "$(ls "$1")" ] || exit 1; touch "$1/left"; echo "zkverify: no $LOCK"; echo bye >&2; exit 69`, "sh"}}
		ended, err := p.Start(t.Context(), []string{"LOCK=kazoo"}, []string{dir})
		if err != nil || ended.Status != Unavailable || ended.LastWords() != "no kazoo" || string(ended.Said) != "zkverify: no kazoo\nbye\n" {
			t.Errorf("%+v, %q, error %v", ended, ended.LastWords(), err)
		}
	}
	if ended, err := (Program{Path: "/bin/false"}).Start(t.Context(), nil, nil); err != nil || ended.LastWords() != "exit status 1" {
		t.Errorf("%q, error %v", ended.LastWords(), err)
	}
	if _, err := (Program{Path: filepath.Join(dir, "none")}).Start(t.Context(), nil, nil); err == nil {
		t.Error("a program that is not there was started")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Program{Path: "/bin/true"}).Start(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted command: %v", err)
	}
}

func TestAStateIsSavedAndLoaded(t *testing.T) {
	dir, fine := t.TempDir(), func() error { return nil }
	saved, loaded := []int{1, 2}, []int(nil)
	if err := Load(dir, "a.json", &loaded, fine); err != nil || loaded != nil {
		t.Errorf("of nothing: %v, %v", loaded, err)
	}
	page := func(w io.Writer) error { _, err := io.WriteString(w, "page"); return err }
	err := errors.Join(Save(dir, map[string]func(io.Writer) error{"a.json": JSON(saved), "a.md": page}), Load(dir, "a.json", &loaded, fine))
	if text, _ := os.ReadFile(filepath.Join(dir, "a.md")); err != nil || !slices.Equal(loaded, saved) || string(text) != "page" {
		t.Errorf("%v, page %q, error %v", loaded, text, err)
	}
	old := func() error { return errors.New("of an older version") }
	for _, err := range []error{Load(dir, "a.md", &loaded, fine), Load(dir, "a.json", &loaded, old)} {
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v; want one that names the file", err)
		}
	}
}
