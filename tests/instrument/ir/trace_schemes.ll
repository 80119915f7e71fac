; PASSES: waymark-trace
; ENV: WAYMARK_TRACE=final WAYMARK_TRACE_RULES=plain=none;labels=none|cc+pt;entry=fc;*=none|cc|stmt
; What each scheme adds, and how one of several is chosen: in front of the function's own code.

; CHECK-DAG: @wm1.chosen = internal global i8 0, section "wm1_chosen"
; CHECK-DAG: @wm1.tunable = internal constant {{.*}} section "wm1_tunables", align 4

declare void @out(i32)

define void @plain(i32 %x) {
  call void @out(i32 %x)
  ret void
}
; CHECK-LABEL: define void @plain(i32 %x)
; CHECK-NEXT: call void @out(i32 %x)
; CHECK-NEXT: ret void

define void @entry(i32 %x) {
  call void @out(i32 %x)
  ret void
}
; CHECK-LABEL: define void @entry(i32 %x)
; CHECK-NEXT: call void asm sideeffect "movb $$1, $0", "*m"(
; CHECK-NEXT: call void @out(i32 %x)
; CHECK-NEXT: ret void

; Not copied: its first scheme only.
@label = internal global ptr blockaddress(@labels, %a)
define void @labels(ptr %to) {
  indirectbr ptr %to, [label %a]
a:
  ret void
}
; CHECK-LABEL: define void @labels(ptr %to)
; CHECK-NEXT: indirectbr ptr %to

; cmpb $0, chosen(%rip); jne chosen.wm
define void @chosen(i32 %x) {
  call void @out(i32 %x)
  call void @out(i32 2)
  ret void
}
; CHECK-LABEL: define void @chosen(i32 %x) prologue <{ {{.*}} }>
; CHECK-NEXT: call void @out(i32 %x)
; CHECK: ret void
; CHECK: define internal void @chosen.wm() {{#[0-9]+}}
; CHECK: asm sideeffect "cmpb $$2, ${0:c}(%rip)\0Aje ${2:c}\0Ajmp ${1:c}", "i,i,i"(ptr @wm1.chosen, ptr @chosen.wm.cc, ptr @chosen.wm.stmt)
; CHECK: define internal void @chosen.wm.cc(i32 %x)
; CHECK: call void asm sideeffect "movb $$1, $0
; CHECK: call void @out(i32 %x)
; CHECK: call void asm sideeffect "movb $$1, $0
; CHECK: call void @out(i32 2)
; CHECK: define internal void @chosen.wm.stmt(i32 %x)

; ASM: chosen:
; ASM: .ascii "\200="
; ASM-NEXT: .long {{.*}}wm1.chosen
; ASM-NEXT: .ascii "\000\017\205"
; ASM-NEXT: .long {{.*}}chosen.wm
