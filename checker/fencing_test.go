package checker

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestFencing(t *testing.T) {
	answers(t, Fencing, []known{
		{"no lock is ever held", func(r *run) { r.want(0, 1) }, verdict.NotExercised},
		{"tokens grow", func(r *run) { r.cycle(0, 1, 1, 1).cycle(2, 3, 2, 2).cycle(4, 5, 1, 9) }, verdict.Holds},
		{"a token is older than one granted before", func(r *run) { r.cycle(0, 1, 1, 5).cycle(2, 3, 2, 4) }, verdict.Violated},
		{"a token is older than one granted long before", func(r *run) {
			r.cycle(0, 1, 1, 5).cycle(2, 3, 2, 6).cycle(4, 5, 3, 7).cycle(6, 7, 1, 5)
		}, verdict.Violated},
		{"a token is older than one granted before, though not than the last", func(r *run) {
			r.want(0, 1).want(0, 2).got(1, 2, 9).release(2, 2).released(3, 2).got(4, 1, 4).release(5, 1).released(6, 1).cycle(7, 8, 3, 7)
		}, verdict.Violated},
		{"two acquires at the same time may have tokens in any order", func(r *run) {
			r.want(0, 1).want(1, 2).got(2, 2, 5).release(3, 2).released(4, 2).got(5, 1, 4)
		}, verdict.Holds},
		{"an acquire begins in the instant in which another returns", func(r *run) {
			r.want(0, 1).got(5, 1, 5).want(5, 2).release(6, 1).released(6, 1).got(7, 2, 4)
		}, verdict.Holds},
		{"of two acquires at the same time the later was held until it was given back, with the older token", func(r *run) {
			r.want(0, 1).want(1, 2).got(2, 2, 5).got(3, 1, 4).release(4, 2).released(5, 2).release(6, 1).released(7, 1)
		}, verdict.Violated},
		{"of two acquires at the same time the later was of a session that had been expired by force", func(r *run) {
			r.want(0, 1).want(1, 2).expire(1, 1).got(2, 2, 5).got(3, 1, 4).release(4, 2).released(5, 2).release(6, 1).released(7, 1)
		}, verdict.Holds},
		{"two grants share a token", func(r *run) { r.want(0, 1).want(0, 2).got(1, 1, 5).lost(2, 1).got(3, 2, 5) }, verdict.Violated},
		{"three grants share a token, and the last to be answered was the first to be asked for", func(r *run) {
			r.want(0, 3).want(1, 1).got(2, 1, 5).lost(3, 1).want(4, 2).got(5, 2, 5).lost(6, 2).got(7, 3, 5)
		}, verdict.Violated},
		{"a grant has no token", func(r *run) { r.cycle(0, 1, 1, 0) }, verdict.Violated},
		{"a re-entry carries the token of its hold", func(r *run) {
			r.want(0, 1).got(1, 1, 5).want(2, 1).deeper(3, 1, 5, 2)
		}, verdict.Holds},
		{"a re-entry carries another token", func(r *run) {
			r.want(0, 1).got(1, 1, 5).want(2, 1).deeper(3, 1, 6, 2)
		}, verdict.Violated},
		{"a target that issues none is not held to it", func(r *run) {
			r.h.Header.Promises.Tokens = false
			r.cycle(0, 1, 1, 0)
		}, verdict.NotPromised},
	})
}

func TestFencingOfReadersAndWriters(t *testing.T) {
	cases := []known{
		{"the tokens of writers grow", func(r *run) {
			r.takes(1, 1, reading, 1).takes(2, 2, reading, 2).gives(3, 1, reading).gives(4, 2, reading).takes(5, 1, writing, 3)
		}, verdict.Holds},
		{"a writer's token is older than a reader's before it", func(r *run) { r.takes(1, 1, reading, 5).gives(2, 1, reading).takes(3, 2, writing, 4) }, verdict.Violated},
		{"a writer's token is older than a writer's before it", func(r *run) { r.takes(1, 1, writing, 5).gives(2, 1, writing).takes(3, 2, writing, 4) }, verdict.Violated},
		{"a reader's token is older than a writer's before it", func(r *run) { r.takes(1, 1, writing, 5).gives(2, 1, writing).takes(3, 2, reading, 4) }, verdict.Holds},
		{"a writer that queued before a downgrade has the older token", func(r *run) {
			r.takes(1, 1, writing, 1).mode(1, histories.Invoke, 2, histories.Acquire, writing, 0).takes(2, 1, reading, 3).gives(3, 1, writing).gives(4, 1, reading)
			r.mode(5, histories.OK, 2, histories.Acquire, writing, 2)
		}, verdict.Holds},
		{"two readers share a token", func(r *run) { r.takes(1, 1, reading, 5).takes(2, 2, reading, 5) }, verdict.Holds},
		{"a writer shares a reader's token", func(r *run) { r.takes(1, 1, reading, 5).gives(2, 1, reading).takes(3, 2, writing, 5) }, verdict.Violated},
		{"a writer has no token", func(r *run) { r.takes(1, 1, writing, 0) }, verdict.Violated},
	}
	for i := range cases {
		cases[i].make = readWrite(cases[i].make)
	}
	answers(t, Fencing, cases)
}
