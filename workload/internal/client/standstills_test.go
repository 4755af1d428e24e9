package client

import (
	"testing"
	"time"
)

func TestWhatIsNotedAfterAStandstillMayHaveBeenDueSinceItsStart(t *testing.T) {
	const stretch = 50 * time.Millisecond
	start := time.Now()
	for name, c := range map[string]struct {
		ran  []time.Duration // when the goroutine ran, ms
		now  time.Duration
		want time.Duration
	}{
		"it has not begun":                         {nil, 500, 0},
		"it runs when it is due":                   {[]time.Duration{0, 5, 10, 15}, 18, 0},
		"one turn is missed":                       {[]time.Duration{0, 5, 15, 20}, 21, 0},
		"it stands still":                          {[]time.Duration{0, 5}, 85, 80},
		"it has just stood still":                  {[]time.Duration{0, 5, 85}, 86, 81},
		"a stretch ago":                            {[]time.Duration{0, 5, 85, 90, 100, 110, 120, 130}, 134, 129},
		"longer ago, and all has been noted since": {[]time.Duration{0, 5, 85, 90, 100, 110, 120, 130}, 140, 0},
		"twice, with less than a stretch between":  {[]time.Duration{0, 5, 85, 90, 130}, 131, 126},
		"twice, with more than a stretch between":  {[]time.Duration{0, 5, 85, 95, 105, 115, 125, 135, 145, 185}, 186, 41},
	} {
		t.Run(name, func(t *testing.T) {
			s := Standstills{Stretch: stretch}
			for _, at := range c.ran {
				s.note(start.Add(at * time.Millisecond))
			}
			if got := s.Late(start.Add(c.now * time.Millisecond)); got != c.want*time.Millisecond {
				t.Errorf("late by %v; want %v", got, c.want*time.Millisecond)
			}
		})
	}
}
