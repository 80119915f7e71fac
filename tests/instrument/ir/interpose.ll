; KIND: shared
; A library's own function that another image may replace: in a loop its address is compared, and a call of the own one is an edge;
; elsewhere it is pushed.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)

define i32 @replaceable(i32 %n) nounwind {
  call void @wm_event(ptr null, i64 1)
  ret i32 %n
}

; CHECK: @wm1.own = private alias i32 (i32), ptr @replaceable
; CHECK: @wm1.inner = private alias i32 (i32), getelementptr (i8, ptr @replaceable, i64 16)
; CHECK-LABEL: define i32 @user(
; CHECK: PUSH
; CHECK-NEXT: call i32 @replaceable(i32 1)
; CHECK-NEXT: PUT BACK
; CHECK: loop:
; CHECK: [[OWN:%.*]] = icmp eq ptr @replaceable, @wm1.own
; CHECK-NEXT: br i1 [[OWN]], label %[[THEN:.*]], label %[[ELSE:.*]], !prof
; CHECK: [[THEN]]:
; CHECK-NEXT: [[A:%.*]] = call i32 @wm1.inner(i32 %i)
; CHECK-NEXT: br label %[[JOIN:.*]]
; CHECK: [[ELSE]]:
; CHECK-NEXT: PUSH
; CHECK-NEXT: [[B:%.*]] = call i32 @replaceable(i32 %i)
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: br label %[[JOIN]]
; CHECK: [[JOIN]]:
; CHECK-NEXT: [[R:%.*]] = phi i32 [ [[A]], %[[THEN]] ], [ [[B]], %[[ELSE]] ]
; CHECK-NEXT: %next = add i32 [[R]], 1
define i32 @user(i32 %n) nounwind {
entry:
  %first = call i32 @replaceable(i32 1)
  br label %loop
loop:
  %i = phi i32 [ %first, %entry ], [ %next, %loop ]
  %r = call i32 @replaceable(i32 %i)
  %next = add i32 %r, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %next
}
; ASM: replaceable@GOTPCREL(%rip)
; ASM: callq .Lwm1.inner
