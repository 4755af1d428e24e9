// Package explain explains a violation.
//
//   - [Pick] picks the events that explain it, and [Tell] describes each of them in plain words.
//   - A [Drawing] shows the operations around it with Porcupine, in words, with the states of the
//     models that judge them.
//   - [Shrink] leaves events out of the history as long as the violation stays the same and no
//     other one appears.
package explain
