; An alias that is final stands for its aliasee, through casts and other aliases; one that may be preempted is only a name.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)
@name = internal alias void (), ptr @target
@second = internal alias void (), ptr @name
@exported = weak alias void (), ptr @target

define internal void @target() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
; The target's address is in the aliases, so it is a root; calls that are encoded enter behind what sets its id.
; CHECK: @wm1.inner = private alias void (), getelementptr (i8, ptr @target, i64 32)
; CHECK-LABEL: define void @root(
; CHECK: store i64 0, ptr ID
; CHECK-NEXT: call void @wm1.inner()
; CHECK-NEXT: store i64 2, ptr ID
; CHECK-NEXT: call void @wm1.inner()
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: DEFER 4
; CHECK-NEXT: call void @exported()
; CHECK-NEXT: END DEFERRED
define void @root() nounwind {
  call void @name()
  call void @second()
  call void @exported()
  ret void
}
