package report_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

// noHolds is violated by every history.
type noHolds struct{}

func (noHolds) Event(int, *histories.Event) {}

func (noHolds) Conclude(v *verdict.Verdict) {
	v.Violate(func() verdict.Witness {
		return verdict.Witness{Lock: "orders", From: time.Second, To: 2 * time.Second, What: "a lock was held"}
	})
	v.Conclude("no lock was held", "locks were held")
}

func TestAnOwnGuaranteeIsReportedLikeOurs(t *testing.T) {
	h := &histories.History{Header: histories.Header{Version: histories.Version, Recipe: string(histories.Mutex)}}
	for i, e := range []histories.Event{
		{Type: histories.Invoke, Op: histories.Acquire}, {Type: histories.OK, Op: histories.Acquire},
		{Type: histories.Invoke, Op: histories.Release}, {Type: histories.OK, Op: histories.Release},
	} {
		e.Time, e.Lock = time.Duration(i)*time.Second, "orders"
		h.Events = append(h.Events, e)
	}
	own := checker.OwnGuarantee{
		Name: "no holds", Summary: "no client ever holds a lock", Of: histories.Recipe.Exclusive,
		Begin: func(*histories.Header) checker.EventJudge { return noHolds{} },
	}
	r, err := checker.Check(context.Background(), h, checker.WithGuarantee(own))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(report.CasesOf(h.Header, r), func(c report.Case) bool {
		return c.Guarantee == own.Name && c.Recipe == histories.Mutex && c.Outcome == verdict.Violated
	}) {
		t.Errorf("it is no case: %+v", report.CasesOf(h.Header, r))
	}
	events := func(yield func(*histories.Event, error) bool) {
		for i := range h.Events {
			if !yield(&h.Events[i], nil) {
				return
			}
		}
	}
	var page bytes.Buffer
	if err := report.HTML(t.Context(), &page, "x", h.Header, events, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{own.Name, own.Summary} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
