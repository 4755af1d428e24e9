#!/bin/sh
# Builds container images without any registry, as root on Debian:
#
#   zkverify/zookeeper:3.8     ZooKeeper of Debian 12, from its packages. It is
#                              configured like the official image (entrypoint.sh).
#   zkverify/toxiproxy:2.12.0  Toxiproxy, from its Go module
#
#   zkverify/zkverify          the first image with zkverify in it, which starts
#                              servers as its child processes; made only if named,
#                              and then always, from the code that is here
#
# With --zookeeper VERSION, such as 3.9.6, the first is zkverify/zookeeper:VERSION
# instead: that version, which another release of Debian has, on Debian 12.
#
# An image that is there already is left alone; --force builds it again. Name
# images to build these alone: zookeeper, toxiproxy, zkverify. The first takes a minute.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
force=no wanted= version=
while [ $# -gt 0 ]; do
	case $1 in
	--force) force=yes ;;
	--zookeeper)
		[ $# -gt 1 ] && [ -n "$2" ] || { echo "build.sh: --zookeeper takes a version, such as 3.9.6" >&2 && exit 64; }
		version=$2
		shift
		;;
	zookeeper | toxiproxy | zkverify) wanted="$wanted $1" ;;
	*) echo "build.sh: unknown option $1; want --force, --zookeeper VERSION, zookeeper, toxiproxy, zkverify" >&2 && exit 64 ;;
	esac
	shift
done
zookeeper=zkverify/zookeeper:${version:-3.8}

command -v docker >/dev/null 2>&1 && docker version >/dev/null 2>&1 || {
	echo "Docker is missing, or its daemon cannot be reached" >&2
	exit 69
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

user=1000 # that of the official image; no program in the images needs to be root

missing() { [ $force = yes ] || ! docker image inspect "$1" >/dev/null 2>&1; }

zookeeper() {
	[ "$(id -u)" -eq 0 ] || { echo "the ZooKeeper image is made by debootstrap, which needs root" >&2 && exit 77; }
	command -v debootstrap >/dev/null 2>&1 ||
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends debootstrap >"$work/log" 2>&1 ||
		{ cat "$work/log" >&2 && exit 1; }
	# Its last step starts ZooKeeper's service, which is of no use here.
	debootstrap --variant=minbase --include=openjdk-17-jre-headless,zookeeper,libslf4j-java bookworm "$work/root" >"$work/log" 2>&1 ||
		{ tail -20 "$work/log" >&2 && exit 1; }
	if [ -n "$version" ]; then
		sh "$here/../unpack.sh" zookeeper "$version" "$work/unpacked"
		java=$work/root/usr/share/java
		rm -f "$java"/zookeeper*.jar
		for jar in zookeeper zookeeper-jute; do
			cp "$work/unpacked/lib/$jar-$version.jar" "$java/$jar.jar"
		done
	fi
	rm -rf "$work"/root/var/cache/apt/* "$work"/root/var/lib/apt/lists/* "$work"/root/usr/share/doc/* \
		"$work"/root/usr/share/man/* "$work"/root/usr/share/locale/* "$work"/root/etc/zookeeper
	install -m 755 "$here/entrypoint.sh" "$work/root/docker-entrypoint.sh"
	install -d -o $user -g $user "$work/root/conf" "$work/root/data" "$work/root/datalog"
	tar -C "$work/root" -c . | docker import --change "USER $user:$user" \
		--change 'ENTRYPOINT ["/docker-entrypoint.sh"]' --change 'EXPOSE 2181 2888 3888' \
		- "$zookeeper" >/dev/null
	rm -rf "$work/root"
}

toxiproxy() {
	mkdir -p "$work/image"
	for program in server cli; do
		GOFLAGS= GOBIN="$work/bin" CGO_ENABLED=0 go install "github.com/Shopify/toxiproxy/v2/cmd/$program@v2.12.0"
	done
	mv "$work/bin/server" "$work/image/toxiproxy"
	mv "$work/bin/cli" "$work/image/toxiproxy-cli"
	tar -C "$work/image" -c . | docker import --change "USER $user:$user" \
		--change 'ENTRYPOINT ["/toxiproxy"]' --change 'CMD ["-host=0.0.0.0"]' --change 'EXPOSE 8474' \
		- zkverify/toxiproxy:2.12.0 >/dev/null
}

zkverify() {
	missing "$zookeeper" && zookeeper
	mkdir -p "$work/layer/usr/local/bin" "$work/layer/data"
	chmod 1777 "$work/layer/data" # for any --user
	(cd "$here/../.." && CGO_ENABLED=0 go build -trimpath \
		-ldflags "-X main.version=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)" \
		-o "$work/layer/usr/local/bin/zkverify" ./cmd/zkverify)
	made=$(docker create "$zookeeper")
	tar -C "$work/layer" -c usr/local/bin/zkverify data | docker cp - "$made:/"
	docker commit --change 'ENTRYPOINT ["/usr/local/bin/zkverify"]' --change 'WORKDIR /data' "$made" zkverify/zkverify >/dev/null
	docker rm "$made" >/dev/null
}

for name in ${wanted:-zookeeper toxiproxy}; do
	case $name in
	zookeeper) image=$zookeeper ;;
	toxiproxy) image=zkverify/toxiproxy:2.12.0 ;;
	zkverify) image=zkverify/zkverify ;;
	esac
	if [ "$name" = zkverify ] || missing "$image"; then
		echo "building $image"
		"$name"
	fi
	echo "$image"
done
