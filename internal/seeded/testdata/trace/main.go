// Trace makes many choices in a testing/synctest bubble and prints a hash of what it saw,
// for the test of package seeded. The variable SEED is the seed.
package main

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/internal/seeded"
)

// scenes are the kinds of choices: each has a hash of its own, so that a test can tell
// which kind differs.
var scenes = []struct {
	name string
	play func(note func(...any))
}{
	{"draws", draws}, {"maps", ranges}, {"selects", selects}, {"timers", timers}, {"pairs", pairs},
	{"contexts", contexts}, {"mutexes", mutexes}, {"work", work}, {"wakes", wakes}, {"pauses", pauses},
}

// moved keeps what each process allocates another amount of.
var moved [][]byte

func main() {
	seeded.Prepare()
	for i := range os.Getpid() % 97 { // as packages do that look at the machine
		moved = append(moved, make([]byte, 16*(i+1)))
	}
	seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	seeded.Seed(seed)
	tests := []testing.InternalTest{{Name: "trace", F: func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, s := range scenes {
				var b strings.Builder
				var mu sync.Mutex
				s.play(func(a ...any) { mu.Lock(); fmt.Fprintln(&b, a...); mu.Unlock() })
				h := fnv.New64a()
				_, _ = h.Write([]byte(b.String()))
				fmt.Printf("%s=%016x\n", s.name, h.Sum64())
			}
		})
	}}}
	testing.Main(func(string, string) (bool, error) { return true, nil }, tests, nil, nil)
}

func draws(note func(...any)) {
	note(rand.Uint64(), rand.N(1000), maphash.String(maphash.MakeSeed(), "x"), crand.Text())
}

func ranges(note func(...any)) {
	words := map[string]int{}
	for i := range 100 {
		words[strconv.Itoa(i)] = i
	}
	for w := range words {
		note(w)
	}
}

func selects(note func(...any)) {
	a, b, c := make(chan int, 50), make(chan int, 50), make(chan int, 50)
	for i := range 50 {
		a <- i
		b <- i
		c <- i
	}
	for range 150 {
		select {
		case i := <-a:
			note("a", i)
		case i := <-b:
			note("b", i)
		case i := <-c:
			note("c", i)
		}
	}
}

// timers are due at the same instants, as functions, channels and sleeps.
func timers(note func(...any)) {
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Add(2)
		time.AfterFunc(time.Second, func() { note("func", i); wg.Done() })
		go func() {
			defer wg.Done()
			time.Sleep(time.Second)
			note("slept", i)
			late := time.NewTimer(2 * time.Second)
			select {
			case <-late.C:
				note("timer", i)
			case <-time.After(2 * time.Second):
				note("after", i)
			}
		}()
	}
	wg.Wait()
}

// pairs of timers that are due at one instant are waited for together. Which of the two has
// the lower address is another in each second process.
func pairs(note func(...any)) {
	var wg sync.WaitGroup
	for i := range 40 {
		a, b := time.NewTimer(time.Second), time.NewTimer(time.Second)
		if os.Getpid()%2 == 0 {
			a, b = b, a
		}
		wg.Go(func() {
			select {
			case <-a.C:
				note("a", i)
			case <-b.C:
				note("b", i)
			}
		})
	}
	wg.Wait()
}

// contexts have more children than a small map holds, which is keyed by pointers.
func contexts(note func(...any)) {
	parent, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 50 {
		ctx, cancel := context.WithCancel(parent)
		defer cancel()
		wg.Add(2)
		context.AfterFunc(ctx, func() { note("canceled", i); wg.Done() })
		go func() { <-ctx.Done(); note("done", i); wg.Done() }()
	}
	wg.Wait()
}

func mutexes(note func(...any)) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for n := range 20 {
				mu.Lock()
				wait := make(chan bool)
				go close(wait)
				<-wait
				note(i, n)
				mu.Unlock()
				time.Sleep(time.Duration(rand.N(3)) * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// work takes longer than the 10 ms after which stock Go preempts a goroutine.
func work(note func(...any)) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 15 {
				x := uint64(i)
				for range 1_000_000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
				note(i, n, x)
			}
		})
	}
	wg.Wait()
}

// wakes pass a token among goroutines that all wait for one.
func wakes(note func(...any)) {
	token := make(chan int)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			for n := range token {
				note(i, n)
				if n > 0 {
					go func() { token <- n - 1 }()
				} else {
					close(token)
				}
			}
		})
	}
	token <- 500
	wg.Wait()
}
