package checker

// stillGrow lists the dimensions in which the work grows faster than the history: see
// docs/limitations.md. A dimension must be taken off the list once it no longer does.
var stillGrow = []string{
	"multilock/acquires of two at once",
	"sharedsemaphore/a size that drops under many acquires",
}
