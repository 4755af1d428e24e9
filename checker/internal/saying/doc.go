// Package saying judges what leases, locks and their observers say of themselves.
package saying
