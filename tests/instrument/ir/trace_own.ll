; PASSES: waymark-trace
; ENV: WAYMARK_TRACE=final WAYMARK_TRACE_RULES=*=cc
; Each call has its byte in the program and its point; the frame has one only for those of which nothing else tells.

declare void @f()
declare void @stop() noreturn

define void @line() {
  call void @f()
  call void @f()
  ret void
}
; CHECK-LABEL: define void @line(
; CHECK-NOT: alloca
; CHECK: call void asm sideeffect "movb $$1, $0\0A771:{{.*}}.quad 771b-1\0A.quad 0xc4000000\0A.popsection
; CHECK-NEXT: call void @f()
; CHECK: .quad 0xc4000001
; CHECK-NEXT: call void @f()

define void @maybe(i1 %c) {
  br i1 %c, label %a, label %b
a:
  call void @f()
  br label %b
b:
  call void @f()
  ret void
}
; CHECK-LABEL: define void @maybe(
; CHECK: %wm1.frame = alloca <{ i8 }>
; CHECK: a:
; CHECK-NEXT: call void asm sideeffect "movb $$1, $0\0Amovb $$1, $1\0A771:
; CHECK: b:
; CHECK-NEXT: call void asm sideeffect "movb $$1, $0\0A771:

define void @failing(i1 %c) {
  br i1 %c, label %a, label %b
a:
  call void @stop()
  unreachable
b:
  ret void
}
; CHECK-LABEL: define void @failing(
; CHECK-NOT: alloca
; CHECK: ret void
