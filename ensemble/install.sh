#!/bin/sh
# Makes sure that a Java runtime and ZooKeeper are there, where ensemble/find.go
# looks for them. Installs missing packages with the system's package manager, and
# no others. With --check it installs nothing and only prints the places that it found.
#
# With --zookeeper VERSION, such as 3.9.6, also that version, which another release
# of Debian has: it is unpacked into the cache (unpack.sh), and the installed version
# stays. zkverify runs it on request: --zookeeper VERSION, or
# ZKVERIFY_ZOOKEEPER=VERSION.
#
# With --curator also the packages for the tests in recipes/interop, on Debian: Curator
# and a JDK. The tests are skipped without them, so packages that apt lacks are no failure.
# With --curator VERSION, such as 5.7.1, also that version of Curator, unpacked into the
# cache: ZKVERIFY_CURATOR=VERSION has the tests and the worker of workload/examples use it.
# With --chromium also the browser of the tests in report, on Debian: as above.
# With --promtool also the program that evaluates the alert rules in recipes/promobserver: as above.
# With --kazoo also kazoo for the worker in Python of workload/examples: as above.
# With --spin also the program that searches the models in spec, on Debian: as above.
# With --kerberos also the programs of a KDC for the tests of Kerberos, on Debian.
# With --byteman also Byteman's jar for the fault failpoint, on Debian, in the cache.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
check=no curator=no chromium=no kazoo=no promtool=no spin=no kerberos=no byteman=no version= curator_version=
while [ $# -gt 0 ]; do
	case $1 in
	--check) check=yes ;;
	--zookeeper)
		[ $# -gt 1 ] && [ -n "$2" ] || { echo "install.sh: --zookeeper takes a version, such as 3.9.6" >&2 && exit 64; }
		version=$2
		shift
		;;
	--zookeeper=*) version=${1#*=} ;;
	--curator)
		curator=yes
		case ${2:-} in
		[0-9]*)
			curator_version=$2
			shift
			;;
		esac
		;;
	--curator=*) curator=yes curator_version=${1#*=} ;;
	--chromium) chromium=yes ;;
	--kazoo) kazoo=yes ;;
	--promtool) promtool=yes ;;
	--spin) spin=yes ;;
	--kerberos) kerberos=yes ;;
	--byteman) byteman=yes ;;
	*) echo "install.sh: unknown option $1" >&2 && exit 64 ;;
	esac
	shift
done

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

# cache is the folder of cacheDir in ensemble/versions.go.
cache() {
	if [ "$(uname)" = Darwin ]; then
		echo "${HOME:?is not set}/Library/Caches/zkverify"
	else
		echo "${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/zkverify"
	fi
}

is_version() { echo "$1" | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$'; }

# is_zookeeper PLACE: a version that is in the cache or that the system's package
# is of, a jar, or a directory whose lib holds ZooKeeper.
is_zookeeper() {
	if is_version "$1"; then
		is_zookeeper "$(cache)/zookeeper-$1" || has_package "$1"
		return
	fi
	case $1 in
	*.jar) [ -f "$1" ] ;;
	*) ls "$1"/lib/zookeeper*.jar >/dev/null 2>&1 ;;
	esac
}

# has_package VERSION: the system's package is of that version.
has_package() {
	for lib in /usr/share/java /opt/homebrew/opt/zookeeper/libexec/lib /usr/local/opt/zookeeper/libexec/lib; do
		[ ! -f "$lib/zookeeper-$1.jar" ] || return 0
	done
	return 1
}

# The order and the places of FindZooKeeper.
have_zookeeper() {
	for name in ZKVERIFY_ZOOKEEPER ZOOKEEPER_HOME; do
		eval "place=\${$name:-}"
		if [ -n "$place" ]; then
			[ "$place" = "$version" ] && continue # it is what is asked for
			is_zookeeper "$place" || fail "$name is $place, which is no ZooKeeper$(is_version "$place" && echo " of this machine (sh ensemble/install.sh --zookeeper $place)"): correct or unset it"
			return 0
		fi
	done
	# Debian's jar logs nothing without a binding for SLF4J beside it.
	[ -f /usr/share/java/zookeeper.jar ] && [ -f /usr/share/java/slf4j-simple.jar ] && return 0
	is_zookeeper /opt/homebrew/opt/zookeeper/libexec || is_zookeeper /usr/local/opt/zookeeper/libexec
}

# The program that FindJava finds.
java_program() {
	for java in ${JAVA_HOME:+"$JAVA_HOME/bin/java"} /opt/homebrew/opt/openjdk/bin/java /usr/local/opt/openjdk/bin/java; do
		[ ! -x "$java" ] || { echo "$java" && return; }
	done
	command -v java
}

# The places of ensemble/curator.go: Curator, and a compiler beside
# the Java that runs.
have_curator() {
	case ${ZKVERIFY_CURATOR:-} in
	'') [ -f /usr/share/java/curator-recipes.jar ] ;;
	*) ! is_version "$ZKVERIFY_CURATOR" || have_curator_version "$ZKVERIFY_CURATOR" ;;
	esac
}

have_curator_version() {
	[ -f "$(cache)/curator-$1/lib/curator-recipes-$1.jar" ] || [ -f "/usr/share/java/curator-recipes-$1.jar" ]
}

have_javac() {
	have_java && [ -x "$(dirname "$(readlink -f "$(java_program)")")/javac" ]
}

# The names and the place of report/browser_test.go.
have_chromium() {
	[ -n "${ZKVERIFY_CHROMIUM:-}" ] || command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
		command -v google-chrome >/dev/null 2>&1 || [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]
}

# The places of cmd/zkverify/worker_kazoo_test.go.
have_kazoo() {
	/usr/bin/python3 -c 'import kazoo' 2>/dev/null || python3 -c 'import kazoo' 2>/dev/null
}

# The places of recipes/promobserver/tape_test.go.
have_promtool() {
	[ -n "${ZKVERIFY_PROMTOOL:-}" ] || command -v promtool >/dev/null 2>&1 || [ -x "$(cache)/promtool" ]
}

# The programs of spec/run.go.
have_spin() {
	command -v spin >/dev/null 2>&1
}

have_cc() {
	command -v cc >/dev/null 2>&1
}

# It compiles faster, and is no must.
have_tcc() {
	command -v tcc >/dev/null 2>&1
}

# The programs of ensemble/ensembletest/kdc.go.
have_kdc() {
	for program in krb5kdc kdb5_util kadmin.local kinit; do
		PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$program" >/dev/null 2>&1 || return 1
	done
}

# The places of FindByteman in ensemble/find.go.
have_byteman() {
	if [ -n "${ZKVERIFY_BYTEMAN:-}" ]; then
		[ -e "$ZKVERIFY_BYTEMAN" ]
	else
		[ -e /usr/share/java/byteman.jar ] || [ -e "$(cache)/byteman.jar" ]
	fi
}

# take PACKAGE FILE takes a file out of one of Debian's packages, into the cache, and installs
# nothing: the package of promtool would start a server, that of Byteman needs Maven.
take() {
	work=$(mktemp -d) new="$(cache)/${2##*/}.new.$$"
	trap 'rm -rf "$work"' EXIT
	# As root, apt downloads as this user.
	[ "$(id -u)" -ne 0 ] || chown _apt "$work" 2>/dev/null || true
	echo "downloading ${2##*/}"
	(
		cd "$work"
		# The lists may be missing, as in a fresh container, or older than the archive.
		apt-get download -q "$1" || { have_root && $root apt-get update -q && apt-get download -q "$1"; }
	) || return 1
	dpkg-deb -x "$work/$1"_*.deb "$work/package" || return 1
	mkdir -p "$(cache)"
	cp "$work/package/$2" "$new" && mv "$new" "$(cache)/${2##*/}"
	rm -rf "$work"
}

# have_root finds out how to become root.
have_root() {
	if [ "$(id -u)" -eq 0 ]; then
		root=
	elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
		root=sudo
	else
		return 1
	fi
}

# debian installs the packages given, as root.
debian() {
	have_root || { echo "to get what is missing, as root run: apt-get install --no-install-recommends $*" >&2 && return 1; }
	echo "installing $*"
	install="$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends"
	# The lists may be missing, as in a fresh container, or older than the archive.
	$install "$@" || { $root apt-get update -q && $install "$@"; }
}

# jdk names the JDK that belongs to the Java that is there, if it is Debian's.
jdk() {
	case $(have_java && readlink -f "$(java_program)") in
	/usr/lib/jvm/java-*-openjdk-*/bin/java)
		version=$(readlink -f "$(java_program)") version=${version#/usr/lib/jvm/java-}
		echo "openjdk-${version%%-*}-jdk-headless"
		;;
	*) openjdk jdk ;;
	esac
}

# openjdk KIND: a version that ZooKeeper is known to run with, or what there is.
openjdk() {
	apt-cache show "openjdk-17-$1-headless" >/dev/null 2>&1 && echo "openjdk-17-$1-headless" || echo "default-$1-headless"
}

# install_version puts a version of Debian's archive into the cache. It runs with
# what the system's package depends on.
install_version() {
	is_version "$version" || fail "--zookeeper is $version, which is neither a version such as 3.9.6 nor a ZooKeeper jar nor a directory with lib/zookeeper-*.jar"
	command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 ||
		fail "ZooKeeper $version can be installed on Debian alone. Unpack apache-zookeeper-$version-bin.tar.gz of https://zookeeper.apache.org/releases.html and name its folder: --zookeeper FOLDER, or ZKVERIFY_ZOOKEEPER=FOLDER"
	set --
	[ -f /usr/share/java/zookeeper.jar ] || set -- libzookeeper-java
	[ -f /usr/share/java/slf4j-simple.jar ] || set -- "$@" libslf4j-java
	[ -n "${ZKVERIFY_DEBIAN_KEYRING:-}" ] || [ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || set -- "$@" debian-archive-keyring
	[ $# -eq 0 ] || debian "$@" || fail "ZooKeeper $version needs it"
	mkdir -p "$(cache)"
	sh "$here/unpack.sh" zookeeper "$version" "$(cache)/zookeeper-$version"
}

install_curator_version() {
	is_version "$curator_version" || fail "--curator takes a version, such as 5.7.1, not $curator_version"
	command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 ||
		fail "Curator $curator_version can be installed on Debian alone. Name a class path that has it: ZKVERIFY_CURATOR=JAR:JAR"
	[ -n "${ZKVERIFY_DEBIAN_KEYRING:-}" ] || [ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || debian debian-archive-keyring ||
		fail "Curator $curator_version needs it"
	mkdir -p "$(cache)"
	sh "$here/unpack.sh" curator "$curator_version" "$(cache)/curator-$curator_version"
}

java=yes zookeeper=yes
have_java || java=no
have_zookeeper || zookeeper=no

if [ $check = yes ]; then
	[ -z "$version" ] || is_zookeeper "$version" || zookeeper=no
	tests=
	if [ $curator = yes ]; then
		have_curator && tests=", curator: yes" || tests=", curator: no"
		have_javac && tests="$tests, javac: yes" || tests="$tests, javac: no"
	fi
	if [ $chromium = yes ]; then
		have_chromium && tests="$tests, chromium: yes" || tests="$tests, chromium: no"
	fi
	if [ $kazoo = yes ]; then
		have_kazoo && tests="$tests, kazoo: yes" || tests="$tests, kazoo: no"
	fi
	if [ $promtool = yes ]; then
		have_promtool && tests="$tests, promtool: yes" || tests="$tests, promtool: no"
	fi
	if [ $spin = yes ]; then
		have_spin && tests="$tests, spin: yes" || tests="$tests, spin: no"
		have_cc && tests="$tests, cc: yes" || tests="$tests, cc: no"
	fi
	if [ $kerberos = yes ]; then
		have_kdc && tests="$tests, kdc: yes" || tests="$tests, kdc: no"
	fi
	if [ $byteman = yes ]; then
		have_byteman && tests="$tests, byteman: yes" || tests="$tests, byteman: no"
	fi
	echo "java: $java, zookeeper: $zookeeper$tests"
	exit 0
fi

if [ $java = yes ] && [ $zookeeper = yes ]; then
	:
elif command -v apt-get >/dev/null 2>&1; then
	set --
	[ $java = yes ] || set -- "$(openjdk jre)"
	[ $zookeeper = yes ] || set -- "$@" zookeeper libslf4j-java
	debian "$@" || fail "Java or ZooKeeper is missing"
elif [ "$(uname)" = Darwin ] && command -v brew >/dev/null 2>&1; then
	brew install zookeeper # brings a JDK with it
else
	fail "Java or ZooKeeper is missing: install a JRE (11 or newer), unpack a release of https://zookeeper.apache.org and set ZOOKEEPER_HOME to its directory"
fi

have_java && have_zookeeper || fail "Java or ZooKeeper is still missing after the installation: set JAVA_HOME and ZOOKEEPER_HOME"

if [ -n "$version" ]; then
	is_zookeeper "$version" || install_version
	! is_version "$version" || echo "ZooKeeper $version is there: --zookeeper $version, or ZKVERIFY_ZOOKEEPER=$version, runs it"
fi

if [ $curator = yes ] && ! { have_curator && have_javac; }; then
	if command -v apt-get >/dev/null 2>&1; then
		set --
		have_curator || set -- libcurator-recipes-java libslf4j-java
		have_javac || set -- "$@" "$(jdk)"
		debian "$@" || true
	fi
	have_curator && have_javac || echo "Curator or a Java compiler is missing: the tests in recipes/interop will be skipped"
fi

if [ -n "$curator_version" ]; then
	# It runs with what Debian's own packages of Curator depend on.
	have_curator_version "$curator_version" || install_curator_version
	echo "Curator $curator_version is there: ZKVERIFY_CURATOR=$curator_version has it used"
fi

if [ $chromium = yes ] && ! have_chromium; then
	if command -v apt-get >/dev/null 2>&1; then
		debian chromium || true
	fi
	have_chromium || echo "Chromium is missing: the tests in report that need a browser will be skipped"
fi

if [ $kazoo = yes ] && ! have_kazoo; then
	if command -v apt-get >/dev/null 2>&1; then
		debian python3-kazoo || true
	fi
	have_kazoo || echo "kazoo is missing: the test of a worker in Python will be skipped"
fi

if [ $promtool = yes ] && ! have_promtool; then
	if command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1; then
		take prometheus usr/bin/promtool || true
	fi
	have_promtool || echo "promtool is missing: the tests of the alert rules will be skipped"
fi

if [ $spin = yes ] && ! { have_spin && have_cc && have_tcc; }; then
	if command -v apt-get >/dev/null 2>&1; then
		set --
		have_spin || set -- spin
		have_cc || set -- "$@" gcc libc6-dev
		[ $# = 0 ] || debian "$@" || true
		have_tcc || debian tcc || true
	fi
	have_spin && have_cc || echo "spin or a C compiler is missing: the searches of the models in spec will be skipped"
fi

if [ $kerberos = yes ] && ! have_kdc; then
	if command -v apt-get >/dev/null 2>&1; then
		debian krb5-kdc krb5-admin-server krb5-user || true
	fi
	have_kdc || echo "a KDC is missing: the tests of Kerberos that need one will be skipped"
fi

if [ $byteman = yes ] && ! have_byteman; then
	[ -z "${ZKVERIFY_BYTEMAN:-}" ] || fail "ZKVERIFY_BYTEMAN is $ZKVERIFY_BYTEMAN, which is not there: correct or unset it"
	command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 ||
		fail "Byteman can be installed on Debian alone. Name byteman.jar of a release of https://byteman.jboss.org: ZKVERIFY_BYTEMAN=FILE"
	take libbyteman-java usr/share/java/byteman.jar || fail "Byteman is still missing"
fi
