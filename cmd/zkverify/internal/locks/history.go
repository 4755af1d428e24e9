package locks

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// historyCmd tells from the files of servers who held which lock.
type historyCmd struct {
	Dirs []string `arg:"" name:"datadir" help:"A server's dataDir or dataLogDir, or its version-2. Of several servers their logs are joined."`
	Path string   `placeholder:"PATH" help:"Only this lock, each hold of which is listed, or the locks below this path; default all."`
	From string   `placeholder:"TIME" help:"Only what lasted until this time or longer. A time is in UTC, such as 2026-01-02T15:04:05Z, '2026-01-02 15:04:05', or 03:12 for the last time that it was that late; default the beginning of the logs."`
	To   string   `placeholder:"TIME" help:"Only what began before this time; default the end of the logs."`
	At   string   `placeholder:"TIME" help:"Show the holders and the waiters of this time, and what became of them; default all times."`
	Top  int      `default:"10" help:"Show this many of the longest holds, waits and queues, and of the holds that were lost." placeholder:"N"`
	HTML string   `name:"html" placeholder:"FILE" help:"Also draw the holds and waits as a timeline for a browser, in a new file; default none."`
	JSON bool     `name:"json" help:"Print a line of JSON for each stay in a queue, when it ends, and one for the summary."`

	from, to, at time.Time
}

func (historyCmd) Help() string {
	return words.WithExamples("Reads the transaction logs and snapshots of ZooKeeper 3.4 to 3.9, connects to no server and changes nothing; the servers may run. Times are those of the leaders' clocks. A hold begins when the lock's rule admits the node: its client learns so a little later. Double barriers are not shown. Exit status 2 if logs are damaged or transactions are missing, 64 if there is nothing to show.",
		"zkverify locks history /var/lib/zookeeper",
		"zkverify locks history --at 03:12 --path /locks/orders zk1/data zk2/data zk3/data",
		"zkverify locks history --html night.html zk1/data zk2/data zk3/data",
		"zkverify locks history --json --from '2026-01-02 03:00' --to '2026-01-02 04:00' /var/lib/zookeeper")
}

// Validate is called by kong.
func (c *historyCmd) Validate() error {
	for flag, is := range map[string]struct {
		text string
		time *time.Time
	}{"--from": {c.From, &c.from}, "--to": {c.To, &c.to}, "--at": {c.At, &c.at}} {
		if is.text == "" {
			continue
		}
		t, err := parseTime(is.text, time.Now())
		if err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
		*is.time = t
	}
	switch {
	case c.Path != "" && !strings.HasPrefix(c.Path, "/"):
		return fmt.Errorf("--path %q is no path of ZooKeeper: it begins with /", c.Path)
	case c.Top < 0:
		return fmt.Errorf("--top must not be negative, not %d", c.Top)
	case c.At != "" && (c.From != "" || c.To != ""):
		return errors.New("--at is one time: --from and --to do not go with it")
	case c.At != "" && c.HTML != "":
		return errors.New("--html draws all times: --at does not go with it, --from and --to do")
	case !c.from.IsZero() && !c.to.IsZero() && c.to.Before(c.from):
		return errors.New("--to is before --from")
	}
	if c.Path != "/" {
		c.Path = strings.TrimSuffix(c.Path, "/")
	}
	return nil
}

// parseTime reads a time in UTC. A time of day is the last one before now.
func parseTime(text string, now time.Time) (time.Time, error) {
	now = now.UTC()
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		if t.After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is no time such as 2026-01-02T15:04:05Z, '2026-01-02 15:04:05' or 03:12", text)
}

// Run is called by kong.
func (c *historyCmd) Run(ctx context.Context, con *Console) error {
	if _, err := os.Lstat(c.HTML); c.HTML != "" && err == nil {
		return refuse("--html: %s exists: name a file that does not", c.HTML)
	}
	files, err := openFiles(c.Dirs)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(con.Out)
	p := &past{historyCmd: c, con: con, files: files, out: out, locks: make(map[string]*lockPast)}
	files.history = inspect.NewHistory(p.add)
	if err := files.read(ctx); err != nil {
		return errors.Join(out.Flush(), err)
	}
	if err := c.refusal(files, p); err != nil {
		return errors.Join(out.Flush(), err)
	}
	if err := p.write(files); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err := p.draw(ctx, files); err != nil {
		return err
	}
	return files.tell(con)
}

// refusal returns an error if the logs have nothing of what the flags ask for.
func (c *historyCmd) refusal(f *files, p *past) error {
	for flag, t := range map[string]time.Time{"--from": c.from, "--to": c.to, "--at": c.at} {
		outside := t.Before(f.first.Time.Truncate(time.Second)) && flag != "--from" || t.After(f.last.Time) && flag != "--to"
		if !t.IsZero() && outside {
			return refuse("%s %s is outside of the logs, which go from %s to %s", flag, timeText(t), timeText(f.first.Time), timeText(f.last.Time))
		}
	}
	if p.there || c.Path == "" {
		return nil
	}
	return refuse("no node of a lock was at or below %s between %s and %s", pathText(c.Path), timeText(f.first.Time), timeText(f.last.Time))
}

// wanted reports whether a lock is one that the flags ask for.
func (c *historyCmd) wanted(lock string) bool {
	if c.Path == "" || c.Path == "/" || lock == c.Path {
		return true
	}
	return strings.HasPrefix(lock, c.Path) && lock[len(c.Path)] == '/'
}

const timeLayout = "2006-01-02 15:04:05"

func timeText(t time.Time) string { return t.UTC().Format(timeLayout) }
