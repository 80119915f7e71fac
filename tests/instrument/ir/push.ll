; A call that may come back to instrumented code, and a call into a cycle: pushed, with the id the callee starts at where it does not
; set that itself, and both words put back. A call of foreign code is deferred.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare i32 @foreign(ptr)

; CHECK-LABEL: define i32 @calls_foreign(
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: DEFER 1
; CHECK-NEXT: [[RESULT:%.*]] = call i32 @foreign(ptr %p)
; CHECK-NEXT: END DEFERRED
; CHECK-NEXT: ret i32 [[RESULT]]
define i32 @calls_foreign(ptr %p) nounwind {
  %r = call i32 @foreign(ptr %p)
  ret i32 %r
}

; CHECK-LABEL: define void @calls_pointer(
; CHECK: PUSH 2
; CHECK-NEXT: call void %f()
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: ret void
define void @calls_pointer(ptr %f) nounwind {
  call void %f()
  ret void
}

; The recursion starts at the number that the encoding keeps for it, not at 0, which is the first call's.
; CHECK-LABEL: define internal void @recursive(
; CHECK: PUSH
; CHECK-NEXT: store i64 1, ptr ID
; CHECK-NEXT: call void @recursive(i32 %less)
; CHECK-NEXT: PUT BACK
define internal void @recursive(i32 %n) nounwind {
  %end = icmp eq i32 %n, 0
  br i1 %end, label %done, label %more
more:
  %less = sub i32 %n, 1
  call void @recursive(i32 %less)
  call void @wm_event(ptr null, i64 1)
  br label %done
done:
  ret void
}
; CHECK-LABEL: define void @enter(
define void @enter() nounwind {
  call void @recursive(i32 1)
  call void @recursive(i32 2)
  ret void
}
declare void @wm_event(ptr, i64)
; What a pointer of this type is likely to reach captures: so its calls are not put off.
@reached = global ptr @captures
define void @captures() nounwind {
  call void @wm_event(ptr null, i64 7)
  ret void
}
