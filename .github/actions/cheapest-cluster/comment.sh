#!/usr/bin/env bash
# Fetches the job as it was at the base of the pull request, and has comment.py say what changed. Called by action.yml.
#
# Environment: JOB, BASE_SHA, PULL_REQUEST, FAIL_ABOVE, GITHUB_TOKEN, and what GitHub sets.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT

# A shallow checkout has no base: it is fetched by itself. Where there is none, there is nothing to compare with.
if [ -n "${BASE_SHA:-}" ]; then
    git cat-file -e "$BASE_SHA^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$BASE_SHA" || true
    if git cat-file -e "$BASE_SHA:./$JOB" 2>/dev/null; then
        folder=$(dirname "$JOB")
        # The job with what it names beside it.
        git archive "$BASE_SHA" -- "$folder" | tar -x -C "$base"
    fi
fi
python "$here/comment.py" "$JOB" "$base/$JOB"
