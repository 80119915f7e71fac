#!/bin/sh
# epochs.sh BUILD - a recording of two epochs, of code that no file describes (tests/support/epoch_builder.h), in
# every report. The stacks are written out here from the graph, for each context by its value, and added up by hand.
. "$(dirname "$0")/lib.sh"
"$build/tests/cli/epochs_file" two.wmk >tokens.txt || fail "no recording"

# same FORMAT METRIC WANT: the stacks in out.txt are those of WANT.
same() {
	python3 "$here/epochs_stacks.py" "$1" out.txt "$2" >got.txt || fail "$1 cannot be read"
	LC_ALL=C sort -k 2 got.txt >got.sorted
	LC_ALL=C sort -k 2 "$3" >want.sorted
	cmp -s got.sorted want.sorted || fail "$1: $(diff got.sorted want.sorted)"
}

main=shop.Main.main order=shop.Order.total tax=shop.Tax.rate fixed=shop.FixedTax.rate log=shop.Log.write
started='shop.Main.main;[java.lang.Thread.start];[thread];shop.Worker.run'
# 1 + 8192 are of app's Tax, 4 + 512 of the plugin's.
cat >names.txt <<END
8709 $main;$order;$tax;$log
66 $main;$order;$fixed;$log
8 $started;$order;$fixed;$log
16 $main;$order;$tax;$log;$order;$tax;$log;$order;$tax;$log;$order;$tax;$log
32 shop.Worker.run;$order;$tax;$log
128 $main;$order;$tax;$log;$order;$fixed;$log
256 shop.Worker.run;$order;$tax;$log;$order;$fixed;$log
1024 $main;$order;$fixed;$log;plain_sort;libplain.so+0x1234
2048 $main;$order;$fixed;$log;plain_sort;[indirect]
4096 $started;$order;$tax;$log
END
# How many contexts that is each time.
cat >counts.txt <<END
4 $main;$order;$tax;$log
2 $main;$order;$fixed;$log
1 $started;$order;$fixed;$log
1 $main;$order;$tax;$log;$order;$tax;$log;$order;$tax;$log;$order;$tax;$log
1 shop.Worker.run;$order;$tax;$log
1 $main;$order;$tax;$log;$order;$fixed;$log
1 shop.Worker.run;$order;$tax;$log;$order;$fixed;$log
1 $main;$order;$fixed;$log;plain_sort;libplain.so+0x1234
1 $main;$order;$fixed;$log;plain_sort;[indirect]
1 $started;$order;$tax;$log
END
main=shop.Main.main@Main.java:7 order=shop.Order.total@Order.java:23 tax=shop.Tax.rate@Tax.java:31
plugin=shop.Tax.rate@Tax.java:8 fixed=shop.FixedTax.rate@FixedTax.java:42 log=shop.Log.write@Log.java:12
again=shop.Log.write@Log.java:15 sorts=shop.Log.write@Log.java:44 worker=shop.Worker.run@Worker.java
started="shop.Main.main@Main.java:12;[java.lang.Thread.start];[thread];$worker"
cat >places.txt <<END
8193 $main;$order;$tax;$log
516 $main;$order;$plugin;$log
66 $main;$order;$fixed;$log
8 $started;$order;$fixed;$log
16 $main;$order;$tax;$again;$order;$tax;$again;$order;$tax;$again;$order;$tax;$log
32 $worker;$order;$plugin;$log
128 $main;$order;$tax;$again;$order;$fixed;$log
256 $worker;$order;$plugin;$again;$order;$fixed;$log
1024 $main;$order;$fixed;$sorts;plain_sort;libplain.so+0x1234
2048 $main;$order;$fixed;$sorts;plain_sort;[indirect]
4096 $started;$order;$plugin;$log
END
main='app//shop.Main.main([Ljava/lang/String;)V' order='app//shop.Order.total(I)J' tax='app//shop.Tax.rate()D'
plugin='plugin//shop.Tax.rate()D' log='app//shop.Log.write(Ljava/lang/String;)V'
cat >heap.txt <<END
100 $main;$order;$tax;$log
10000 app//shop.Worker.run()D;$order;$plugin;$log
END

expect 0 "$waymark" report --top all --metric=hit:sum two.wmk
same text hit:sum places.txt
for format in json folded speedscope events; do
	expect 0 "$waymark" report --format=$format --metric=hit:sum two.wmk
	want=names.txt
	[ $format != json ] || want=places.txt
	same $format hit:sum $want
done
expect 0 "$waymark" report --format=svg --metric=hit two.wmk
same svg hit counts.txt
expect 0 "$waymark" report --format=json two.wmk
same links bytes heap.txt
lacks out.txt epoch
expect 0 "$waymark" report --format=folded --metric=hit:sum --function '*FixedTax*' two.wmk
grep FixedTax names.txt >fixed.txt
same folded hit:sum fixed.txt

expect 0 sh -c '"$0" decode --wmk two.wmk <tokens.txt' "$waymark"
same decode - places.txt
expect 0 sh -c '"$0" decode --folded --wmk two.wmk <tokens.txt' "$waymark"
same decode_folded - names.txt
# The first and the sixth differ in their epoch only: both are shown.
expect 0 sh -c '"$0" decode --once --wmk two.wmk <tokens.txt' "$waymark"
[ "$(grep -c '#0 ' out.txt)" -eq 14 ] || fail "--once: $(cat out.txt)"
# The check digits are over the epoch, too.
sed -n 6p tokens.txt | sed 's/:v1:/:v2:/' >other.txt
expect 0 sh -c '"$0" decode --wmk two.wmk <other.txt' "$waymark"
has out.txt "[wm1: damaged: its check digits are wrong]"

# A merged file has events by context, without their times.
expect 0 "$waymark" merge -o merged.wmk two.wmk
has err.txt "14 events are added up by context"
expect 0 "$waymark" merge -o again.wmk merged.wmk
refused 1 "run 000000000000e0e1 is in two.wmk already" "$waymark" merge -o x.wmk two.wmk merged.wmk
finish
