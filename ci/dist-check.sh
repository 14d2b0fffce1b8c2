#!/usr/bin/env bash
# ci/dist-check.sh IMAGE.tar TAG ARCH
#
# Reads a container image as the tools of others read it, unpacks it, and runs its own entry point in its own
# root: as the user that it names, with a read-only root, under qemu where the processor is another one.
# The running program is asked over /ping, /invocations and /ws.
#
# Needs skopeo, umoci, runc, jq, curl, readelf, python3 (and qemu-user-static for a foreign ARCH, arm64 or amd64).
# Exit status: 0 all is well, 77 something that it needs is missing, anything else is a finding.
set -euo pipefail

image=$(realpath "${1:?usage: dist-check.sh IMAGE.tar TAG ARCH}")
tag=$2
arch=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for tool in skopeo umoci runc jq curl readelf python3; do
  command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
qemu=
case $arch/$(uname -m) in
  arm64/aarch64 | amd64/x86_64) ;;
  arm64/*) qemu=$(command -v qemu-aarch64-static) || { echo "SKIP: qemu-user-static is not installed"; exit 77; } ;;
  amd64/*) qemu=$(command -v qemu-x86_64-static) || { echo "SKIP: qemu-user-static is not installed"; exit 77; } ;;
  *) echo "no such processor: $arch"; exit 2 ;;
esac

work=$(mktemp -d)
container=distcheck$$
port=$((20000 + $$ % 10000))
trap 'runc delete -f "$container" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

# 1. Both readings of the file: an OCI layout, and what `docker load` takes. skopeo compares every digest.
[[ $(skopeo inspect --format '{{.Os}}/{{.Architecture}}' "oci-archive:$image:$tag") == "linux/$arch" ]]
[[ $(skopeo inspect --format '{{.Os}}/{{.Architecture}}' "docker-archive:$image") == "linux/$arch" ]]
skopeo copy -q "oci-archive:$image:$tag" "docker-archive:$work/copy.tar:check:$tag"
skopeo copy -q "docker-archive:$image" "oci:$work/copy:$tag"
config=$(skopeo inspect --config "oci-archive:$image:$tag")
jq -e '.config.User == "1000" and (.config.ExposedPorts | has("8080/tcp")) and .config.StopSignal == "SIGTERM"' \
  >/dev/null <<<"$config"
entry=$(jq -r '.config.Entrypoint[0]' <<<"$config")

# 2. Unpacked: a program that needs no loader, and nothing of the machine that built it.
mkdir "$work/layout"
tar xf "$image" -C "$work/layout"
umoci unpack --image "$work/layout:$tag" "$work/bundle" >/dev/null 2>&1
program=$work/bundle/rootfs$entry
largest() { # FILE BYTES: a pull before every start has to be short
  if (($(stat -c %s "$1") > $2)); then echo "$(basename "$1") has $(stat -c %s "$1") bytes, more than $2"; exit 1; fi
}
largest "$image" 16000000
largest "$program" 12000000
if readelf -lW "$program" | grep -q INTERP; then echo "$entry needs a loader"; exit 1; fi
if grep -aqF "$(cd "$here/.." && pwd)" "$program"; then echo "$entry names a directory of this machine"; exit 1; fi

# 3. Running.
cd "$work/bundle"
jq --arg qemu "$qemu" --arg port "$port" '
  .process.terminal = false
  | .root.readonly = true
  | .process.args += ["--demo", "--port", $port]
  | .process.capabilities = {}
  | .linux.namespaces |= map(select(.type != "network"))
  | .mounts += [{destination: "/workspace", type: "tmpfs", source: "tmpfs", options: ["uid=1000", "mode=0755"]},
                {destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["mode=1777"]}]
  | if $qemu != "" then
      .process.args = ["/.qemu"] + .process.args
      | .mounts += [{destination: "/.qemu", type: "bind", source: $qemu, options: ["bind", "ro"]}]
    else . end' config.json >changed.json
mv changed.json config.json
runc run --bundle . "$container" >"$work/log" 2>&1 &
runner=$!
fail() { echo "$*"; tail -20 "$work/log"; exit 1; }
ping=
for _ in $(seq 200); do
  ping=$(curl -fsS --max-time 2 "http://127.0.0.1:$port/ping" 2>/dev/null) && break
  kill -0 "$runner" 2>/dev/null || break
  sleep 0.1
done
jq -e '.status == "Healthy" and (.time_of_last_update | type == "number")' >/dev/null <<<"$ping" || fail "/ping: ${ping:-no answer}"
pid=$(runc state "$container" | jq .pid)
grep -qE '^Uid:\s+1000\s' "/proc/$pid/status" || fail "it does not run as user 1000"
grep -qE '^CapEff:\s+0+$' "/proc/$pid/status" || fail "it has capabilities"
python3 "$here/probe.py" "127.0.0.1:$port" || fail "the agent does not answer as it should"
runc kill "$container" TERM
wait "$runner" || fail "it does not end with 0 on SIGTERM"
echo "OK linux/$arch $(stat -c %s "$image") bytes, $entry $(stat -c %s "$program") bytes"
