# shellcheck shell=bash
# Sourced by the scripts beside it: where the checkout is, and how they talk.

# A caller's umask of 077 would make programs and images that another user cannot enter.
umask 022
# shellcheck disable=SC2034 # used by those who source this file
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
PROGRAM=scripts/$(basename "$0")

note() { printf '%s: %s\n' "$PROGRAM" "$*" >&2; }

die() {
	note "$*"
	exit 1
}
