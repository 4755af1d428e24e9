package checker

// A verdict spells out its first violations. Shrinking has to know all of them, so
// that it can tell one that the whole history has from one of its own making.

// everyViolation has a judge that has seen nothing yet tell of every violation.
// Those that judge at the end do so by themselves: see check.all.
func everyViolation(j judge) {
	if v, ok := j.(interface{ gathers() []*Verdict }); ok {
		for _, v := range v.gathers() {
			v.all = true
		}
	}
}

func (j *exclusionJudge) gathers() []*Verdict  { return []*Verdict{&j.v} }
func (j *reentrancyJudge) gathers() []*Verdict { return []*Verdict{&j.v} }
func (j *fencingJudge) gathers() []*Verdict    { return []*Verdict{&j.v} }
func (j *fairnessJudge) gathers() []*Verdict   { return []*Verdict{&j.v} }
func (j *counterJudge) gathers() []*Verdict    { return []*Verdict{&j.v} }
func (j *lossJudge) gathers() []*Verdict       { return []*Verdict{&j.v} }
func (j *readWriteJudge) gathers() []*Verdict  { return []*Verdict{&j.v} }
func (j *permitsJudge) gathers() []*Verdict    { return []*Verdict{&j.v} }
func (j *multiLockJudge) gathers() []*Verdict  { return []*Verdict{&j.v} }
func (j *revocationJudge) gathers() []*Verdict { return []*Verdict{&j.v} }
func (j *barriersJudge) gathers() []*Verdict   { return []*Verdict{&j.v} }

func (j *notHeldJudge) gathers() []*Verdict {
	everyViolation(j.judge)
	return []*Verdict{&j.v}
}
