#!/usr/bin/env bash
# Makes the root file system of packaging/Dockerfile's image without Docker, and tries the program in it.
#
#     scripts/check_image.sh [PROGRAM]     target/release/juror if not named
#
# Distroless images are Debian's packages, unpacked: so is this one. Needs Debian 12 (apt-get, dpkg-deb) and root for chroot.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$(realpath "${1:-${CARGO_TARGET_DIR:-$root/target}/release/juror}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
image=$work/image
mkdir -p "$image" "$work/packages"

# What gcr.io/distroless/cc-debian12 holds.
packages=(base-files ca-certificates libc6 libgcc-s1 libgomp1 libssl3 libstdc++6 media-types netbase tzdata)
(cd "$work/packages" && apt-get download --quiet --quiet -o APT::Sandbox::User=root "${packages[@]}")
for package in "$work"/packages/*.deb; do
    dpkg-deb --extract "$package" "$image"
done
mkdir -p "$image/home/nonroot" "$image/models" "$image/data" "$image/tmp"
chmod 1777 "$image/tmp"
echo 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin' >"$image/etc/passwd"
chown -R 65532:65532 "$image/home/nonroot" "$image/models" "$image/data"
install -m 755 "$program" "$image/usr/bin/juror"
install -m 644 "$root/examples/rollouts.jsonl" "$image/data/"

inside() {
    env -i HOME="${home:-/home/nonroot}" PATH=/usr/bin HF_HOME=/models JUROR_API_KEY="${key:-}" \
        "$(command -v chroot)" --userspec="${user:-65532:65532}" "$image" /usr/bin/juror "$@"
}
inside --version
inside judge /data/rollouts.jsonl -o /data/verdicts.jsonl --quiet
[[ $(grep -c '"status":"ok"' "$image/data/verdicts.jsonl") -eq 24 ]]
# As the owner of a mounted folder, whom /etc/passwd does not have (docker run --user): Docker sets HOME to / then.
install -d -o 12345 -g 12345 "$image/mounted"
user=12345:12345 home=/ inside judge /data/rollouts.jsonl -o /mounted/verdicts.jsonl --quiet
[[ $(grep -c '"status":"ok"' "$image/mounted/verdicts.jsonl") -eq 24 ]]
inside verify --gold 1/2 --pred 'The answer is 0.5.' --explain | head -n 3

# A server that others reach, as in a container.
key=check inside serve --host 0.0.0.0 --port 0 --quiet --exit-with-stdin < <(sleep 60) >"$work/listening" &
for _ in $(seq 100); do
    [[ ! -s $work/listening ]] || break
    sleep 0.1
done
port=$(sed 's|.*:\([0-9]*\)".*model.*|\1|' "$work/listening")
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer check\r\nConnection: close\r\n\r\n' >&3
grep -q '"tiny"' <&3
kill %1
wait %1 2>/dev/null || true
size=$(du -sm "$image" | cut -f1)
echo "the program runs in its image: $size MB, $(find "$image" -type f -perm -100 | wc -l) executables, no shell: $([[ -e $image/bin/sh ]] && echo no || echo yes)"
