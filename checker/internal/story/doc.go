// Package story tells a violation in plain words: it picks the events that explain it,
// and says each of them.
package story
