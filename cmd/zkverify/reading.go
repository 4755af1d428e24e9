package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/models"
	"github.com/zkverify/zkverify/histories"
)

// asFlags describe a history of another tool where it does not describe itself.
type asFlags struct {
	Model   string   `help:"Model by which a history of another tool is judged, one of zkverify list models; default what its operations show." placeholder:"NAME"`
	Size    int      `help:"Number of permits of its semaphores; how often the owner of a reentrant mutex may hold it, default any number." placeholder:"N"`
	Key     string   `help:"Field of its operations that names the lock or register; value, tuple (the first element of a :value of two), or none. The default is what its operations show." placeholder:"FIELD"`
	Initial string   `help:"EDN: the value with which its registers begin, or a map of values by register. The default is nil, or what is read before it is written." placeholder:"VALUE"`
	Ignore  []string `help:"Operations, by their :f, that are left out; default none." placeholder:"F,…"`
}

func (f asFlags) as() histories.As {
	return histories.As{Model: f.Model, Size: f.Size, Key: f.Key, Initial: f.Initial, Ignore: f.Ignore}
}

// args returns the flags with which a command reads a history in the same way.
func (f asFlags) args() []string { return argsOf(f.as()) }

func argsOf(f histories.As) (args []string) {
	for _, a := range []struct{ name, value string }{{"model", f.Model}, {"key", f.Key}, {"initial", f.Initial}} {
		if a.value != "" {
			args = append(args, "--"+a.name+"="+a.value)
		}
	}
	if f.Size != 0 {
		args = append(args, fmt.Sprintf("--size=%d", f.Size))
	}
	for _, name := range f.Ignore {
		args = append(args, "--ignore="+name)
	}
	return args
}

// byModels returns the options to judge a history of another tool by the models that its header
// names.
func (c Conventions) byModels(ctx context.Context, file *histories.File, caps models.Caps) []checker.Option {
	header, open := file.Header(), ""
	if r := file.Reading(); r != nil {
		open = r.Open
	}
	g, is := models.Guarantee(ctx, &header, open, caps)
	if !is || cmp.Or(c.ReleaseNotHeld, header.ReleaseNotHeld, histories.NotHeldAsLost) == histories.NotHeldAsLost {
		return nil // no model reads a release that fails as a loss
	}
	options := []checker.Option{checker.WithGuarantee(g)}
	if len(header.Models) != 1 || header.Models[0] != histories.ModelOwnerMutex {
		options = append(options, checker.WithOwnGuaranteesOnly())
	}
	return options
}
