# A query of each kind: paths, strings, sorting, reduction.
[inputs, .] | map(select(.id % 3 != 0)) | sort_by(.name) | group_by(.id % 7)
| map({key: (.[0].id | tostring), sum: (map(.value.x) | add), names: (map(.name | ascii_upcase | ltrimstr("ITEM ")) | join(",")),
       tags: (reduce .[].tags[] as $t ({}; if $t then .[$t] += 1 else . end) | to_entries | map(select(.value > 1)) | from_entries)})
