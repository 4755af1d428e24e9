// Package drawn has what tests of judges share: histories drawn at random, with what
// is wrong in them left to chance, and brute force, which tries every order of a few
// operations.
package drawn
