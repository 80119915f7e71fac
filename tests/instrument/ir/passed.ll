; What is called through a parameter, is one of the functions that calls pass: where these hardly come to a capture, the push is put off, although most functions of
; the type do. Parameters that are passed on, and calls through pointers of the function's type, count.
; ENV: WAYMARK_COLD=all WAYMARK_TARGETS=none
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)
declare void @sort(ptr)
@others = global [5 x ptr] [ptr @a1, ptr @a2, ptr @a3, ptr @walk_any, ptr @a4]

define internal void @a1(i64 %n) nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
define internal void @a2(i64 %n) nounwind {
  call void @wm_event(ptr null, i64 2)
  ret void
}
define internal void @a3(i64 %n) nounwind {
  call void @wm_event(ptr null, i64 3)
  ret void
}
define internal void @a4(ptr %visit, i32 %n) nounwind {
  ret void
}
define internal void @counts(i64 %n) nounwind {
  ret void
}

; CHECK-LABEL: define internal void @walk(
; CHECK-NEXT: DEFER
; CHECK-NEXT: call void %visit(i64 1)
; CHECK-NEXT: END DEFERRED
define internal void @walk(ptr %visit) nounwind noinline {
  call void %visit(i64 1)
  ret void
}
; CHECK-LABEL: define internal void @passes_on(
define internal void @passes_on(ptr %visit) nounwind noinline {
  call void @walk(ptr %visit)
  ret void
}

; CHECK-LABEL: define internal void @walk_any(
; CHECK: DEFER
; CHECK-NEXT: call void %visit(i64 2)
; CHECK-NEXT: END DEFERRED
define internal void @walk_any(ptr %visit, i32 %n) nounwind noinline {
  call void %visit(i64 2)
  ret void
}

; These come to one.
; CHECK-LABEL: define internal void @walk_others(
; CHECK: PUSH
; CHECK-NEXT: call void %visit(i64 3)
; CHECK-NEXT: PUT BACK
define internal void @walk_others(ptr %visit) nounwind noinline {
  call void %visit(i64 3)
  ret void
}

; Of this one nothing is known: its type decides.
; CHECK-LABEL: define void @walk_unknown(
; CHECK: PUSH
; CHECK-NEXT: call void %visit(i64 4)
; CHECK-NEXT: PUT BACK
define void @walk_unknown(ptr %visit) nounwind noinline {
  call void %visit(i64 4)
  ret void
}

define void @starts(ptr %f) nounwind {
  call void @passes_on(ptr @counts)
  call void %f(ptr @counts, i32 1)
  call void @walk_others(ptr @a1)
  call void @walk_others(ptr @a2)
  call void @walk_others(ptr @counts)
  ret void
}
