package cycle

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

func TestAClientsChoicesAreAFunctionOfTheSeed(t *testing.T) {
	draw := func(seed uint64) (out []Plan) {
		r := rand.New(rand.NewPCG(seed, 1))
		for range 1000 {
			out = append(out, Mix{}.WithDefaults().Draw(r, 5, 3, 2*time.Second))
		}
		return out
	}
	if !reflect.DeepEqual(draw(7), draw(7)) {
		t.Error("two draws of one seed differ")
	}
	if reflect.DeepEqual(draw(7), draw(8)) {
		t.Error("two seeds drew the same")
	}
}

func TestTheLongestRestIsForTheMixToSay(t *testing.T) {
	for rest, want := range map[time.Duration]time.Duration{0: time.Millisecond, time.Second: time.Second} {
		r := rand.New(rand.NewPCG(1, 1))
		var longest time.Duration
		for range 1000 {
			longest = max(longest, Mix{Rest: rest}.WithDefaults().Draw(r, 5, 3, 2*time.Second).Rest)
		}
		if longest > want || longest < want*9/10 {
			t.Errorf("a rest of %v at the longest; want %v", longest, want)
		}
	}
}

func TestTheMixHasItsShares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 20_000
	var ways [4]int
	var deep, crashes, on, away int
	var held time.Duration
	for range n {
		c := Mix{Crash: 0.01, Long: -1}.WithDefaults().Draw(r, 5, 3, 2*time.Second)
		ways[c.Way]++
		held += c.Hold
		if c.Depth > 1 {
			deep++
		}
		if c.Crash {
			crashes++
		}
		if c.HoldOn > 0 {
			on++
		}
		if c.Way == Wait && c.Lock != 3 {
			away++
		}
		if c.Lock < 0 || c.Lock >= 5 || c.Patience <= 0 || c.Patience > 101*time.Millisecond || c.HoldOn > 5*time.Second {
			t.Fatalf("impossible cycle %+v", c)
		}
	}
	for name, c := range map[string]struct {
		got  float64
		want float64
	}{
		"try":     {float64(ways[Try]) / n, 0.15},
		"timeout": {float64(ways[Timeout]) / n, 0.25},
		"cancel":  {float64(ways[Cancel]) / n, 0.10},
		"wait":    {float64(ways[Wait]) / n, 0.50},
		"reenter": {float64(deep) / n, 0.1},
		"crash":   {float64(crashes) / n, 0.01},
		"hold on": {float64(on) / n, 0.7},
		"hold":    {float64(held) / n, float64(2 * time.Millisecond)},
		"away":    {float64(away) / float64(ways[Wait]), 0.04},
	} {
		if c.got < 0.8*c.want || c.got > 1.2*c.want {
			t.Errorf("%s: %v; want about %v", name, c.got, c.want)
		}
	}
}
