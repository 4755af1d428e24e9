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
//	{"zkverify":5,"started":"2026-01-02T03:04:05Z","seed":7,"recipe":"mutex",…}
//	{"time":1200,"type":"invoke","process":0,"op":"acquire","lock":"orders"}
//	{"time":1900,"type":"enqueued","process":0,"lock":"orders","token":{"zxid":41}}
//	{"time":2500,"type":"ok","process":0,"op":"acquire","lock":"orders","token":{"zxid":41},"depth":1}
//
// # Recipes
//
// The header's "locks" gives the [Recipe] and the size of each lock key:
//
//	"locks":{"lock-0":{"recipe":"mutex"},"semaphore-0":{"recipe":"semaphore","size":3}}
//
// A listed lock has only the operations of its recipe, with the fields that
// they need: a mode for a read/write lock, permits for a semaphore, a
// generation for the members of a double barrier. An operation over several
// locks names them as "parts" instead of "lock", with the token of each once
// they are held.
//
// # Invariants
//
// Every event that a [Recorder] accepts or a reader returns obeys these rules.
// A file that breaks one is refused with a [FormatError] that names the line,
// and is never judged:
//
//   - time never decreases;
//   - a process is single-threaded: between an invoke and its completion (ok,
//     fail, info) it invokes nothing else, and the completion names the same
//     op, lock and store as the invoke, and the same mode, permits, size and
//     generation;
//   - a process whose operation ended in info, or that crashed, is retired:
//     it has no later event, except that the observer may still see its session
//     expire;
//   - a fault-stop has a fault-start with the same ID before it, and an ID is
//     not started again while it is active;
//   - no event lies between the Since of a stalled event and the stalled event
//     itself: the recording process stood still in that time;
//   - an event has every field that its type needs (see [Type]), and no unknown
//     field, type, op, store, mode or phase;
//   - if the header lists locks, events name no other lock, and each lock has only
//     the operations of its recipe.
//
// Lock events (suspended, resumed, lost, revoke-requested, says) may come at any time
// of a process's life. An enqueued event outside an open acquire is allowed,
// since a target may report late, but it has no meaning.
//
// # Crashes
//
// Record hands an invoke, and every event before it, to the operating system
// before it returns, and so before the request is sent: an operation that may have
// taken effect is never missing from the history. A file whose last line was cut
// off is read up to its last whole line, and [History.Truncated] is set.
//
// # Jepsen
//
// Histories in Jepsen's EDN can be read and written too, see [DecodeEDN] and
// [EncodeEDN]. [ReadFile] and [WriteFile] choose by the file's extension.
//
// # Porcupine
//
// [EncodePorcupine] writes the operations of a history for Porcupine, to be checked
// against a model of your own.
package histories
