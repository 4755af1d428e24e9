package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/simulation"
)

// completionCmd makes a shell complete the command line. The script of the shell asks the command
// again, with the words typed so far.
type completionCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
	Words []string `arg:"" optional:"" help:"Print what the last of these words can become, a line each; default the shell's script."`
}

func (completionCmd) Help() string {
	return words.WithExamples("Completes commands, options, and the names that options take. For bash, put this line into ~/.bashrc:\n\n    source <(zkverify completion bash)\n\nFor zsh, after compinit in ~/.zshrc:\n\n    source <(zkverify completion zsh)\n\nFor fish, in ~/.config/fish/config.fish:\n\n    zkverify completion fish | source",
		"zkverify completion bash -- run --ensemble s")
}

// completionScripts are the scripts of the shells. Where nothing fits, files are completed.
var completionScripts = map[string]string{
	"bash": `_zkverify() {
  local IFS=$'\n'
  COMPREPLY=($("$1" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _zkverify zkverify
`,
	"zsh": `#compdef zkverify
_zkverify() {
  local -a found
  found=("${(@f)$("${words[1]}" completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
if [[ "$funcstack[1]" = _zkverify ]]; then _zkverify "$@"; else compdef _zkverify zkverify; fi
`,
	"fish": `function __zkverify
  set -l words (commandline -opc)
  set -l found ($words[1] completion fish -- $words[2..-1] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c zkverify -f -a '(__zkverify)'
`,
}

func (c *completionCmd) Run(ctx context.Context, con *console) error {
	if len(c.Words) == 0 {
		_, err := io.WriteString(con.out, completionScripts[c.Shell])
		return err
	}
	root, err := modelOfCLI()
	if err != nil {
		return err
	}
	for _, word := range completions(ctx, root, c.Words) {
		if c.Shell == "bash" {
			word = strings.ReplaceAll(word, " ", `\ `)
		}
		fmt.Fprintln(con.out, word)
	}
	return nil
}

// modelOfCLI returns the commands and all their options.
func modelOfCLI() (*kong.Node, error) {
	parser, err := newParser(new(cli), &console{}, func(int) {})
	if err != nil {
		return nil, err
	}
	return parser.Model.Node, nil
}

// completions returns the words that the last word can become, after the words before it.
func completions(ctx context.Context, node *kong.Node, words []string) (found []string) {
	before, last := words[:len(words)-1], words[len(words)-1]
	if len(before) > 0 && before[0] == "help" {
		before = before[1:]
	}
	var flag *kong.Flag // whose value comes next
	for _, word := range before {
		switch {
		case word == "=": // bash takes --option=value for three words
		case flag != nil:
			flag = nil
		case strings.HasPrefix(word, "-"):
			if flag = flagNamed(node, word); flag != nil && (flag.IsBool() || flag.IsCounter()) {
				flag = nil
			}
		default:
			if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
				node = node.Children[i]
			}
		}
	}
	prefix := ""
	switch name, value, set := strings.Cut(last, "="); {
	case last == "=":
		last = ""
	case flag == nil && set:
		flag, prefix, last = flagNamed(node, name), name+"=", value
	}
	switch {
	case flag != nil:
		if i := strings.LastIndex(last, ","); i >= 0 && flag.IsSlice() {
			prefix, last = prefix+last[:i+1], last[i+1:]
		}
		found = valuesOf(ctx, flag.Value)
	case strings.HasPrefix(last, "-"):
		for _, f := range slices.Concat(node.AllFlags(true)...) {
			found = append(found, "--"+f.Name)
		}
	default:
		for _, n := range node.Children {
			if !n.Hidden || n.Help != "" {
				found = append(found, n.Name)
			}
		}
		for _, p := range node.Positional {
			found = append(found, valuesOf(ctx, p)...)
		}
	}
	found = slices.DeleteFunc(found, func(word string) bool { return !strings.HasPrefix(word, last) })
	for i := range found {
		found[i] = prefix + found[i]
	}
	return found
}

// flagNamed returns the flag that a word such as --out or -o is; nil if there is none, or if the
// word has its value.
func flagNamed(node *kong.Node, word string) *kong.Flag {
	for _, f := range slices.Concat(node.AllFlags(false)...) {
		if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// valuesOf returns the values that an option or argument takes, if they have names.
func valuesOf(ctx context.Context, v *kong.Value) (names []string) {
	list := map[string]string{"recipe": "recipes", "target": "targets", "faults": "faults", "guarantee": "guarantees"}[v.Name]
	switch {
	case v.Enum != "":
		return v.EnumSlice()
	case v.Name == "what":
		return lists
	case v.Name == "plan":
		for _, p := range simulation.Plans() {
			names = append(names, p.Name)
		}
		return append(names, "all")
	case list == "":
		return nil
	case list != "targets" && list != "guarantees":
		names = append(names, "all")
	}
	var table bytes.Buffer
	if err := (&listCmd{What: list}).Run(ctx, &console{out: &table}); err != nil {
		return nil
	}
	for line := range strings.Lines(table.String()) {
		name, _, _ := strings.Cut(line, "   ") // as far apart as columns are at least
		names = append(names, name)
	}
	return names
}
