package checker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// sketch is the data of a page of Porcupine.
type sketch struct {
	Partitions []struct {
		History []struct {
			ClientId, Start, End  int
			Description, Metadata string
		}
		PartialLinearizations [][]struct{ StateDescription string }
	}
	Annotations []struct{ Tag, Description, Details string }
}

func pictureOf(t *testing.T, h *histories.History, guarantee string) (page string, d sketch) {
	t.Helper()
	x, err := Explain(context.Background(), h, guarantee)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := x.Picture(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	page = b.String()
	_, data, found := strings.Cut(page, "const data = ")
	if !found {
		t.Fatal("the page has no data")
	}
	if err := json.NewDecoder(strings.NewReader(data)).Decode(&d); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"<title>" + guarantee + ": violated</title>", "<h1>" + guarantee, "Porcupine finds no order"} {
		if !strings.Contains(page, what) {
			t.Errorf("the page does not say %q", what)
		}
	}
	return page, d
}

func (d *sketch) says(t *testing.T, what ...string) {
	t.Helper()
	for _, w := range what {
		n := 0
		for _, p := range d.Partitions {
			for _, o := range p.History {
				if o.Description == w {
					n++
				}
			}
		}
		for _, a := range d.Annotations {
			if a.Description == w {
				n++
			}
		}
		if n == 0 {
			t.Errorf("nothing says %q", w)
		}
	}
}

func TestAPictureShowsTheViolation(t *testing.T) {
	barrier := func(make func(*run)) func(*run) {
		return func(r *run) {
			r.h.Header.Locks = map[string]histories.Lock{"a": {Recipe: histories.Barrier}}
			make(r)
		}
	}
	one := func(r *run, from, to, p int, op histories.Op) *run {
		return r.op(from, histories.Invoke, p, op, histories.Event{}).op(to, histories.OK, p, op, histories.Event{})
	}
	for _, c := range []struct {
		guarantee string
		make      func(*run)
		says      []string
		state     string
	}{
		{MutualExclusion, func(r *run) {
			r.want(1, 1).got(2, 1, 7).fault(3, histories.FaultStart, "isolate", 1).want(3, 2).got(4, 2, 9).lost(5, 1).expired(6, 1).release(7, 2).released(8, 2)
		}, []string{
			"process 1 acquires a, token 0x7", "process 1 has lost a", "process 2 acquires a, token 0x9", "process 2 releases a",
			"isolate on client", "process 1 is told that it has lost a", "the servers have ended session s1", "violated: mutual exclusion",
		}, "held by process 1"},
		{ReadersAndWriters, readWrite(func(r *run) {
			r.takes(3, 1, reading, 2).takes(6, 2, writing, 4).gives(7, 1, reading).gives(8, 2, writing)
		}), []string{"process 1 acquires a to read, token 0x2", "process 2 acquires a to write, token 0x4", "process 1 releases a to read"}, "held by process 1, to read"},
		{Permits, semaphore(histories.SharedSemaphore, func(r *run) {
			r.permits(3, 1, 2, 2).resize(4, 5, 4, 2, histories.OK).permits(6, 2, 1, 3).back(7, 1, 2, 2).back(8, 2, 1, 3)
		}), []string{"process 1 acquires 2 permits of a, token 0x2", "process 4 makes the size 2", "process 2 acquires 1 permit of a, token 0x3"}, "size 2; held by process 1: 2"},
		{Fairness, func(r *run) {
			r.want(0, 1).place(1, 1, 1).want(2, 2).place(3, 2, 2).got(4, 2, 2).release(5, 2).released(6, 2).got(7, 1, 1)
		}, []string{"process 1 queues for a, place 0x1", "process 2 queues for a, place 0x2", "process 1 is granted a", "process 2 is granted a"}, "process 1 at the head, granted the lock, 1 behind"},
		{Barriers, barrier(func(r *run) {
			one(one(r, 1, 2, 1, histories.Set), 3, 4, 2, histories.Wait)
		}), []string{"process 1 puts up a", "process 2 passes a"}, "up"},
	} {
		t.Run(c.guarantee, func(t *testing.T) {
			r := newRun(t)
			c.make(r)
			_, d := pictureOf(t, r.h, c.guarantee)
			d.says(t, c.says...)
			states := map[string]bool{}
			for _, l := range d.Partitions[0].PartialLinearizations {
				for _, s := range l {
					states[s.StateDescription] = true
				}
			}
			if !states[c.state] {
				t.Errorf("no order that was tried has the state %q: %v", c.state, states)
			}
		})
	}
}

func TestAPictureOfALongHistoryHasTheViolationAndFewOperations(t *testing.T) {
	_, d := pictureOf(t, haystack(t, 3000, doubleHold), MutualExclusion)
	d.says(t, fmt.Sprintf("process 1 acquires a, token %#x", 15000), fmt.Sprintf("process 2 acquires a, token %#x", 15001), "down on client")
	if n := len(d.Partitions[0].History); n > 500 || n < 400 {
		t.Errorf("%d operations are drawn", n)
	}
}

// Two boxes of one row that overlap could not be told apart.
func TestTheBoxesOfAPictureDoNotOverlap(t *testing.T) {
	r := newRun(t)
	for p := 1; p <= 9; p++ {
		r.want(0, p)
	}
	for p := 9; p >= 1; p-- {
		r.place(10-p, p, 10-p)
	}
	for p := 1; p <= 9; p++ {
		r.got(10+p, p, 10-p) // in the wrong order
	}
	r.want(30, 0).place(31, 0, 20).got(31, 0, 20) // three operations that touch
	_, d := pictureOf(t, r.h, Fairness)
	ends := map[int]int{}
	ops := d.Partitions[0].History
	slices.SortFunc(ops, func(a, b struct {
		ClientId, Start, End  int
		Description, Metadata string
	}) int {
		return a.Start - b.Start
	})
	for _, o := range ops {
		if end, ok := ends[o.ClientId]; ok && o.Start <= end {
			t.Errorf("%q begins on row %d before what stands there has ended", o.Description, o.ClientId)
		}
		ends[o.ClientId] = o.End
	}
}

func TestNamesOfAHostileHistoryAreNoMarkup(t *testing.T) {
	const name = `</script><script>alert(1)</script><img src=x onerror=alert(2)>`
	h := haystack(t, 10, doubleHold)
	for i := range h.Events {
		e := &h.Events[i]
		if e.Lock != "" {
			e.Lock = name
		}
		if e.Type == histories.OK {
			e.Owner, e.Session = name+string(rune('0'+e.Process)), name
		}
		if e.Fault != nil {
			e.Fault = &histories.Fault{ID: 1, Name: name, Targets: []string{name}, Processes: []int{1}}
		}
	}
	h.Events = append(h.Events, histories.Event{Time: h.Events[len(h.Events)-1].Time, Type: histories.Expired, Process: -1, Session: name})
	h.Header.Target = name
	page, d := pictureOf(t, h, MutualExclusion)
	if n := strings.Count(page, "<script"); n != 1 || strings.Count(page, "</script") != 1 {
		t.Errorf("the page has %d scripts", n)
	}
	if strings.Contains(page, "<img") {
		t.Error("the page has an image")
	}
	// The texts that the page's script puts into the page as HTML.
	for _, p := range d.Partitions {
		for _, o := range p.History {
			if strings.ContainsAny(o.Metadata, "<>") {
				t.Errorf("markup in a tooltip: %q", o.Metadata)
			}
		}
		for _, l := range p.PartialLinearizations {
			for _, s := range l {
				if strings.ContainsAny(s.StateDescription, "<>") {
					t.Errorf("markup in a state: %q", s.StateDescription)
				}
			}
		}
	}
}

func TestWhatPorcupineHasNoModelOfHasNoPicture(t *testing.T) {
	x, err := Explain(context.Background(), haystack(t, 4, oldToken), Fencing)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Picture(context.Background(), new(bytes.Buffer)); !errors.Is(err, ErrNoPicture) {
		t.Errorf("got %v", err)
	}
}

// Every violation of the corpus that has a model is drawn, and Porcupine finds the violation
// wherever it judges at all.
func TestEveryViolationOfTheCorpusIsDrawn(t *testing.T) {
	sketch := 0
	for _, h := range readCorpus(t) {
		guarantee := h.Header.Options["guarantee"]
		x, err := Explain(context.Background(), h, guarantee)
		if err != nil {
			continue // it is not violated
		}
		var page bytes.Buffer
		err = x.Picture(context.Background(), &page)
		if x.guarantee.draw == nil || x.guarantee.draw(x.trace, x.Witness) == nil {
			if !errors.Is(err, ErrNoPicture) {
				t.Errorf("%s: %v", h.Header.Options["case"], err)
			}
			continue
		}
		sketch++
		if err != nil || page.Len() == 0 {
			t.Errorf("%s: %v", h.Header.Options["case"], err)
		}
		inOrder := strings.Contains(x.Witness.What, "took another") || strings.Contains(x.Witness.What, "by transaction")
		if strings.Contains(page.String(), "finds no order") == inOrder {
			t.Errorf("%s, %s: Porcupine says otherwise", guarantee, h.Header.Options["case"])
		}
	}
	if sketch < 30 {
		t.Errorf("only %d were drawn", sketch)
	}
}

func TestAPictureEndsWithItsContext(t *testing.T) {
	x, err := Explain(context.Background(), haystack(t, 10, doubleHold), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if err := x.Picture(ctx, new(bytes.Buffer)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestAPictureShowsLittleOfWhatCameAfter(t *testing.T) {
	r := newRun(t)
	doubleHold(r, 1, 1)
	for i := range 400 {
		r.cycle(100+2*i, 101+2*i, 3, 10+i)
	}
	_, d := pictureOf(t, r.h, MutualExclusion)
	d.says(t, "process 1 acquires a, token 0x1", "process 2 acquires a, token 0x2", "process 3 acquires a, token 0xa")
	if n := len(d.Partitions[0].History); n > 54 {
		t.Errorf("%d operations are drawn", n)
	}
}
