; Several sites that need code: the id and the top of the entry are loaded once, every site stores an absolute id, and what
; the next site of the block stores anyway is not put back before it.
target triple = "x86_64-pc-linux-gnu"
declare void @foreign()

define internal void @callee() nounwind {
  call void @foreign()
  ret void
}

; CHECK-LABEL: define void @three(
; CHECK-NEXT: [[LOCAL:%.*]] = alloca i64
; CHECK-NEXT: [[ID:%.*]] = load i64, ptr ID
; CHECK-NEXT: load ptr, ptr TOP
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: [[ONE:%.*]] = add i64 [[ID]], 1{{$}}
; CHECK-NEXT: store i64 [[ONE]], ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: [[TWO:%.*]] = add i64 [[ID]], 2{{$}}
; CHECK-NEXT: store i64 [[TWO]], ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 [[ID]], ptr ID
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

; A call without code, a capture and another block need the id put back before them.
; CHECK-LABEL: define void @kept(
; CHECK: [[ID:%.*]] = load i64, ptr ID
; CHECK: [[SUM:%.*]] = add i64 [[ID]], 3
; CHECK-NEXT: store i64 [[SUM]], ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK-NEXT: call void @other()
; CHECK-NEXT: [[SUM:%.*]] = add i64 [[ID]], 4
; CHECK-NEXT: store i64 [[SUM]], ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK: call void @wm1_event(
; CHECK-NEXT: [[SUM:%.*]] = add i64 [[ID]], 5
; CHECK-NEXT: store i64 [[SUM]], ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK-NEXT: br label %next
; CHECK: next:
; CHECK-NEXT: [[SUM:%.*]] = add i64 [[ID]], 6
; CHECK-NEXT: store i64 [[SUM]], ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: store i64 [[ID]], ptr ID
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
