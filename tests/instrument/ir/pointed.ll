; A call through a pointer is put off when most functions of its type, whose address is taken, do not look at the context; else it pushes.
; ENV: WAYMARK_COLD=pushes WAYMARK_TARGETS=none
target triple = "x86_64-pc-linux-gnu"
@quiet = global [2 x ptr] [ptr @none, ptr @outside]
@loud = global [2 x ptr] [ptr @looks, ptr @computes]
declare void @wm_event(ptr, i64)
declare i32 @outside(i32)
define internal i32 @none(i32 %n) nounwind {
  ret i32 %n
}
define internal i64 @looks(i64 %n) nounwind {
  call void @wm_event(ptr null, i64 1)
  ret i64 %n
}
define internal i64 @computes(i64 %n) nounwind {
  ret i64 %n
}

; CHECK-LABEL: define void @root(
; CHECK: DEFER
; CHECK-NEXT: call i32 %f(i32 1)
; CHECK-NEXT: END DEFERRED
; CHECK-NEXT: PUSH
; CHECK-NEXT: call i64 %g(i64 1)
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: DEFER
; CHECK-NEXT: call i8 %h()
; CHECK-NEXT: END DEFERRED
define void @root(ptr %f, ptr %g, ptr %h) nounwind {
  %a = call i32 %f(i32 1)
  %b = call i64 %g(i64 1)
  %c = call i8 %h()
  ret void
}
