// Package spec holds the models of the locks. Command spec/search searches every state that they
// can reach, with the model checker spin, and prints one table of the results. A search whose result is not the
// one that its model declares, or that is not complete, is a failure. Models include what they
// share, a file .inc. docs/spec.md tells how to read a model.
//
// The comments of a model declare its switches and searches, one on a line:
//
//	switch: NAME what it changes
//	switch: NAME=n what the value is
//	search: "NAME" [WORD...] [-DSWITCH[=VALUE]...] => RESULT
//
// The result is
//
//   - holds: the search has seen every state, and none is wrong
//   - violated TEXT: an assertion that has the text is violated; any without a text
//   - stuck: a state has no next step and no label that begins with end
//   - cycle: a run without end is one that must not be
//
// The words are
//
//   - quick: make test makes the search too, a few seconds
//   - ltl=NAME: the formula ltl NAME { … } holds for every run; other searches leave
//     formulas out
//   - accept, progress: no run passes a label accept… for ever; each passes a label
//     progress… again and again
//   - fair, with one of these three: a process that can go on does so at last
//   - depth=STEPS, memory=MB, time=SECONDS: limits in place of 1,000,000, 2000 and 120
//   - noreduce: without partial-order reduction
//
// Every search that holds must reach each line that ends in /* reached */, and a model has
// one or more. Every switch of a search is declared, and every switch BUG_… has a search
// that does not hold.
package spec
