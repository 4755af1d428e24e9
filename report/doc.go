// Package report tells people and programs what the checker found: a table for
// a terminal, and verdict.json. It decides nothing.
package report
