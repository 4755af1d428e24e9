#!/bin/sh
# unpack.sh zookeeper|curator VERSION FOLDER: unpacks a version of ZooKeeper or of
# Curator that another release of Debian has, without installing it, as FOLDER/lib. It
# needs no root.
#
# apt does the work, with a configuration of its own: lists and packages go to a
# temporary folder, and the installed packages stay as they are. apt rejects
# packages whose signature it cannot verify.
#
# The packages are Architecture: all. The manifests of the jars name their dependencies
# by the place in /usr/share/java, where the machine's own packages have put
# them. ZooKeeper's manifest names the jute of the machine's own version too:
# ensemble/find.go puts the one that is unpacked here before it.
#
#   ZKVERIFY_DEBIAN_MIRROR   the archive; default that of the machine's own apt
#                            sources, else http://deb.debian.org/debian
#   ZKVERIFY_DEBIAN_KEYRING  the keys that sign it; default those of the package
#                            debian-archive-keyring
set -eu

product=$1 version=$2 folder=$3
case $product in
zookeeper) name=ZooKeeper packages=libzookeeper-java jars="zookeeper zookeeper-jute" ;;
curator)
	name=Curator
	packages="libcurator-client-java libcurator-framework-java libcurator-recipes-java"
	jars="curator-client curator-framework curator-recipes"
	;;
*) echo "unpack.sh: unknown product $product" >&2 && exit 64 ;;
esac
suites="bookworm trixie forky"
keyring=${ZKVERIFY_DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

fail() {
	echo "$*" >&2
	exit 1
}

# machine_mirror is the Debian archive that the machine's own packages come from.
machine_mirror() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed 's/#.*//' | tr ' \t' '\n\n' | grep -E '^(https?|file)://.*/debian/?$' | head -1
}

mirror=${ZKVERIFY_DEBIAN_MIRROR:-$(machine_mirror || true)}
mirror=${mirror:-http://deb.debian.org/debian}
[ -r "$keyring" ] || fail "$keyring is missing: install the package debian-archive-keyring, or name another by ZKVERIFY_DEBIAN_KEYRING"

# The new folder gets its name only when it is whole.
new=$folder.new.$$ work=$(mktemp -d) child=
clean() { rm -rf "$work" "$new"; }
trap clean EXIT
trap '[ -z "$child" ] || { kill "$child" && wait "$child"; } 2>/dev/null || true; exit 130' INT TERM
for old in "$folder".new.*; do
	# Whatever made it was killed.
	[ ! -e "$old" ] || kill -0 "${old##*.}" 2>/dev/null || rm -rf "$old"
done

# logged runs a command so that an interrupt ends it; what it says goes to a file.
logged() {
	(cd "$work" && exec "$@") >"$work/log" 2>&1 &
	child=$!
	wait "$child" && ended=0 || ended=$?
	child=
	return $ended
}

# private runs a program of apt with a configuration of its own.
private() {
	program=$1
	shift
	set -- -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
		-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o Acquire::Languages=none \
		-o Acquire::Retries=2 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \
		-o Acquire::AllowInsecureRepositories=false -o Acquire::AllowWeakRepositories=false \
		-o Acquire::AllowDowngradeToInsecureRepositories=false -o APT::Get::AllowUnauthenticated=false "$@"
	logged "$program" "$@"
}

mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
# As root, apt downloads as this user.
[ "$(id -u)" -ne 0 ] || chown -R _apt "$work" 2>/dev/null || true
for suite in $suites; do
	echo "deb [target=Packages signed-by=$keyring] $mirror $suite main"
done >"$work/sources.list"

echo "looking for $name $version in $mirror ($suites)"
# A release that is no longer or not yet there is no reason to give up.
private apt-get update -q || true
cp "$work/log" "$work/update"
# Packages of one source have one version.
private apt-cache madison "${packages##* }" || fail "apt-cache fails: $(cat "$work/log")"
found=$(awk -F ' *[|] *' '{ split($3, from, " "); print $2, from[2] }' "$work/log")
# Debian adds its revision, and +ds to a source that it has trimmed.
package=$(echo "$found" | awk -v v="$version" 'index($1, v "-") == 1 || index($1, v "+") == 1 { print $1; exit }')
if [ -z "$package" ]; then
	grep -E '^(E|W|Err)' "$work/update" >&2 || true
	[ -n "$found" ] || fail "no release of Debian could be read from $mirror: see above, or name another archive by ZKVERIFY_DEBIAN_MIRROR"
	fail "Debian has no $name $version now. It has $(echo "$found" | awk '{ sub(/[-+].*$/, "", $1); sub("/.*", "", $2); printf "%s%s (%s)", n++ ? ", " : "", $1, $2 }')"
fi

echo "downloading $packages $package"
all=
for each in $packages; do
	all="$all $each=$package"
done
private apt-get download -q $all || fail "the download failed: $(cat "$work/log")"
mkdir "$work/package"
for deb in "$work"/*.deb; do
	dpkg-deb -x "$deb" "$work/package"
done
mkdir -p "$new/lib"
for jar in $jars; do
	cp "$work/package/usr/share/java/$jar-$version.jar" "$new/lib/" || fail "the package has no $jar-$version.jar"
done
# Without a binding for SLF4J it logs nothing.
[ "$product" != zookeeper ] || ln -s /usr/share/java/slf4j-simple.jar "$new/lib/slf4j-simple.jar"
rm -rf "$folder"
mv "$new" "$folder"
