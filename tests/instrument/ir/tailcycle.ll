; Tail calls that push, as they close a cycle: they stay jumps only where jumps alone lead back to them, which must not eat the stack.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)

define internal void @end() nounwind noinline {
  call void @wm_event(ptr null, i64 1)
  ret void
}

; This one closes a cycle in which the other call is no jump, so a frame is kept.
; CHECK-LABEL: define internal void @closes(
; CHECK: rare:
; CHECK-NEXT: PUSH
; CHECK: tail call void @opens(
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: ret void
define internal void @closes(i1 %c) nounwind noinline {
  call void @end()
  br i1 %c, label %rare, label %done, !prof !0
rare:
  tail call void @opens(i1 %c)
  ret void
done:
  ret void
}
define internal void @opens(i1 %c) nounwind noinline {
  call void @closes(i1 %c)
  call void @end()
  ret void
}

; Here it is one.
; CHECK-LABEL: define internal void @circles(
; CHECK: rare:
; CHECK: call preserve_mostcc void @wm1.push_tail(
; CHECK: tail call void @round(
; CHECK-NEXT: ret void
define internal void @circles(i1 %c) nounwind noinline {
  call void @end()
  br i1 %c, label %rare, label %done, !prof !0
rare:
  tail call void @round(i1 %c)
  ret void
done:
  ret void
}
define internal void @round(i1 %c) nounwind noinline {
  call void @end()
  tail call void @circles(i1 %c)
  ret void
}
define void @cycles(i1 %c) nounwind {
  call void @opens(i1 %c)
  call void @round(i1 %c)
  call void @end()
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 1000}
