# Reads what Parks has printed, then folded events, with -v metric=NAME and -v value=count or sum before each: each call has as many parks at least, as long as it
# says, with the class of its blocker innermost, as `contention` where it waits for a lock and as `parked` elsewhere.

BEGIN {
	inner = "java.util.concurrent.locks.LockSupport.park(Nanos)?;jdk.internal.misc.Unsafe.park;"
	locks = "java.util.concurrent.locks."
	blocker["locks"] = locks "ReentrantLock.(Non)?[fF]airSync"
	blocker["writes"] = locks "ReentrantReadWriteLock.NonfairSync"
	blocker["stamps"] = locks "StampedLock"
	blocker["acquires"] = "java.util.concurrent.Semaphore.NonfairSync"
	blocker["awaits"] = "java.util.concurrent.CountDownLatch.Sync"
	blocker["conditions"] = locks "AbstractQueuedSynchronizer.ConditionObject"
	blocker["gets"] = "java.util.concurrent.CompletableFuture.Signaller"
	blocker["parks"] = "java.lang.String"
	kinds = split("locks writes stamps acquires awaits conditions gets parks", names, " ")
	for (k = 1; k <= kinds; k++)
		event[names[k]] = k <= 4 ? "contention" : "parked"
}

metric == "" {
	if (NF == 4) {
		times[$1] = $2
		least[$1] = $3
		most[$1] = $4
	}
	next
}

{
	number = $NF
	sub(/ [0-9]+$/, "")
	for (k = 1; k <= kinds; k++) {
		name = names[k]
		if ($0 !~ "Parks." name ";")
			continue
		if (metric != event[name] || $0 !~ "Parks." name ";(.*;)?" inner "\\[" blocker[name] "\\]$") {
			print metric ": " $0
			bad = 1
		}
		sum[name, value] += number
	}
}

END {
	for (k = 1; k <= kinds; k++) {
		name = names[k]
		if (!times[name] || sum[name, "count"] < times[name] || sum[name, "sum"] < least[name] || sum[name, "sum"] > most[name]) {
			printf "%s: %d of %d, %d of %d to %d ns\n", name, sum[name, "count"], times[name], sum[name, "sum"], least[name], most[name]
			bad = 1
		}
	}
	exit bad
}
