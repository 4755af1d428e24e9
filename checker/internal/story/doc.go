// Package story tells a violation in plain words: it picks the events that explain it, and
// describes each of them.
package story
