// Package report writes the checker's findings for people and programs: a table for
// a terminal, a page for a browser, JUnit XML, and verdict.json. It judges nothing
// itself.
package report
