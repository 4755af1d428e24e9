// Package picture draws violations, as Porcupine does: the operations around them in
// words, with the states of the models that they are judged by.
package picture
