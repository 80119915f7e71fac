; Bodies of other schemes than the first stand behind all code, by scheme: pages in memory are of what runs. A frame's own coverage
; is a byte for each call, set and never read.
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-trace
; ENV: WAYMARK_TRACE=final WAYMARK_TRACE_RULES=*=none|stmt|cc
declare void @work()

; CHECK-LABEL: define dso_local void @f()
; CHECK-NEXT: call void @work()
; CHECK-NEXT: call void @work()
; CHECK-NEXT: ret void
define dso_local void @f() {
  call void @work()
  call void @work()
  ret void
}

; CHECK-LABEL: define dso_local void @g()
define dso_local void @g() {
  call void @work()
  ret void
}

; CHECK: define internal void @f.wm()
; CHECK: define internal void @g.wm()
; CHECK-LABEL: define internal void @f.wm.cc()
; CHECK: [[FRAME:%.*]] = alloca
; CHECK: call void @llvm.memset.p0.i32(ptr align 1 [[FRAME]], i8 0, i32 2, i1 true)
; CHECK: call void asm sideeffect "movb $$1, $0\0Amovb $$1, $1"{{.*}}(ptr {{.*}}, ptr {{.*}}[[FRAME]])
; CHECK-NEXT: call void @work()
; CHECK: [[SECOND:%.*]] = getelementptr i8, ptr [[FRAME]], i32 1
; CHECK: call void asm sideeffect "movb $$1, $0\0Amovb $$1, $1"{{.*}}(ptr {{.*}}, ptr {{.*}}[[SECOND]])
; CHECK-NEXT: call void @work()
; CHECK-LABEL: define internal void @g.wm.cc()
; CHECK-LABEL: define internal void @f.wm.stmt()
; CHECK-LABEL: define internal void @g.wm.stmt()
; What tune reads is not writable, so it is in memory only when it is read.
; ASM: .section wm1_tunables,"aR"
