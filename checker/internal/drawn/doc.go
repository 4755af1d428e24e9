// Package drawn holds the tools that tests of judges share: histories drawn at random, with
// random violations, and brute force, which tries every order of a few operations.
package drawn
