#!/bin/bash
# timed.sh COMMAND [ARGUMENT...] - runs a test; the last line that it writes says how much CPU time the test and all processes that it waited for
# have taken, in user and in system mode. scripts/test-results.py reads it.
TIMEFORMAT=$'\nCPU seconds: %3U + %3S'
time "$@"
