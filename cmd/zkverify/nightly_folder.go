package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/folder"
)

// nightlyFile is the file in a night's folder that holds its state.
const nightlyFile = "nightly.json"

// resume adds to the night the results that the folder holds, if there are any.
func resume(dir string, night *report.Night, seeded bool) error {
	old := new(report.Night)
	switch err := campaign.Load(dir, nightlyFile, old, old.Check); {
	case err != nil:
		return usage("--out: %w", err)
	case old.Seeds == 0: // there is none
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return usage("--out: %w", err)
		}
		return nil
	case old.Differs(night) != "":
		return usage("--out: %s holds a night with another %s: choose another --out, or give the same options", dir, old.Differs(night))
	case seeded && old.First != night.First:
		return usage("--out: %s holds a night whose first seed is %d: choose another --out, or leave --seed out to go on with it", dir, old.First)
	}
	seeds := night.Seeds
	*night = *old
	night.Seeds = seeds
	return nil
}

// since compares the night with the one in a folder, unless the folder is "".
func since(dir string, night *report.Night) error {
	if dir == "" {
		return nil
	}
	earlier := new(report.Night)
	if err := campaign.Load(dir, nightlyFile, earlier, earlier.Check); err != nil {
		return usage("--since: %w", err)
	}
	if earlier.Seeds == 0 {
		return usage("--since: %s: no %s in this folder: it is not that of a night", dir, nightlyFile)
	}
	if err := night.Compare(earlier); err != nil {
		return usage("--since: %s: %w", dir, err)
	}
	return nil
}

// tidy removes the folder of a run that passed, and compresses the history of any other
// run.
func tidy(dir string, result *report.NightResult) error {
	if result.Passed() {
		return os.RemoveAll(dir)
	}
	result.Folder = filepath.Base(dir)
	return pack(filepath.Join(dir, folder.History))
}

// pack compresses a file.
func pack(path string) (err error) {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(path + ".zst")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	z, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, from); err != nil {
		return errors.Join(err, z.Close())
	}
	return errors.Join(z.Close(), os.Remove(path))
}

// saveNight writes the state, the page and the JUnit file.
func saveNight(dir string, night *report.Night) error {
	return campaign.Save(dir, map[string]func(io.Writer) error{
		nightlyFile: campaign.JSON(night), report.NightPage: night.WriteHTML, folder.JUnit: night.JUnit().Write,
	})
}
