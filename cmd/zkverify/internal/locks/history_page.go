package locks

import (
	"bufio"
	"context"
	"errors"
	"os"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes/inspect"
	"github.com/zkverify/zkverify/report"
)

// drawn returns what the page draws of a stay.
func drawn(s *inspect.Stay) report.Stay {
	c := &s.Contender
	d := report.Stay{
		Lock: pathText(s.Lock), Recipe: string(s.Recipe), Client: who(c), Token: histories.Token{Zxid: c.Token.Zxid, Sub: c.Token.Sub},
		Asked: s.Asked, Granted: s.Granted, Gone: s.Gone, Open: s.End == inspect.EndNone, Ended: endText(s), Ahead: s.Ahead,
		Lost: s.End == inspect.EndDeleted || s.End == inspect.EndExpired,
	}
	if c.Session != 0 {
		d.Session = sessionID(c.Session)
	}
	if s.End == inspect.EndDeleted {
		d.Ended = "deleted by session " + sessionID(s.By)
	}
	switch c.Kind {
	case inspect.KindRead:
		d.Mode = histories.ModeRead
	case inspect.KindWrite:
		d.Mode = histories.ModeWrite
	}
	return d
}

// addToPage adds a stay to the page of --html.
func (p *past) addToPage(s *inspect.Stay) {
	if p.page == nil {
		from := p.files.first.Time
		if p.from.After(from) {
			from = p.from
		}
		p.page = report.NewPast(from, p.to)
	}
	stay := drawn(s)
	p.page.Add(&stay)
}

// draw writes the page of --html.
func (p *past) draw(ctx context.Context, f *files) (err error) {
	if p.HTML == "" {
		return nil
	}
	if p.page == nil {
		return refuse("--html: no lock had a contender in this time, so there is nothing to draw")
	}
	file, err := os.OpenFile(p.HTML, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return refuse("--html: %w", err)
	}
	out := bufio.NewWriter(file)
	if err := errors.Join(p.page.HTML(ctx, out, f.last.Time), out.Flush(), file.Close()); err != nil {
		_ = os.Remove(p.HTML) // half a page is of no use
		return err
	}
	p.con.say("the timeline is in %s", p.HTML)
	return nil
}
