package session

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bootOf returns the machine's clock, which must be one that counts the sleep.
func bootOf(t *testing.T) bootClock {
	t.Helper()
	c, ok := MachineClock().(bootClock)
	if !ok {
		t.Fatalf("the machine's clock is a %T", MachineClock())
	}
	return c
}

func TestTheMachinesClockIsTheUptimeOfTheKernel(t *testing.T) {
	t.Parallel()
	const resolution = 10 * time.Millisecond // of /proc/uptime, which is cut off
	earliest, err := readClock(clockBoottime)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	latest, _ := readClock(clockBoottime)
	var seconds float64
	if _, err := fmt.Fscan(bytes.NewReader(text), &seconds); err != nil {
		t.Fatal(err)
	}
	if uptime := time.Duration(seconds * float64(time.Second)); uptime < earliest-resolution || uptime > latest {
		t.Errorf("up for %v, between %v and %v by the clock", uptime, earliest, latest)
	}
}

func TestTheMachinesClockGoesWithGosWhileTheMachineIsAwake(t *testing.T) {
	t.Parallel()
	c := bootOf(t)
	for range 1000 {
		if slept := c.Slept(); slept != 0 {
			t.Fatalf("the machine has slept for %v", slept)
		}
		before := time.Now()
		now := c.Now()
		if after := time.Now(); now.Before(before.Add(-exactness)) || now.After(after.Add(exactness)) {
			t.Fatalf("%v, between %v and %v", now, before, after)
		}
	}
}

func TestTheMachinesClockIsAheadOfGosAfterASleep(t *testing.T) {
	t.Parallel()
	const sleep = time.Hour
	c := bootOf(t)
	c.boot -= sleep // as if the clock had been started an hour earlier, by CLOCK_BOOTTIME alone
	if slept := c.Slept(); (slept - sleep).Abs() > exactness {
		t.Errorf("slept for %v", slept)
	}
	before := time.Now()
	now := c.Now()
	if after := time.Now(); now.Before(before.Add(sleep-exactness)) || now.After(after.Add(sleep+exactness)) {
		t.Errorf("%v, between %v and %v and an hour", now, before, after)
	}
	s := &Session{common: &common{cfg: Config{Clock: c}}, timeout: time.Minute, seen: evidence{counted: now}}
	want := before.Add(time.Minute - margin(time.Minute))
	if got := s.Deadline(); got.Before(want.Add(-exactness)) || got.After(want.Add(time.Since(before)+exactness)) {
		t.Errorf("deadline %v, want %v", got, want)
	}
}

func TestABubbleHasGosClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if c, ok := MachineClock().(goClock); !ok || c.NewAlarm() != nil {
			t.Errorf("a bubble's clock is a %T, and has an alarm", c)
		}
	})
}

func TestAnAlarmRingsWhenItIsDueAndEndsWhenItIsClosed(t *testing.T) {
	t.Parallel()
	c := bootOf(t)
	a := c.NewAlarm()
	if a == nil {
		t.Fatal("no alarm")
	}
	for _, after := range []time.Duration{20 * time.Millisecond, 0, -time.Hour, time.Millisecond} {
		set := c.Now()
		a.Set(time.Hour)
		a.Set(after) // in its place
		if !a.Wait() {
			t.Fatal("closed")
		}
		if took := c.Now().Sub(set); took < after {
			t.Errorf("it rang after %v, not %v", took, after)
		}
	}
	ended := make(chan bool)
	go func() { ended <- a.Wait() }()
	a.Set(time.Hour)
	a.Close()
	if <-ended {
		t.Error("it rang")
	}
	a.Set(time.Nanosecond)
	if a.Wait() {
		t.Error("it rings although it is closed")
	}
}

// The clocks of the kernel are far apart in a time namespace, as on a machine that has slept:
// only CLOCK_BOOTTIME is the uptime there.
func TestTheMachinesClockIsReadInATimeNamespace(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unshare := []string{"--time", "--boottime", "86400"}
	if out, err := exec.Command("unshare", append(unshare, "true")...).CombinedOutput(); err != nil {
		t.Skipf("no time namespace can be made (it takes root, and util-linux 2.36): %v: %s", err, out)
	}
	const tests = "^(TestTheMachinesClock(IsTheUptime|Goes|IsAhead).*|TestAnAlarm.*)$"
	out, err := exec.Command("unshare", append(unshare, self, "-test.run", tests, "-test.v")...).CombinedOutput()
	if err != nil || strings.Count(string(out), "\n--- PASS") != 4 {
		t.Errorf("in the namespace: %v\n%s", err, out)
	}
}
