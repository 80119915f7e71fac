; What pushes need of their function's state is loaded where that runs least often: in each arm that has one, in front of a loop, once for several;
; but never in a loop for what is behind it, where the entry of the loop's push may be on the stack.
; ENV: WAYMARK_TARGETS=none
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)
@taken = global ptr @target

define internal void @target(i64 %n) nounwind noinline {
  call void @wm_event(ptr null, i64 1)
  ret void
}
define void @enters(ptr %f, i1 %c, i64 %n) nounwind {
  call void @in_arms(ptr %f, i64 %n)
  call void @in_loop(ptr %f, i1 %c)
  call void @behind(ptr %f, i1 %c)
  call void @behind_seldom(ptr %f, i1 %c, i1 %c)
  call void @behind_seldom(ptr %f, i1 %c, i1 %c)
  call void @in_arms(ptr %f, i64 %n)
  call void @in_loop(ptr %f, i1 %c)
  call void @behind(ptr %f, i1 %c)
  ret void
}

; CHECK-LABEL: define internal void @in_arms(
; CHECK-NOT: load
; CHECK: first:
; CHECK-NEXT: [[FIRST:%.*]] = load i64, ptr ID
; CHECK: store volatile i64 [[FIRST]], ptr
; CHECK: call void %f(i64 1)
; CHECK-NEXT: store i64 [[FIRST]], ptr ID
; CHECK: second:
; CHECK-NEXT: [[SECOND:%.*]] = load i64, ptr ID
; CHECK: store volatile i64 [[SECOND]], ptr
; CHECK: call void %f(i64 2)
; CHECK-NOT: ptr ID
; CHECK: store volatile i64 [[SECOND]], ptr
; CHECK: call void %f(i64 3)
; CHECK-NEXT: store i64 [[SECOND]], ptr ID
; CHECK: end:
; CHECK-NEXT: ret void
define internal void @in_arms(ptr %f, i64 %n) nounwind noinline {
  switch i64 %n, label %end [
    i64 0, label %first
    i64 1, label %second
  ], !prof !0
first:
  call void %f(i64 1)
  br label %end
second:
  call void %f(i64 2)
  call void %f(i64 3)
  br label %end
end:
  ret void
}

; CHECK-LABEL: define internal void @in_loop(
; CHECK-NEXT: [[ID:%.*]] = load i64, ptr ID
; CHECK-NEXT: br label %loop
; CHECK: loop:
; CHECK-NOT: load i64, ptr ID
; CHECK: call void %f(i64 4)
; CHECK: call void %f(i64 5)
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK: end:
; CHECK-NOT: load i64, ptr ID
; CHECK: call void %f(i64 6)
; CHECK-NEXT: store i64 [[ID]], ptr ID
define internal void @in_loop(ptr %f, i1 %c) nounwind noinline {
  br label %loop
loop:
  call void %f(i64 4)
  call void %f(i64 5)
  br i1 %c, label %loop, label %end, !prof !1
end:
  call void %f(i64 6)
  ret void
}

; CHECK-LABEL: define internal void @behind(
; CHECK-NEXT: [[ID:%.*]] = load i64, ptr ID
; CHECK: loop:
; CHECK-NEXT: call void %f(i64 7)
; CHECK-NOT: load
; CHECK: end:
; CHECK-NEXT: store i64 {{%.*}}, ptr ID
; CHECK: store volatile i64 [[ID]], ptr
; CHECK: call void %f(i64 8)
; CHECK-NEXT: store i64 [[ID]], ptr ID
define internal void @behind(ptr %f, i1 %c) nounwind noinline {
  br label %loop
loop:
  call void %f(i64 7)
  br i1 %c, label %loop, label %end, !prof !1
end:
  call void %f(i64 8)
  ret void
}

; CHECK-LABEL: define internal void @behind_seldom(
; CHECK: loop:
; CHECK-NOT: load i64, ptr ID
; CHECK: call void %f(i64 9)
; CHECK: end:
; CHECK: [[ID:%.*]] = load i64, ptr ID
; CHECK: store volatile i64 [[ID]], ptr
; CHECK: call void %f(i64 10)
; CHECK-NEXT: store i64 [[ID]], ptr ID
define internal void @behind_seldom(ptr %f, i1 %c, i1 %d) nounwind noinline {
  br i1 %c, label %loop, label %none, !prof !2
loop:
  call void %f(i64 9)
  br i1 %d, label %loop, label %end, !prof !1
end:
  call void %f(i64 10)
  ret void
none:
  ret void
}
!0 = !{!"branch_weights", i32 10, i32 1, i32 1}
!1 = !{!"branch_weights", i32 1, i32 1}
!2 = !{!"branch_weights", i32 1, i32 8}
