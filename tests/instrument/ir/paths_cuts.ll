; Cuts beside back edges: calls that return twice, jumps that no code can be put on.
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-paths
declare i32 @setjmp(ptr) returns_twice
declare i32 @other(ptr)
declare void @work()
declare i32 @__gxx_personality_v0(...)

; The path ends before setjmp; each return begins an activation. The frame has the number of the path that may be left, and -1 where
; none is under way; the path that was left is counted when setjmp returns again.
; CHECK-LABEL: define i32 @twice(
; CHECK: %wm1.left = alloca i64
; CHECK: store volatile i64 1, ptr %wm1.left
; CHECK-NEXT: call void asm "incq $0"
; CHECK-NEXT: store volatile i64 -1, ptr %wm1.left
; CHECK: call void asm "incq $0"
; CHECK-NEXT: %v = call i32 @setjmp(ptr %p)
; CHECK-NEXT: br label %[[AFTER:.*]]
; CHECK: [[AFTER]]:
; CHECK-NEXT: [[LEFT:%.*]] = load volatile i64, ptr %wm1.left
; CHECK-NEXT: [[AGAIN:%.*]] = icmp ne i64 [[LEFT]], -1
; CHECK-NEXT: br i1 [[AGAIN]], label %[[COUNT:.*]], label %[[ON:.*]], !prof
; CHECK: [[COUNT]]:
; CHECK-NEXT: store volatile i64 -1, ptr %wm1.left
; CHECK: getelementptr i64, ptr {{.*}}, i64 [[LEFT]]
; CHECK: call void asm "incq $0"
; CHECK-NEXT: br label %[[ON]]
; CHECK: [[ON]]:
; CHECK-NEXT: [[TABLE:%.*]] = load ptr, ptr @wm1.slot
; CHECK-NEXT: call void asm "incq $0", {{.*}}(ptr elementtype(i64) [[TABLE]]
; CHECK-NEXT: store volatile i64 3, ptr %wm1.left
; CHECK-NEXT: store volatile i64 -1, ptr %wm1.left
; CHECK: call void asm "incq $0"
; CHECK-NEXT: ret i32 %v
define i32 @twice(ptr %p) {
  %v = call i32 @setjmp(ptr %p)
  ret i32 %v
}

; CHECK-LABEL: define void @computed(
; CHECK: call void asm "incq $0"
; CHECK: call void asm "incq $0"
; CHECK-NEXT: indirectbr ptr %p, [label %a, label %b]
; CHECK: a:
; CHECK: call void asm "incq $0"
; CHECK-NEXT: indirectbr ptr %p, [label %a, label %b]
define void @computed(ptr %p) {
  indirectbr ptr %p, [label %a, label %b]
a:
  indirectbr ptr %p, [label %a, label %b]
b:
  ret void
}

; CHECK-LABEL: define void @assembly(
; CHECK: call void asm "incq $0"
; CHECK: call void asm "incq $0"
; CHECK-NEXT: callbr void asm sideeffect "jmp ${0:l}", "!i"()
define void @assembly() {
  callbr void asm sideeffect "jmp ${0:l}", "!i"() to label %on [label %off]
on:
  ret void
off:
  ret void
}

; Unwinding back into the landing pad of the same call: the path ends before the call.
; CHECK-LABEL: define void @retries(
; CHECK: pad:
; CHECK: landingpad
; CHECK-NEXT: catch ptr null
; CHECK: call void asm "incq $0"
; CHECK-NEXT: invoke void @work()
; CHECK-NEXT: to label %done unwind label %pad
; CHECK: done:
define void @retries() personality ptr @__gxx_personality_v0 {
  invoke void @work() to label %done unwind label %pad
pad:
  %e = landingpad { ptr, i32 } catch ptr null
  invoke void @work() to label %done unwind label %pad
done:
  ret void
}
