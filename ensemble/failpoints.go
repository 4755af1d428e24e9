package ensemble

import (
	"context"
	"fmt"

	"github.com/zkverify/zkverify/ensemble/failpoints"
)

// HasFailpoints reports whether the servers were started with Byteman. On a nil value it
// returns true: StartLocal finds out whether Byteman is installed.
func (l *Local) HasFailpoints() bool { return l == nil || l.byteman != "" }

// Agent implements Failpoints.
func (l *Local) Agent(id int) failpoints.Agent {
	return failpoints.Agent{Addr: loopback(l.servers[id-1].agent)}
}

// byteman returns the path of Byteman's jar if LocalConfig.Failpoints is set.
func (c *LocalConfig) byteman() (jar string, err error) {
	if !c.Failpoints {
		return "", nil
	}
	return FindByteman()
}

// clockFile has the rule of a server's clock, in the server's folder, where its JVM is started.
const clockFile = "clock.btm"

// agentFlag returns the JVM flags for failpoints and the clock, if they are asked for.
func (s *server) agentFlag() []string {
	if s.local.byteman == "" {
		return nil
	}
	return []string{failpoints.JVMFlag(s.local.byteman, s.agent, clockFile), "-D" + failpoints.ClockProperty + "=" + s.clock.value()}
}

// checkAgents returns an error unless Byteman answers in every server, if failpoints are
// asked for: a JVM whose port was taken goes on without Byteman.
func (l *Local) checkAgents(ctx context.Context) error {
	if l.byteman == "" {
		return nil
	}
	for _, s := range l.servers {
		if s.logged("Address already in use") {
			return fmt.Errorf("server %d: the port of Byteman: %w", s.ID, errPortLost)
		}
		if err := l.Agent(s.ID).Check(ctx); err != nil {
			return fmt.Errorf("server %d: %w", s.ID, err)
		}
	}
	return nil
}
