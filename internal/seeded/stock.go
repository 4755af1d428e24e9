//go:build !seeded

package seeded

const exact = false

func runtimeSeed(uint64) {}

func runtimeNewProcess() int { return 0 }

func runtimeEnter(int) int { return 0 }

func runtimePause(int) {}

func runtimeResume(int) {}
