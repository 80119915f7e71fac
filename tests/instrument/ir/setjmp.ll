; After a call that may return twice both words of the entry are put back; the call itself is not pushed.
target triple = "x86_64-pc-linux-gnu"
declare void @foreign()
declare i32 @_setjmp(ptr) returns_twice
declare i32 @other_setjmp(ptr)
declare i32 @llvm.eh.sjlj.setjmp(ptr)
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define void @declared(
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK-NEXT: [[HISTORY:%.*]] = load i32, ptr HISTORY
; CHECK-NEXT: call i32 @_setjmp(ptr %env)
; CHECK-NEXT: FORGET DEFERRED
; CHECK-NEXT: store i32 [[HISTORY]], ptr HISTORY
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: store volatile ptr [[TOP]], ptr TOP
define void @declared(ptr %env) nounwind {
  %r = call i32 @_setjmp(ptr %env)
  call void @foreign()
  ret void
}

; CHECK-LABEL: define void @at_the_call(
; CHECK: store i64 0, ptr ID
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK-NEXT: [[HISTORY:%.*]] = load i32, ptr HISTORY
; CHECK-NEXT: call i32 @other_setjmp(ptr %env)
; CHECK-NEXT: FORGET DEFERRED
; CHECK-NEXT: store i32 [[HISTORY]], ptr HISTORY
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: store volatile ptr [[TOP]], ptr TOP
define void @at_the_call(ptr %env) nounwind {
  %r = call i32 @other_setjmp(ptr %env) returns_twice
  call void @foreign()
  ret void
}

; CHECK-LABEL: define void @builtin(
; CHECK: store i64 0, ptr ID
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK-NEXT: [[HISTORY:%.*]] = load i32, ptr HISTORY
; CHECK: call i32 @llvm.eh.sjlj.setjmp(ptr %env)
; CHECK-NEXT: FORGET DEFERRED
; CHECK-NEXT: store i32 [[HISTORY]], ptr HISTORY
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: store volatile ptr [[TOP]], ptr TOP
define void @builtin(ptr %env) nounwind {
  %r = call i32 @llvm.eh.sjlj.setjmp(ptr %env)
  call void @foreign()
  ret void
}

; CHECK-LABEL: define internal void @invoked(
; CHECK: [[ID:%.*]] = load i64, ptr ID
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK-NEXT: [[HISTORY:%.*]] = load i32, ptr HISTORY
; CHECK-NEXT: invoke i32 @_setjmp(ptr %env)
; CHECK: next:
; CHECK-NEXT: FORGET DEFERRED
; CHECK-NEXT: store i32 [[HISTORY]], ptr HISTORY
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK-NEXT: store volatile ptr [[TOP]], ptr TOP
define internal void @invoked(ptr %env) personality ptr @__gxx_personality_v0 {
  %r = invoke i32 @_setjmp(ptr %env) to label %next unwind label %pad
next:
  call void @foreign()
  ret void
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}
define void @root(ptr %env) nounwind {
  call void @invoked(ptr %env)
  ret void
}

; Nothing below it looks at a context, so nothing is put back.
; CHECK-LABEL: define void @quiet(
; CHECK-NEXT: call i32 @_setjmp(ptr %env)
; CHECK-NEXT: ret void
define void @quiet(ptr %env) nounwind {
  %r = call i32 @_setjmp(ptr %env)
  ret void
}
