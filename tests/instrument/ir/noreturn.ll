; Nothing follows a call that does not return.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare void @abort() noreturn nounwind

; CHECK-LABEL: define void @root(
; CHECK: DEFER 1
; CHECK-NEXT: call void @abort()
; CHECK-NEXT: unreachable
define void @root() nounwind {
  call void @abort()
  unreachable
}

; CHECK-LABEL: define internal void @fails(
; CHECK: call void @abort()
; CHECK-NEXT: unreachable
define internal void @fails() nounwind noreturn {
  call void @abort()
  unreachable
}
; CHECK-LABEL: define void @calls(
; CHECK: yes:
; CHECK-NEXT: set ID 1
; CHECK-NEXT: call void @fails()
; CHECK-NEXT: unreachable
; CHECK: no:
; CHECK-NEXT: call void @fails()
; CHECK-NEXT: unreachable
define void @calls(i1 %c) nounwind {
  br i1 %c, label %yes, label %no, !prof !0
yes:
  call void @fails()
  unreachable
no:
  call void @fails()
  unreachable
}
!0 = !{!"branch_weights", i32 1, i32 1000}
