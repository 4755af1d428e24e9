// Package picture draws violations with Porcupine: the operations around them in words, with
// the states of the models that judge them.
package picture
