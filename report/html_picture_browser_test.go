package report_test

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/zkverify/zkverify/histories"
)

//go:generate go test -run ^TestThePictureOfTheReadme$ -update .

var update = flag.Bool("update", false, "take the picture of the README again")

// The README shows what the page of a run draws of a violation: here of a real run of
// zk.Lock. Fonts differ from one machine to the next, so that pictures are not
// compared: the test holds that the page still opens at that violation, and that
// the picture is small.
func TestThePictureOfTheReadme(t *testing.T) {
	const picture, mostBytes = "../docs/violation.png", 60_000
	h, err := histories.ReadFile("testdata/zk-lock.jsonl.zst")
	if err != nil {
		t.Fatal(err)
	}
	b := openPage(t, inFile(t, pageOf(t, h.Header, each(h.Events))), 1100, 538, false)
	if got := b.text("now"); !strings.HasPrefix(got, `Violation 1 of `) || !strings.Contains(got, `both held lock "lock-0"`) {
		t.Errorf("it says %q", got)
	}
	b.quiet()
	if *update {
		eval[any](b, `document.getElementById("now").scrollIntoView()`)
		taken, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(picture, inFewColors(t, taken), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if size, err := png.DecodeConfig(bytes.NewReader(kept)); err != nil || size.Width < 800 || len(kept) > mostBytes {
		t.Errorf("%s is %d bytes and %d wide, error %v; at most %d bytes", picture, len(kept), size.Width, err, mostBytes)
	}
}

// inFewColors returns a picture in the 128 colors that it has most of, at a third of its size.
func inFewColors(t *testing.T, picture []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	all, pixels := img.Bounds(), map[color.Color]int{}
	for y := all.Min.Y; y < all.Max.Y; y++ {
		for x := all.Min.X; x < all.Max.X; x++ {
			pixels[img.At(x, y)]++
		}
	}
	var colors color.Palette
	for c := range pixels {
		colors = append(colors, c)
	}
	slices.SortFunc(colors, func(a, b color.Color) int { return cmp.Compare(pixels[b], pixels[a]) })
	few := image.NewPaletted(all, colors[:min(128, len(colors))])
	draw.Draw(few, all, img, all.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
