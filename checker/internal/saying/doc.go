// Package saying judges the answers of leases, locks and their observers about themselves.
package saying
