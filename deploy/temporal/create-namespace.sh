#!/bin/sh
# The namespace and the search attributes that workflows are started with; one that is missing refuses every start. Runs again on
# every start: what is there is left as it is. The address is read from TEMPORAL_ADDRESS by the CLI itself.
set -eu

namespace=${TEMPORAL_NAMESPACE:?}
# The register keeps what was promised; closed runs are only for looking at.
retention=720h

retry() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    if [ "$tries" -ge 60 ]; then
      echo "gave up: $*" >&2
      exit 1
    fi
    sleep 2
  done
}

ensure_namespace() {
  temporal operator namespace describe --namespace "$namespace" >/dev/null 2>&1 ||
    temporal operator namespace create --namespace "$namespace" --retention "$retention"
}

ensure_attribute() {
  temporal operator search-attribute list --namespace "$namespace" | grep -qw "$1" ||
    temporal operator search-attribute create --namespace "$namespace" --name "$1" --type "$2"
}

retry temporal operator cluster health
retry ensure_namespace
retry ensure_attribute OperationKind Keyword
retry ensure_attribute OperationStatus Keyword
retry ensure_attribute AccountId Keyword
retry ensure_attribute Connection Keyword
retry ensure_attribute UnknownSince Datetime
