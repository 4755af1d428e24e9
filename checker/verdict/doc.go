// Package verdict holds the results of a checker: for each guarantee an outcome, and for each
// violation the parties, the time and the faults.
//
// A judge counts the violations of its guarantee with [Verdict.Violate] and its figures with
// [Verdict.Count]. It ends with [Verdict.Conclude], or with [Verdict.Idle] if nothing put the
// guarantee to the test.
package verdict
