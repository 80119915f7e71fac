; Cold sites keep nothing. In a row of edges the id changes once between two; what is done in many places has a helper of its own; where
; the id is constant it is set.
; ENV: WAYMARK_COLD=all
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)
declare void @foreign()

define internal void @a() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
define internal void @b() nounwind {
  call void @wm_event(ptr null, i64 2)
  ret void
}

; CHECK-LABEL: define void @outer(
; CHECK: store i64 0, ptr ID
; CHECK-NEXT: call void @a()
; CHECK-NEXT: call void @b()
; CHECK-NEXT: set ID 1
; CHECK-NEXT: call void @a()
; CHECK-NEXT: set ID 1
; CHECK-NEXT: call void @b()
; CHECK-NEXT: set ID 2
; CHECK-NEXT: call void @b()
; CHECK-NEXT: set ID 0
; CHECK-NEXT: DEFER
; CHECK-NEXT: call void @foreign()
; CHECK-NEXT: END DEFERRED
; CHECK-NEXT: ret void
define void @outer() nounwind {
  call void @a()
  call void @b()
  call void @a()
  call void @b()
  call void @b()
  call void @foreign()
  ret void
}

; CHECK-LABEL: define internal void @inner(
; CHECK-NEXT: add ID [[FIRST:[0-9]+]]
; CHECK-NEXT: call void @a()
; CHECK-NEXT: add ID 1
; CHECK-NEXT: call void @a()
; CHECK-NEXT: subtract ID
; CHECK-NEXT: call void @c()
; CHECK-NEXT: ret void
define internal void @inner() nounwind {
  call void @a()
  call void @a()
  call void @c()
  ret void
}
define internal void @c() nounwind {
  call void @wm_event(ptr null, i64 3)
  ret void
}
define void @enters(ptr %f) nounwind {
  call void @inner()
  ret void
}

; CHECK-LABEL: define void @many(
; CHECK: {{^ *}}set ID {{[1-9]}}
; CHECK: shared set ID 0
define void @many(i1 %c) nounwind {
  br i1 %c, label %one, label %two
one:
  call void @c()
  call void @foreign()
  call void @c()
  br label %two
two:
  ret void
}
; CHECK-LABEL: define void @again(
define void @again() nounwind {
  call void @c()
  ret void
}
