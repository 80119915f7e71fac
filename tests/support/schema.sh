# shellcheck shell=sh
# schema.sh - `schema_check FILE...` compares JSON with the schemas in share/waymark/schema (schema.py), where python3-jsonschema is there.
# The script that sources it has lib.sh's `fail` and `here`.
schema_python=/usr/bin/python3 # Debian's has python3-jsonschema
schema_is_there() {
	$schema_python -c 'import jsonschema' 2>/dev/null
}

schema_check() {
	[ -n "${schema_answer-}" ] || { schema_is_there && schema_answer=yes || schema_answer=no; } # asked once: 0.2 s of CPU time
	# shellcheck disable=SC2154 # `here` is of lib.sh
	[ "$schema_answer" = no ] || $schema_python "$here/../support/schema.py" "$@" >schema.txt || fail "JSON and its schema differ: $(cat schema.txt)"
}
