package failpoints

import (
	"bytes"
	"fmt"
	"math"
)

// Script returns the rule of Byteman that puts the failpoint in force.
func (f Failpoint) Script() string {
	var do string
	switch text := fmt.Sprintf("zkverify: failpoint %s", f.Point.Name); {
	case f.Action == Delay:
		do = fmt.Sprintf("delay(%d)", f.Delay.Milliseconds())
	case f.Action == Halt:
		do = "killJVM()"
	case f.Point.unchecked:
		do = fmt.Sprintf(`throw new java.io.UncheckedIOException(new java.io.IOException("%s"))`, text)
	default:
		do = fmt.Sprintf(`throw new java.io.IOException("%s")`, text)
	}
	p := f.Point
	return rule(p.Name, p.class, p.method, p.location, p.condition, fmt.Sprintf("traceln(\"%s\"); %s", reached(p.Name), do))
}

// Rejoin returns a rule that makes a follower lose its leader and connect to it again,
// once. Each call needs another number: a JVM remembers the numbers that it has carried
// out.
func Rejoin(number int64) string {
	return rule("rejoin", "org.apache.zookeeper.server.quorum.Follower", "processPacket(org.apache.zookeeper.server.quorum.QuorumPacket)",
		"AT ENTRY", fmt.Sprintf(`flag("zkverify rejoin %d")`, number), `throw new java.io.IOException("zkverify: the follower is to connect again")`)
}

// SendSnapshots returns a rule that makes a leader send its tree to every learner that
// connects, as its own switch for tests does (zookeeper.forceSnapshotSync).
func SendSnapshots() string {
	return rule("send-snapshots", "org.apache.zookeeper.server.quorum.LearnerHandler", "syncFollower(long,org.apache.zookeeper.server.quorum.LearnerMaster)",
		"AT ENTRY", "true", "$0.forceSnapSync = true")
}

// ClockProperty is the system property of a JVM with the rate of its server's clock.
const ClockProperty = "org.jboss.byteman.zkverify.clock"

// Clock returns a rule by which the clock of a server, that of session timeouts, of ticks and
// of pings between servers, has the rate of ClockProperty.
func Clock() string {
	const time = "org.apache.zookeeper.common.Time"
	property := fmt.Sprintf("BIND clock : String = System.getProperty(%q, %q); colon : int = clock.indexOf(\":\")", ClockProperty, ClockValue(1, 0))
	return rule("clock", time, "currentElapsedTime()", "AT EXIT\n"+property, "true",
		fmt.Sprintf("RETURN $! * Long.parseLong(clock.substring(0, colon)) / %d + Long.parseLong(clock.substring(colon + 1))", clockUnit))
}

const clockUnit = 100_000

// RoundRate rounds a rate to the five decimals that ClockProperty has.
func RoundRate(rate float64) float64 { return math.Round(rate*clockUnit) / clockUnit }

// ClockValue returns the value of ClockProperty for a clock that shows rate × t + ahead, in
// milliseconds, when the clock of the machine shows t. Rate is one of RoundRate.
func ClockValue(rate float64, ahead int64) string {
	return fmt.Sprintf("%d:%d", int64(math.Round(rate*clockUnit)), ahead)
}

func rule(name, class, method, location, condition, do string) string {
	return fmt.Sprintf("RULE %s%s\nCLASS %s\nMETHOD %s\n%s\nIF %s\nDO %s\nENDRULE\n", rulePrefix, name, class, method, location, condition, do)
}

const rulePrefix = "zkverify "

// reached returns the line that a server prints at a failpoint.
func reached(point string) string { return "zkverify: reached failpoint " + point }

// Reached returns the number of times that a server has come to a failpoint. output is
// the server's output since the failpoint was put in force.
func Reached(output []byte, point string) int {
	return bytes.Count(output, []byte(reached(point)+"\n")) // the line may follow half a line of the log
}
