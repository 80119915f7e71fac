; A root into which calls are encoded sets its id ahead of its code, where pointers and other images enter; the hottest of the calls
; has no code, and enters behind. Where no code can stand ahead, all calls push.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)
declare void @foreign()
@pointers = global [3 x ptr] [ptr @split, ptr @patched, ptr @vararg]

; CHECK-DAG: module asm ".set wm1.place, wm1_thread_state@tpoff"
; CHECK-DAG: @wm1.inner = private alias void (i32), getelementptr (i8, ptr @split, i64 32)

; CHECK-LABEL: define dso_local void @split(i32 %n) {{.*}}prologue
; CHECK-NEXT: call void @wm1_event(i32 1, ptr null, i64 1)
define dso_local void @split(i32 %n) nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
; CHECK-LABEL: define dso_local void @patched(
; CHECK-NEXT: store i64 0, ptr ID
define dso_local void @patched() nounwind "patchable-function-entry"="2" {
  call void @wm_event(ptr null, i64 2)
  ret void
}
; CHECK-LABEL: define dso_local i32 @vararg(i32 %n, ...) {{.*}}prologue
define dso_local i32 @vararg(i32 %n, ...) nounwind {
  call void @wm_event(ptr null, i64 3)
  ret i32 0
}
; CHECK-LABEL: define void @often(
; CHECK: call void @wm1.inner(i32 1)
; CHECK-NEXT: PUSH
; CHECK-NEXT: call void @patched()
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: call i32 (i32, ...) @wm1.inner.1(i32 1, double 2.0
define void @often() nounwind {
  call void @split(i32 1)
  call void @patched()
  %r = call i32 (i32, ...) @vararg(i32 1, double 2.0)
  ret void
}
; CHECK-LABEL: define void @seldom(
; CHECK: set ID 2
; CHECK-NEXT: call void @wm1.inner(i32 2)
; CHECK-NEXT: set ID 0
define void @seldom(i1 %c) nounwind {
  br i1 %c, label %rare, label %end, !prof !0
rare:
  call void @split(i32 2)
  br label %end
end:
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 1000}

; ASM-LABEL: split:
; ASM: .ascii "dH\203<%"
; ASM-NEXT: .long wm1.place+24
; ASM: .ascii "t\005\350"
; ASM-NEXT: .long {{.*}}wm1.enter_slow-split{{.*}}-17
; ASM-NEXT: .ascii "dH\307\004%"
; ASM-NEXT: .long wm1.place
; ASM-NEXT: .long 1
; ASM-NEXT: .ascii "f\220"
; ASM-LABEL: patched:
; ASM: cmpq $0, %fs:{{.*}}wm1_thread_state{{.*}}+24
; ASM: callq wm1.enter_slow
; ASM-LABEL: often:
; ASM: callq .Lwm1.inner
; ASM: .set .Lwm1.inner, split+32
