; No code: calls of libc's leaf functions, of intrinsics, of inline assembly that cannot call, and of functions below which nothing
; looks at a context.
target triple = "x86_64-pc-linux-gnu"
declare i64 @strlen(ptr)
declare double @sin(double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; CHECK-LABEL: define internal i64 @quiet(
; CHECK-NEXT: call i64 @strlen(ptr %p)
; CHECK-NEXT: ret i64
define internal i64 @quiet(ptr %p) {
  %n = call i64 @strlen(ptr %p)
  ret i64 %n
}

; CHECK-LABEL: define void @root(
; CHECK-NEXT: call i64 @quiet(ptr %p)
; CHECK-NEXT: call i64 @quiet(ptr %p)
; CHECK-NEXT: call double @sin(double 1.0
; CHECK-NEXT: call void @llvm.memcpy.p0.p0.i64(
; CHECK-NEXT: call void asm sideeffect "nop", ""()
; CHECK-NEXT: ret void
define void @root(ptr %p) nounwind {
  %a = call i64 @quiet(ptr %p)
  %b = call i64 @quiet(ptr %p)
  %c = call double @sin(double 1.0)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %p, i64 8, i1 false)
  call void asm sideeffect "nop", ""()
  ret void
}

; A program's own strlen is no leaf: it is what it is.
; CHECK-LABEL: define dso_local i64 @strnlen(
; CHECK: call void @wm1_event(
define dso_local i64 @strnlen(ptr %p, i64 %n) nounwind {
  call void @wm_event(ptr null, i64 1)
  ret i64 0
}
; CHECK-LABEL: define i64 @calls_own(
; CHECK: call i64 @wm1.inner(
; CHECK-NEXT: store i64 2, ptr ID
; CHECK-NEXT: call i64 @wm1.inner(
; CHECK: ret i64
define i64 @calls_own(ptr %p) nounwind {
  %a = call i64 @strnlen(ptr %p, i64 1)
  %b = call i64 @strnlen(ptr %p, i64 2)
  ret i64 %b
}
declare void @wm_event(ptr, i64)
