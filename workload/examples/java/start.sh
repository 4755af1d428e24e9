# The common part of the workers in Java. Their scripts read this file, find the jars, and start.

cache=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/zkverify
[ "$(uname)" != Darwin ] || cache=$HOME/Library/Caches/zkverify
debian=/usr/share/java

# usage: the comment at the top of the script.
usage() {
	sed -n '2,/^$/s/^# \{0,1\}//p; /^set -eu/q' "$0" | sed '/^set -eu/d'
}

fail() {
	echo "${0##*/}: $*" >&2
	exit 69
}

# jars REMEDY JAR...: sets path to a class path of these jars, which are named without .jar.
jars() {
	remedy=$1 path=
	shift
	for jar in "$@"; do
		[ -f "$jar.jar" ] || fail "$jar.jar is missing: $remedy"
		path=$path${path:+:}$jar.jar
	done
}

# version_of JAR: the version of a jar of Debian's, nothing if it is not known.
version_of() {
	of=$(ls "$debian/$1"-[0-9]*.jar 2>/dev/null | head -1)
	of=${of##*-}
	echo "${of%.jar}"
}

# start FOLDER CLASS LEVEL ARGUMENT...: compiles the sources in FOLDER and here, unless that was
# done before, and runs CLASS. It needs path and version, and logs from LEVEL on.
start() {
	own=$1 class=$2 level=$3
	shift 3
	common=$own/../java
	java=${JAVA_HOME:+$JAVA_HOME/bin/}java
	command -v "$java" >/dev/null 2>&1 || fail "no Java: install a JDK (Debian: default-jdk-headless), or set JAVA_HOME"
	# The compiler that comes with this Java: another one's classes may be too new for it.
	javac=$(dirname "$(readlink -f "$(command -v "$java")")")/javac
	[ -x "$javac" ] || fail "no Java compiler beside $java: install a JDK (Debian: default-jdk-headless)"

	# One folder for each source, compiler and class path. It gets its name when it is complete,
	# since other workers start at the same time.
	key=$({ cat "$common"/*.java "$own"/*.java && "$javac" -version && echo "$path"; } 2>&1 | cksum | tr ' ' -)
	classes=$cache/java-worker-$key
	if [ ! -d "$classes" ]; then
		new=$classes.new.$$
		trap 'rm -rf "$new"' EXIT
		mkdir -p "$new"
		"$javac" -nowarn -d "$new" -cp "$path" "$common"/*.java "$own"/*.java 2>"$new/log" ||
			{ cat "$new/log" >&2 && fail "the worker does not compile"; }
		[ -d "$classes" ] || mv "$new" "$classes"
		rm -rf "$new" "$classes/${new##*/}" # another may have been first
		trap - EXIT
	fi

	# Heaps are small and compilation is quick, for a machine with many of them.
	exec "$java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dzkverify.version="$version" \
		-Dorg.slf4j.simpleLogger.showDateTime=true -Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS \
		-Dorg.slf4j.simpleLogger.defaultLogLevel="$level" \
		-cp "$classes:$path" "zkverify.worker.$class" "$@"
}
