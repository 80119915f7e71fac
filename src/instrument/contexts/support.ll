; support.ll - what emitted code leans on: the runtime's symbols, the image's descriptor and its registration, and the push.
;
; support.c links it into every instrumented module. push and clean are inlined into their sites. Field offsets are those of
; waymark/abi.h (support.c checks them). The stores of a push are volatile so that they stay in this order: a signal handler may
; run between any two, and takes `top` to be the end of what is written.

; struct wm1_thread; a program may take the shorter local-exec way to it (support.c)
@wm1_thread_state = external thread_local(initialexec) global { i64, ptr, ptr, i64, i32, i32, i32, i32 }
@__ehdr_start = external hidden global i8

; struct wm1_image; site_count and meta_key are filled in
@wm1.image = internal global { i32, i32, i32, i32, ptr, i64 }
  { i32 3, i32 0, i32 0, i32 0, ptr @__ehdr_start, i64 0 }

; the first constructor and the last destructor
@wm1.first = internal global ptr @wm1.enter_image, section ".init_array.00000"
@wm1.last = internal global ptr @wm1.leave_image, section ".fini_array.00000"
@llvm.compiler.used = appending global [2 x ptr] [ptr @wm1.first, ptr @wm1.last], section "llvm.metadata"

; Linking takes along only what is referred to; dropped right after.
@wm1.anchors = global [14 x ptr] [ptr @wm1.push, ptr @wm1.push_tail, ptr @wm1.clean, ptr @wm1_capture, ptr @wm1_event,
  ptr @wm1.defer, ptr @wm1.end_defer, ptr @wm1.look, ptr @wm1.call_self, ptr @wm1.call_self_first, ptr @wm1.call_selves, ptr @wm1.next_self,
  ptr @wm1.return_self, ptr @wm1_hybrid_main]

declare void @wm1_register(ptr)
declare void @wm1_unregister(ptr)
declare void @wm1_capture(ptr sret({ i64, i32, i32, i32, i32 }), i32)
declare void @wm1_event(i32, ptr, i64)
declare i64 @wm1_hybrid_main(i64) nounwind
; nonlazybind: the lazy resolver does not keep all the registers that preserve_most does
declare preserve_mostcc ptr @wm1_grow() cold nounwind nonlazybind
declare preserve_mostcc void @wm1_drop_tails(i64) cold nounwind nonlazybind

define internal void @wm1.enter_image() {
  call void @wm1_register(ptr @wm1.image)
  ret void
}

define internal void @wm1.leave_image() {
  call void @wm1_unregister(ptr @wm1.image)
  ret void
}

; Helpers that outline.c puts in place.
declare preserve_mostcc void @wm1.late_put_back() nounwind
declare preserve_mostcc void @wm1.late_enter() nounwind
declare preserve_mostcc void @wm1.late_push_self(i64) nounwind
declare preserve_mostcc void @wm1.late_push_selves(i64) nounwind
declare preserve_mostcc void @wm1.late_put_back_self() nounwind
declare i64 @llvm.read_register.i64(metadata)

; Pushes (id, site), a number of the process. Returns the top to put back. A thread's first push leaves its new stack in place of none: else all pushes of the
; outermost function would look for it.
define internal ptr @wm1.push(i32 %site, i64 %id, i64 %sp) alwaysinline nounwind {
start:
  %top = load ptr, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)
  %bits = ptrtoint ptr %top to i64
  %low = and i64 %bits, 65535
  %full = icmp eq i64 %low, 0
  br i1 %full, label %grow, label %write, !prof !0
grow:
  %fresh = call preserve_mostcc ptr @wm1_grow()
  %none = icmp eq ptr %top, null
  %kept = select i1 %none, ptr %fresh, ptr %top
  br label %write
write:
  %back = phi ptr [ %top, %start ], [ %kept, %grow ]
  %e = phi ptr [ %top, %start ], [ %fresh, %grow ]
  store volatile i64 %id, ptr %e
  %e.sp = getelementptr i8, ptr %e, i64 8
  store volatile i64 %sp, ptr %e.sp
  %wide = zext i32 %site to i64
  %e.site = getelementptr i8, ptr %e, i64 16
  store volatile i64 %wide, ptr %e.site
  %history = load i64, ptr getelementptr (i8, ptr @wm1_thread_state, i64 40)
  %e.run = getelementptr i8, ptr %e, i64 24
  store volatile i64 %history, ptr %e.run
  %next = getelementptr i8, ptr %e, i64 32
  store volatile ptr %next, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)
  ret ptr %back
}

; A call of foreign code: its push is put off. Another thread's stack pointer here, or none, says that it was made, or that the program has
; switched stacks.
define internal void @wm1.defer(i32 %site, i64 %sp) alwaysinline nounwind {
  store volatile i32 %site, ptr getelementptr (i8, ptr @wm1_thread_state, i64 32)
  store volatile i64 %sp, ptr getelementptr (i8, ptr @wm1_thread_state, i64 24)
  ret void
}
define internal void @wm1.end_defer(i64 %sp) alwaysinline nounwind {
  %deferred = load i64, ptr getelementptr (i8, ptr @wm1_thread_state, i64 24)
  %same = icmp eq i64 %deferred, %sp
  br i1 %same, label %end, label %slow, !prof !1
end:
  store volatile i64 0, ptr getelementptr (i8, ptr @wm1_thread_state, i64 24)
  br label %done
slow:
  call preserve_mostcc void @wm1.late_put_back()
  br label %done
done:
  ret void
}

; A function that foreign code may have called. Others have this ahead of their code (entry.c).
define internal void @wm1.look() alwaysinline nounwind {
  %deferred = load volatile i64, ptr getelementptr (i8, ptr @wm1_thread_state, i64 24)
  %none = icmp eq i64 %deferred, 0
  br i1 %none, label %done, label %push, !prof !1
push:
  call preserve_mostcc void @wm1.late_enter()
  br label %done
done:
  ret void
}

; A function calls itself: its id stays, the history gets `bits` more, which are the code of the call (waymark/abi.h). limit: above it there is
; no room; then the call is pushed. Assembly, since the code generator would go by a register.
define internal void @wm1.call_self(i32 %limit, i32 %bits, i32 %code, i64 %site, i64 %restart) alwaysinline nounwind {
  %history = load i32, ptr getelementptr (i8, ptr @wm1_thread_state, i64 44)
  %full = icmp ugt i32 %history, %limit
  br i1 %full, label %push, label %append, !prof !0
append:
  call void asm sideeffect "shll $2, $0\0Aorl $3, $0", "=*m,*m,i,i,~{memory},~{dirflag},~{fpsr},~{flags}"(
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44),
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44), i32 %bits, i32 %code)
  br label %done
push:
  call preserve_mostcc void @wm1.late_push_self(i64 %site)
  store i64 %restart, ptr @wm1_thread_state
  br label %done
done:
  ret void
}

; The same, of the call with code 0.
define internal void @wm1.call_self_first(i32 %limit, i32 %bits, i32 %code, i64 %site, i64 %restart) alwaysinline nounwind {
  %history = load i32, ptr getelementptr (i8, ptr @wm1_thread_state, i64 44)
  %full = icmp ugt i32 %history, %limit
  br i1 %full, label %push, label %append, !prof !0
append:
  call void asm sideeffect "shll $2, $0", "=*m,*m,i,~{memory},~{dirflag},~{fpsr},~{flags}"(
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44),
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44), i32 %bits)
  br label %done
push:
  call preserve_mostcc void @wm1.late_push_self(i64 %site)
  store i64 %restart, ptr @wm1_thread_state
  br label %done
done:
  ret void
}

; The same, of the first of several calls in a row.
define internal void @wm1.call_selves(i32 %limit, i32 %bits, i32 %code, i64 %site, i64 %restart) alwaysinline nounwind {
  %history = load i32, ptr getelementptr (i8, ptr @wm1_thread_state, i64 44)
  %full = icmp ugt i32 %history, %limit
  br i1 %full, label %push, label %append, !prof !0
append:
  call void asm sideeffect "shll $2, $0\0Aorl $3, $0", "=*m,*m,i,i,~{memory},~{dirflag},~{fpsr},~{flags}"(
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44),
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44), i32 %bits, i32 %code)
  br label %done
push:
  call preserve_mostcc void @wm1.late_push_selves(i64 %site)
  store i32 %code, ptr getelementptr (i8, ptr @wm1_thread_state, i64 44)
  store i64 %restart, ptr @wm1_thread_state
  br label %done
done:
  ret void
}

; Another call in a row: its code takes the place of the one before. Assembly, since the code generator would change one byte, which the processor
; can only read again as one.
define internal void @wm1.next_self(i32 %difference) alwaysinline nounwind {
  call void asm sideeffect "xorl $2, $0", "=*m,*m,i,~{memory},~{dirflag},~{fpsr},~{flags}"(
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44),
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44), i32 %difference)
  ret void
}

; After it, or after the last of those in a row. Nothing is left in a history that has begun again: the call was pushed.
define internal void @wm1.return_self(i32 %bits) alwaysinline nounwind {
  %zero = call i32 asm sideeffect "shrl $3, $1", "={@ccz},=*m,*m,i,~{memory},~{dirflag},~{fpsr},~{flags}"(
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44),
    ptr elementtype(i32) getelementptr (i8, ptr @wm1_thread_state, i64 44), i32 %bits)
  %pushed = icmp ne i32 %zero, 0
  br i1 %pushed, label %pop, label %done, !prof !0
pop:
  call preserve_mostcc void @wm1.late_put_back_self()
  br label %done
done:
  ret void
}

; The push before a jump. Its caller's frame ends at return_slot, and so does the callee's: entries with that sp
; belong to one chain of tail calls. The first eight are kept; after that the newest replaces the one before it
; and is marked, so that a loop of tail calls runs in bounded space and says that something is left out.
define internal preserve_mostcc void @wm1.push_tail(i32 %number, i64 %id, ptr %slot)
  noinline nounwind {
start:
  %here = ptrtoint ptr %slot to i64
  %top = load ptr, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)
  %empty = icmp eq ptr %top, null
  br i1 %empty, label %grow, label %look
look:
  %last = getelementptr i8, ptr %top, i64 -32
  %last.sp.at = getelementptr i8, ptr %last, i64 8
  %last.sp = load i64, ptr %last.sp.at
  %last.slot = and i64 %last.sp, -8
  %last.ordinal = and i64 %last.sp, 7
  %same = icmp eq i64 %last.slot, %here
  %after = add i64 %last.ordinal, 1
  %ordinal = select i1 %same, i64 %after, i64 0
  %many = icmp ugt i64 %ordinal, 7
  br i1 %many, label %replace, label %room
replace:
  %marked = or i32 %number, -2147483648
  br label %write
room:
  %bits = ptrtoint ptr %top to i64
  %low = and i64 %bits, 65535
  %full = icmp eq i64 %low, 0
  br i1 %full, label %grow, label %write, !prof !0
grow:
  %g.ordinal = phi i64 [ 0, %start ], [ %ordinal, %room ]
  %fresh = call preserve_mostcc ptr @wm1_grow()
  br label %write
write:
  %e = phi ptr [ %last, %replace ], [ %top, %room ], [ %fresh, %grow ]
  %e.ordinal = phi i64 [ 7, %replace ], [ %ordinal, %room ], [ %g.ordinal, %grow ]
  %e.number = phi i32 [ %marked, %replace ], [ %number, %room ], [ %number, %grow ]
  store volatile i64 %id, ptr %e
  %sp = or i64 %here, %e.ordinal
  %e.sp = getelementptr i8, ptr %e, i64 8
  store volatile i64 %sp, ptr %e.sp
  %wide = zext i32 %e.number to i64
  %e.site = getelementptr i8, ptr %e, i64 16
  store volatile i64 %wide, ptr %e.site
  %history = load i64, ptr getelementptr (i8, ptr @wm1_thread_state, i64 40)
  %e.run = getelementptr i8, ptr %e, i64 24
  store volatile i64 %history, ptr %e.run
  %next = getelementptr i8, ptr %e, i64 32
  store volatile ptr %next, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)
  ret void
}

; Before a real return: pushes of tail calls whose frame this was.
define internal void @wm1.clean(ptr %slot) alwaysinline nounwind {
  %top = load ptr, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)
  %empty = icmp eq ptr %top, null
  br i1 %empty, label %done, label %look, !prof !0
look:
  %last.sp.at = getelementptr i8, ptr %top, i64 -24
  %last.sp = load i64, ptr %last.sp.at
  %last.slot = and i64 %last.sp, -8
  %here = ptrtoint ptr %slot to i64
  %same = icmp eq i64 %last.slot, %here
  br i1 %same, label %drop, label %done, !prof !0
drop:
  call preserve_mostcc void @wm1_drop_tails(i64 %here)
  br label %done
done:
  ret void
}

!0 = !{!"branch_weights", i32 1, i32 100000}
!1 = !{!"branch_weights", i32 100000, i32 1}
