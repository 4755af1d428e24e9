// Package report tells people and programs what the checker found: a table for
// a terminal, a page for a browser, JUnit XML, and verdict.json. It decides
// nothing.
package report
