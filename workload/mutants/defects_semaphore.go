package mutants

import "github.com/zkverify/zkverify/histories"

var semaphoreDefects = []Defect{
	{
		Name:      "mutant-semaphore-no-queue",
		Recipe:    histories.Semaphore,
		Bug:       "kazoo PR #214",
		What:      "counts the permits that are out and takes its own without having its turn: two that count at the same time take the same one",
		Guarantee: "permits",
	},
	{
		Name:      "mutant-semaphore-counts-nodes",
		Recipe:    histories.Semaphore,
		Bug:       "kazoo PR #214",
		What:      "counts the nodes of those who hold permits, and not how many each of them holds",
		Guarantee: "permits",
	},
	{
		Name:      "mutant-semaphore-cancelled",
		Recipe:    histories.Semaphore,
		Bug:       "CURATOR-462, kazoo #429",
		What:      "a waiter that is cancelled when its permits have just been taken leaves them behind",
		Guarantee: "no leak",
	},
	{
		Name:      "mutant-semaphore-unanswered",
		Recipe:    histories.Semaphore,
		Bug:       "CURATOR-335, CURATOR-315",
		What:      "does not look for permits whose taking was not answered, and takes others",
		Guarantee: "no leak",
	},
	{
		Name:      "mutant-semaphore-one-by-one",
		Recipe:    histories.Semaphore,
		Bug:       "Curator's semaphore with more than one permit",
		What:      "takes several permits one after the other, and holds some while it waits for the rest",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-semaphore-releases-one",
		Recipe:    histories.Semaphore,
		Bug:       "Curator's semaphore with more than one permit",
		What:      "gives back one permit of those that were taken together",
		Guarantee: "no leak",
	},
	{
		Name:      "mutant-semaphore-raise-unnoticed",
		Recipe:    histories.SharedSemaphore,
		Bug:       "CURATOR-75",
		What:      "does not watch the shared size: when it is raised nobody is woken, and who waits looks by itself later",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-semaphore-return-unnoticed",
		Recipe:    histories.SharedSemaphore,
		Bug:       "a watch that is set and not waited for",
		What:      "waits for the shared size alone: when others give permits back nobody is woken, and who waits looks by itself later",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-semaphore-no-new-count",
		Recipe:    histories.SharedSemaphore,
		Bug:       "an optimistic write that is repeated with the version alone",
		What:      "takes permits that it counted before the shared size changed",
		Guarantee: "permits",
	},
	{
		Name:      "mutant-semaphore-size-grows",
		Recipe:    histories.SharedSemaphore,
		Bug:       "a shared size that is remembered",
		What:      "goes on by the size that it knows when the shared size is lowered",
		Guarantee: "permits",
	},
}
