; Several sites that need code: what the next site of the block changes anyway is not put back before it. A root into which nothing is
; encoded knows its id and stores absolute ones; any other function adds to what it has, once between two calls.
target triple = "x86_64-pc-linux-gnu"
declare void @foreign()

define internal void @callee() nounwind {
  call void @foreign()
  ret void
}

; CHECK-LABEL: define void @three(
; CHECK-NEXT: [[LOCAL:%.*]] = alloca i64
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 1, ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 2, ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: store i64 0, ptr [[LOCAL]]
; CHECK-NEXT: ret void
define void @three() nounwind {
  %local = alloca i64
  call void @callee()
  call void @callee()
  call void @callee()
  store i64 0, ptr %local
  ret void
}

; CHECK-LABEL: define internal void @inner(
; CHECK-NEXT: [[ID:%.*]] = load i64, ptr ID
; CHECK-NEXT: [[ONE:%.*]] = add i64 [[ID]], 3{{$}}
; CHECK-NEXT: store i64 [[ONE]], ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: [[LEFT:%.*]] = load i64, ptr ID
; CHECK-NEXT: [[TWO:%.*]] = add i64 [[LEFT]], 1{{$}}
; CHECK-NEXT: store i64 [[TWO]], ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: [[LAST:%.*]] = load i64, ptr ID
; CHECK-NEXT: [[BACK:%.*]] = sub i64 [[LAST]], 4{{$}}
; CHECK-NEXT: store i64 [[BACK]], ptr ID
; CHECK-NEXT: ret void

define internal void @inner() nounwind {
  call void @callee()
  call void @callee()
  ret void
}
define void @enters(i1 %c) nounwind {
  call void @inner()
  ret void
}

; A call without code, a capture and another block need the id put back before them.
; CHECK-LABEL: define void @kept(
; CHECK: store i64 0, ptr ID
; CHECK-NEXT: store i64 5, ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: call void @other()
; CHECK-NEXT: store i64 6, ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 0, ptr ID
; CHECK: call void @wm1_event(
; CHECK-NEXT: store i64 7, ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: br label %next
; CHECK: next:
; CHECK-NEXT: store i64 8, ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: ret void
define void @kept() nounwind {
  call void @callee()
  call void @other()
  call void @callee()
  call void @wm_event(ptr null, i64 1)
  call void @callee()
  br label %next
next:
  call void @callee()
  ret void
}
define internal void @other() nounwind {
  call void @foreign()
  ret void
}
declare void @wm_event(ptr, i64)
