package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/zkverify/zkverify/internal/words"
)

// manCmd prints the manual page.
type manCmd struct{}

func (manCmd) Help() string {
	return words.WithExamples("Prints all commands and all their options as a page for man.",
		"zkverify man > zkverify.1")
}

func (manCmd) Run(con *console) error {
	root, err := modelOfCLI()
	if err != nil {
		return err
	}
	fmt.Fprintf(con.out, ".TH ZKVERIFY 1 \"\" \"zkverify %s\"\n.ad l\n.SH NAME\nzkverify \\- %s\n", roff(versionText()), "test ZooKeeper locks under faults")
	fmt.Fprintf(con.out, ".SH SYNOPSIS\n.B zkverify\n.I command\n[\\fIoption\\fR ...]\n.SH DESCRIPTION\n%s", paragraphs(root.Help))
	fmt.Fprint(con.out, ".SH OPTIONS OF ALL COMMANDS\n"+optionsOf(root)+".SH COMMANDS\n")
	for _, n := range root.Leaves(false) {
		if n.Help == "" {
			continue // one that zkverify starts itself
		}
		fmt.Fprintf(con.out, ".SS %s\n%s", roff(n.FullPath()), paragraphs(n.Help+"\n\n"+n.Detail))
		for _, p := range n.Positional {
			fmt.Fprintf(con.out, ".TP\n\\fI%s\\fR\n%s\n", roff(p.Name), roff(helpOfFlag(p)))
		}
		for at := n; at != root; at = at.Parent {
			fmt.Fprint(con.out, optionsOf(at))
		}
	}
	return nil
}

// optionsOf returns the options of a command itself as a list.
func optionsOf(n *kong.Node) string {
	var list strings.Builder
	for _, f := range slices.DeleteFunc(slices.Clone(n.Flags), func(f *kong.Flag) bool { return f.Hidden }) {
		fmt.Fprintf(&list, ".TP\n\\fB%s\\fR\n%s\n", roff(f.String()), roff(helpOfFlag(f.Value)))
	}
	return list.String()
}

// paragraphs returns a text, and the examples in it, which are indented.
func paragraphs(text string) string {
	var page strings.Builder
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(part, "    ") {
			fmt.Fprintf(&page, ".PP\n.RS 4\n.nf\n%s\n.fi\n.RE\n", roff(part))
		} else {
			fmt.Fprintf(&page, ".PP\n%s\n", roff(part))
		}
	}
	return page.String()
}

// digest matches the half of a digest, after which a line may be broken.
var digest = regexp.MustCompile(`[0-9a-f]{32}`)

// roff returns a text that is nothing but text to roff.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`).Replace(text), "\n")
	for i, line := range lines {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, ".") {
			line = `\&` + line
		}
		lines[i] = line
	}
	return digest.ReplaceAllString(strings.Join(lines, "\n"), `$0\:`)
}
