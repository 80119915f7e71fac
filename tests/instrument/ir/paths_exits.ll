; Where paths end: before what does not return, before tail calls, else after all calls, before the return.
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-paths
declare void @abort() noreturn nounwind
declare void @work()
declare i32 @value()
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define void @leaves(
; CHECK: call void @work()
; CHECK: call void asm "incq $0"
; CHECK-NEXT: call void @abort()
; CHECK-NEXT: unreachable
define void @leaves() {
  call void @work()
  call void @abort()
  unreachable
}

; CHECK-LABEL: define void @stops(
; CHECK: call void @work()
; CHECK: call void asm "incq $0"
; CHECK-NEXT: unreachable
define void @stops() {
  call void @work()
  unreachable
}

; Behind a call that does not return nothing is counted, whatever the code says.
; CHECK-LABEL: define void @goes_on(
; CHECK: call void asm "incq $0"
; CHECK: call void asm "incq $0"
; CHECK-NEXT: call void @abort()
; CHECK-NEXT: br label %after
; CHECK: after:
; CHECK-NOT: incq
; CHECK: ret void
define void @goes_on() {
  call void @abort()
  br label %after
after:
  ret void
}

; CHECK-LABEL: define i32 @must(
; CHECK: call void asm "incq $0"
; CHECK: call void asm "incq $0"
; CHECK-NEXT: %v = musttail call i32 @must(i1 %c)
; CHECK-NEXT: ret i32 %v
define i32 @must(i1 %c) {
  %v = musttail call i32 @must(i1 %c)
  ret i32 %v
}

; A call that is marked and in tail position, with a return of its own; one that is not.
; CHECK-LABEL: define i32 @tails(
; CHECK: yes:
; CHECK: call void asm "incq $0"
; CHECK-NEXT: %v = tail call i32 @value()
; CHECK-NEXT: ret i32 %v
; CHECK: no:
; CHECK-NEXT: %w = call i32 @value()
; CHECK: call void asm "incq $0"
; CHECK-NEXT: ret i32
define i32 @tails(i1 %c) {
  br i1 %c, label %yes, label %no
yes:
  %v = tail call i32 @value()
  br label %out
no:
  %w = call i32 @value()
  br label %out
out:
  %r = phi i32 [ %v, %yes ], [ %w, %no ]
  ret i32 %r
}

; An exception that goes on ends the path; one that is caught does not.
; CHECK-LABEL: define void @throws(
; CHECK: invoke void @work()
; CHECK: pad:
; CHECK: landingpad
; CHECK: cleanup
; CHECK: on:
; CHECK: call void asm "incq $0"
; CHECK-NEXT: resume
; CHECK: caught:
; CHECK: call void asm "incq $0"
; CHECK-NEXT: ret void
define void @throws(i1 %c) personality ptr @__gxx_personality_v0 {
  invoke void @work() to label %caught unwind label %pad
pad:
  %e = landingpad { ptr, i32 } cleanup
  br i1 %c, label %on, label %caught
on:
  resume { ptr, i32 } %e
caught:
  ret void
}
