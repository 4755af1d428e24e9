// Package histories defines the record of one run and reads and writes it.
//
// # Format
//
// A history is one file of JSON lines, named .jsonl, or .jsonl.zst when it is
// compressed with Zstandard. The first line is a [Header]; its field
// "zkverify" is the format version, and a reader refuses a version newer than
// its own. Each further line is one [Event]. The lines are in the order in
// which things happened, each stamped in nanoseconds on the run's one
// monotonic clock:
//
//	{"zkverify":4,"started":"2026-01-02T03:04:05Z","seed":7,"recipe":"mutex",…}
//	{"time":1200,"type":"invoke","process":0,"op":"acquire","lock":"orders"}
//	{"time":1900,"type":"enqueued","process":0,"lock":"orders","token":{"zxid":41}}
//	{"time":2500,"type":"ok","process":0,"op":"acquire","lock":"orders","token":{"zxid":41},"depth":1}
//
// # Recipes
//
// The header's "locks" says of each lock key which [Recipe] it is, and its
// size:
//
//	"locks":{"lock-0":{"recipe":"mutex"},"semaphore-0":{"recipe":"semaphore","size":3}}
//
// Then only the operations of its recipe are recorded of it, with the fields
// that they need: a mode for a read/write lock, permits for a semaphore, a
// generation for the members of a double barrier. An operation over several
// locks names them as "parts" instead of "lock", with the token of each once
// they are held.
//
// # Invariants
//
// Whatever a [Recorder] accepts and whatever a reader returns obeys these
// rules; a file that breaks one is refused with a [FormatError] that names the
// line, and never judged:
//
//   - time never decreases;
//   - a process is single-threaded: between an invoke and its completion (ok,
//     fail, info) it invokes nothing else, and the completion names the same
//     op, lock and store as the invoke, and the same mode, permits, size and
//     generation;
//   - a process whose operation ended in info, or that crashed, is retired:
//     nothing is recorded of it afterwards, except that the observer may still
//     see its session expire;
//   - a fault-stop has a fault-start with the same ID before it, and an ID is
//     not started again while it is active;
//   - nothing was recorded since the time from which a stalled event says that the
//     recording process stood still;
//   - every field that its type of event needs is there (see [Type]), and no
//     field, type, op, store, mode or phase is unknown;
//   - if the header lists locks, no other is named, and each has only the
//     operations of its recipe.
//
// Lock events (suspended, resumed, lost, revoke-requested, says) may come at any time
// of a process's life. An enqueued event outside an open acquire is allowed,
// since a target may report late, but says nothing.
//
// # Crashes
//
// An invoke, and everything before it, is in the hands of the operating system
// before Record returns, so before the request is sent: what a request may have
// done can never be missing from the history. A file whose last line was cut
// off is read up to its last whole line, and [History.Truncated] says so.
//
// # Jepsen
//
// Histories in Jepsen's EDN are read and written too, see [DecodeEDN] and
// [EncodeEDN]. [ReadFile] and [WriteFile] choose by the file's extension.
//
// # Porcupine
//
// The operations of a history can be written for a model of one's own, see
// [EncodePorcupine].
package histories
