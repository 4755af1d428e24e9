#!/bin/sh
# Starts one ZooKeeper server, configured by the same environment variables as
# the official image: ZOO_MY_ID, ZOO_SERVERS, ZOO_TICK_TIME, ZOO_CFG_EXTRA and so on,
# JVMFLAGS and SERVER_JVMFLAGS. A /conf/zoo.cfg that is there already is used as it is.
set -eu

conf=${ZOO_CONF_DIR:-/conf} data=${ZOO_DATA_DIR:-/data} log=${ZOO_DATA_LOG_DIR:-/datalog}
mkdir -p "$conf" "$data" "$log"

if [ ! -f "$conf/zoo.cfg" ]; then
	{
		echo "dataDir=$data"
		echo "dataLogDir=$log"
		echo "tickTime=${ZOO_TICK_TIME:-2000}"
		echo "initLimit=${ZOO_INIT_LIMIT:-5}"
		echo "syncLimit=${ZOO_SYNC_LIMIT:-2}"
		echo "maxClientCnxns=${ZOO_MAX_CLIENT_CNXNS:-60}"
		echo "standaloneEnabled=${ZOO_STANDALONE_ENABLED:-true}"
		echo "admin.enableServer=${ZOO_ADMINSERVER_ENABLED:-true}"
		echo "4lw.commands.whitelist=${ZOO_4LW_COMMANDS_WHITELIST:-srvr}"
		for line in ${ZOO_SERVERS:-server.1=localhost:2888:3888;2181} ${ZOO_CFG_EXTRA:-}; do
			echo "$line"
		done
	} >"$conf/zoo.cfg"
fi
[ -f "$data/myid" ] || echo "${ZOO_MY_ID:-1}" >"$data/myid"

jars=/usr/share/java
# shellcheck disable=SC2086 # the flags are words
exec java -Xmx"${ZK_SERVER_HEAP:-1000}m" ${JVMFLAGS:-} ${SERVER_JVMFLAGS:-} \
	-Dorg.slf4j.simpleLogger.showDateTime=true -Dorg.slf4j.simpleLogger.showShortLogName=true \
	"-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS" \
	-cp "$jars/zookeeper.jar:$jars/slf4j-simple.jar" \
	org.apache.zookeeper.server.quorum.QuorumPeerMain "$conf/zoo.cfg"
