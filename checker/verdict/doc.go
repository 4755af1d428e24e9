// Package verdict has what a checker says of a history: of each guarantee whether it
// holds, and of each violation who was involved, from when to when, and under which
// fault.
//
// Who judges a guarantee counts its violations with [Verdict.Violate], its figures with
// [Verdict.Count], and ends with [Verdict.Conclude], or with [Verdict.Idle] if nothing
// put it to the test.
package verdict
