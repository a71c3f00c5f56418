#!/bin/sh
# Temporal's two databases, to the schema of this version of its tool. Runs again on every start: what is there is left as it is.
# Where the database is and who owns it is read from SQL_* by the tool itself.
set -eu

versioned=/etc/temporal/schema/postgresql/v12

for database in temporal:temporal temporal_visibility:visibility; do
  name=${database%%:*}
  schema=${database##*:}
  temporal-sql-tool --db "$name" create
  temporal-sql-tool --db "$name" setup-schema -v 0.0
  temporal-sql-tool --db "$name" update-schema -d "$versioned/$schema/versioned"
done
