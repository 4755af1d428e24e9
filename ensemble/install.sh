#!/bin/sh
# Makes sure that a Java runtime and ZooKeeper are there, where ensemble/find.go
# looks for them. Installs with the system's package manager what is missing,
# and nothing else. With --check it installs nothing and only says what it found.
set -eu

fail() {
	echo "$*" >&2
	exit 1
}

# The order and the places of FindJava.
have_java() {
	if [ -n "${JAVA_HOME:-}" ]; then
		[ -x "$JAVA_HOME/bin/java" ] || fail "JAVA_HOME is $JAVA_HOME, which has no bin/java: correct or unset it"
		return 0
	fi
	[ -x /opt/homebrew/opt/openjdk/bin/java ] || [ -x /usr/local/opt/openjdk/bin/java ] && return 0
	# macOS has a java that only says that Java is missing.
	command -v java >/dev/null 2>&1 && java -version >/dev/null 2>&1
}

# is_zookeeper PLACE: a jar, or a directory whose lib holds ZooKeeper.
is_zookeeper() {
	case $1 in
	*.jar) [ -f "$1" ] ;;
	*) ls "$1"/lib/zookeeper*.jar >/dev/null 2>&1 ;;
	esac
}

# The order and the places of FindZooKeeper.
have_zookeeper() {
	for name in ZKVERIFY_ZOOKEEPER ZOOKEEPER_HOME; do
		eval "place=\${$name:-}"
		if [ -n "$place" ]; then
			is_zookeeper "$place" || fail "$name is $place, which is no ZooKeeper: correct or unset it"
			return 0
		fi
	done
	# Debian's jar logs nothing without a binding for SLF4J beside it.
	[ -f /usr/share/java/zookeeper.jar ] && [ -f /usr/share/java/slf4j-simple.jar ] && return 0
	is_zookeeper /opt/homebrew/opt/zookeeper/libexec || is_zookeeper /usr/local/opt/zookeeper/libexec
}

# debian installs the packages given, as root.
debian() {
	if [ "$(id -u)" -eq 0 ]; then
		root=
	elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
		root=sudo
	else
		fail "Java or ZooKeeper is missing; as root run: apt-get install --no-install-recommends $*"
	fi
	echo "installing $*"
	install="$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends"
	# The lists may be missing, as in a fresh container, or older than the archive.
	$install "$@" || { $root apt-get update -q && $install "$@"; }
}

java=yes zookeeper=yes
have_java || java=no
have_zookeeper || zookeeper=no

if [ "${1:-}" = --check ]; then
	echo "java: $java, zookeeper: $zookeeper"
	exit 0
fi
[ $java = yes ] && [ $zookeeper = yes ] && exit 0

if command -v apt-get >/dev/null 2>&1; then
	set --
	if [ $java = no ]; then
		apt-cache show openjdk-17-jre-headless >/dev/null 2>&1 && set -- openjdk-17-jre-headless || set -- default-jre-headless
	fi
	[ $zookeeper = yes ] || set -- "$@" zookeeper libslf4j-java
	debian "$@"
elif [ "$(uname)" = Darwin ] && command -v brew >/dev/null 2>&1; then
	brew install zookeeper # brings a JDK with it
else
	fail "Java or ZooKeeper is missing: install a JRE (11 or newer), unpack a release of https://zookeeper.apache.org and set ZOOKEEPER_HOME to its directory"
fi

have_java && have_zookeeper || fail "Java or ZooKeeper is still missing after the installation: set JAVA_HOME and ZOOKEEPER_HOME"
