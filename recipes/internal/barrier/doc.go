// Package barrier implements the directory of a double barrier: its members, and the rounds
// in which they enter and leave. round.go has the rules.
package barrier
