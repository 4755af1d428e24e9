package zkconn

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

func number(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(int32(n))) }

func text(s string) []byte { return append(number(len(s)), s...) }

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// whole returns complete answers as servers send them.
func whole() map[int32][]byte {
	stat := make([]byte, statSize)
	result := func(kind int, body ...[]byte) []byte {
		return join(number(kind), []byte{0}, number(0), join(body...))
	}
	return map[int32][]byte{
		1: text("/a"), 15: join(text("/a"), stat), 19: text("/a"), 21: text("/a"),
		3: stat, 5: stat, 7: stat,
		4: join(text("data"), stat), 6: join(number(1), number(31), text("world"), text("anyone"), stat), 16: join(text("conf"), stat),
		8: join(number(2), text("x"), text("y")), 12: join(number(2), text("x"), text("y"), stat),
		9: text("/"),
		14: join(result(1, text("/a")), result(15, text("/a"), stat), result(5, stat), result(2), result(13), result(-1, number(-101)),
			number(-1), []byte{1}, number(-1)),
	}
}

func TestAnAnswerThatIsWholePasses(t *testing.T) {
	for op, body := range whole() {
		if err := CheckAnswer(op, body); err != nil {
			t.Errorf("operation %d: %v", op, err)
		}
		if err := CheckAnswer(op, append(body, 1, 2, 3)); err != nil {
			t.Errorf("operation %d, with more: %v", op, err)
		}
	}
	if len(whole()) != len(layouts) {
		t.Errorf("%d of %d operations are tried", len(whole()), len(layouts))
	}
	for _, op := range []int32{2, 11, 100, 101, -11, 4711} { // their answers have no body, or they are not known
		if err := CheckAnswer(op, nil); err != nil {
			t.Errorf("operation %d: %v", op, err)
		}
	}
	null := join(number(-1), make([]byte, statSize)) // of a node without data
	if err := CheckAnswer(4, null); err != nil {
		t.Error("no data:", err)
	}
	if err := CheckEvent(join(number(1), number(3), text("/a"))); err != nil {
		t.Error("an event:", err)
	}
}

func TestAnAnswerThatBreaksOffIsRefusedWhereverItDoes(t *testing.T) {
	for op, body := range whole() {
		for n := range body {
			if err := CheckAnswer(op, body[:n]); err == nil {
				t.Errorf("operation %d: the first %d of %d bytes pass", op, n, len(body))
			}
		}
	}
	event := join(number(1), number(3), text("/a"))
	for n := range event {
		if CheckEvent(event[:n]) == nil {
			t.Errorf("%d bytes of an event pass", n)
		}
	}
}

// Each number in an answer may be a length. With the largest or the least number in its
// place the answer is shorter than it claims, or the number is no length.
func TestALengthIsBelievedOnlyAsFarAsBytesAreThere(t *testing.T) {
	lengths := map[int32][]int{1: {0}, 15: {0}, 19: {0}, 21: {0}, 4: {0}, 6: {0, 8, 17}, 16: {0}, 8: {0, 4, 9}, 12: {0, 4, 9}, 9: {0}, 14: {9, 24}}
	for op, places := range lengths {
		for _, at := range places {
			for _, n := range []int{math.MaxInt32, math.MinInt32, 250_000_000, 1 << 20, -1, -2} {
				if n == -1 && (op == 4 || op == 16) {
					continue // no data
				}
				t.Run(fmt.Sprintf("operation %d, %d at %d", op, n, at), func(t *testing.T) {
					body := append([]byte(nil), whole()[op]...)
					copy(body[at:], number(n))
					if err := CheckAnswer(op, body); err == nil {
						t.Error("it passes")
					}
				})
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	for op, body := range whole() {
		f.Add(op, body)
	}
	f.Fuzz(func(t *testing.T, op int32, body []byte) {
		had := append([]byte(nil), body...)
		_ = CheckAnswer(op, body)
		_ = CheckEvent(body)
		if string(had) != string(body) {
			t.Error("it changes what it checks")
		}
	})
}
