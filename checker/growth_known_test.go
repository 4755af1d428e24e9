package checker

// stillGrow are the dimensions in which the work grows faster than a history: see
// docs/limitations.md. One in which it does not any more has to be taken off the list.
var stillGrow = []string{
	"multilock/acquires of two at once",
	"mutex/losses, one after the other",
	"mutex/processes that crash",
	"mutex/processes that retire while they wait",
	"mutex/waiters that give up",
	"sharedsemaphore/a size that drops under many acquires",
}
