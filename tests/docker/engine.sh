#!/usr/bin/env bash
# A Docker engine of our own, with a stand-in for AWS's Lambda image, where neither engine nor image can be had.
# For CI on Debian as root; who has Docker needs none of this.
#
#   engine.sh start DIR   prints DOCKER_HOST=… once it answers: about 2 minutes the first time, then seconds
#   engine.sh stop DIR    ends it by its process id; DIR, an absolute path, keeps the image
#
# Exit code 3: it cannot be had here, and the last line on stderr says why. The stand-in is Debian 13, whose Python
# is 3.13 too, with AWS's runtime client; it has no SDK, so that functions run on what their layers bring.
# The engine adds no firewall rule and forwards nothing: containers reach this machine by the bridge alone.
set -euo pipefail

command=${1:?start or stop}
folder=${2:?a folder}
socket=unix://$folder/docker.sock
image=public.ecr.aws/lambda/python:3.13-x86_64
runtime_client=awslambdaric==4.2.2
bridge=172.31.255.1/24
max_bytes=$((4 << 30))
max_seconds=420

cannot() {
  echo "no Docker engine: $*" >&2
  exit 3
}

logged() { # NAME COMMAND…: its output goes to a file, and too long is a failure
  local log=$folder/$1.log
  shift
  timeout "$max_seconds" "$@" >"$log" 2>&1 || cannot "$1 failed: $(tail -n 1 "$log")"
}

stop() {
  local pid
  [ -f "$folder/engine.pid" ] || return 0
  pid=$(cat "$folder/engine.pid")
  # The number may be another process's by now.
  if [[ "$(readlink "/proc/$pid/exe" 2>/dev/null)" == */dockerd ]]; then
    kill -TERM "$pid"
    timeout 30 tail --pid="$pid" -f /dev/null || kill -KILL "$pid"
  fi
  rm -f "$folder/engine.pid" "$folder/docker.sock"
}

install() {
  type -P dockerd debootstrap >/dev/null && return
  export DEBIAN_FRONTEND=noninteractive
  logged apt-update apt-get update
  logged apt-install apt-get install --yes --no-install-recommends docker.io debootstrap
}

limit_memory() { # of this shell and what it starts, so that no container takes the machine down
  local group=/sys/fs/cgroup/memory/memoir-engine file=memory.limit_in_bytes
  [ -d /sys/fs/cgroup/memory ] || group=/sys/fs/cgroup/memoir-engine file=memory.max
  { mkdir -p "$group" && echo "$max_bytes" >"$group/$file" && echo "$BASHPID" >"$group/cgroup.procs"; } \
    2>/dev/null || echo "the engine's memory could not be limited" >&2
}

run_engine() {
  (
    limit_memory
    exec setsid dockerd --host "$socket" --pidfile "$folder/engine.pid" \
      --data-root "$folder/data" --exec-root "$folder/exec" --cgroup-parent /memoir-engine --log-level warn \
      --bip "$bridge" --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false
  ) >"$folder/engine.log" 2>&1 </dev/null &
  local engine=$!
  for _ in {1..60}; do
    docker --host "$socket" version >/dev/null 2>&1 && return
    kill -0 "$engine" 2>/dev/null || break
    sleep 0.5
  done
  cannot "dockerd does not answer: $(tail -n 1 "$folder/engine.log")"
}

make_image() {
  [ -z "$(docker --host "$socket" images --quiet "$image")" ] || return 0
  local root=$folder/root runtime=$folder/root/var/runtime
  rm -rf "$root"
  logged debootstrap debootstrap --variant=minbase --include=python3,ca-certificates trixie "$root"
  mkdir -p "$runtime" "$root/var/task" "$root/var/rapid"
  logged pip "${PYTHON:-python3}" -m pip install --disable-pip-version-check --target "$runtime" \
    --python-version 3.13 --implementation cp --only-binary=:all: \
    --platform manylinux2014_x86_64 --platform manylinux_2_28_x86_64 "$runtime_client"
  cat >"$runtime/bootstrap" <<'END'
#!/bin/sh
export PYTHONPATH=/var/task:/opt/python:/var/runtime
exec python3 -m awslambdaric "$_HANDLER"
END
  # sam puts its runtime emulator in /var/rapid.
  cat >"$root/lambda-entrypoint.sh" <<'END'
#!/bin/sh
exec /var/rapid/aws-lambda-rie /var/runtime/bootstrap
END
  chmod +x "$runtime/bootstrap" "$root/lambda-entrypoint.sh"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/usr/share/{doc,man,locale}
  logged tar tar --directory "$root" --create --file "$folder/root.tar" .
  logged import docker --host "$socket" import --platform linux/amd64 \
    --change 'ENTRYPOINT ["/lambda-entrypoint.sh"]' --change 'WORKDIR /var/task' \
    --change 'ENV LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime LANG=C.UTF-8' "$folder/root.tar" "$image"
  rm -rf "$root" "$folder/root.tar"
}

start() {
  [ "$(id -u)" = 0 ] || cannot "starting one needs root"
  [ "$(uname -m)" = x86_64 ] || cannot "the stand-in image is made on x86_64 only"
  type -P apt-get >/dev/null || cannot "this is no Debian"
  mkdir -p "$folder"
  stop
  install
  run_engine
  make_image
  trap - EXIT
  echo "DOCKER_HOST=$socket"
}

case $command in
start)
  trap stop EXIT # whatever goes wrong
  start
  ;;
stop) stop ;;
*)
  echo "start or stop" >&2
  exit 2
  ;;
esac
