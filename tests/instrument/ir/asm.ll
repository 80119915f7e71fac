; Inline assembly that calls or jumps may reach anything: pushed. asm goto cannot be put around with code: left alone.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @calls(
; CHECK: PUSH 1
; CHECK-NEXT: call void asm sideeffect "call somewhere", "~{memory}"()
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: ret void
define void @calls() nounwind {
  call void asm sideeffect "call somewhere", "~{memory}"()
  ret void
}

; CHECK-LABEL: define void @goes(
; CHECK-NEXT: callbr void asm sideeffect "jmp ${0:l}", "!i"()
define void @goes() nounwind {
  callbr void asm sideeffect "jmp ${0:l}", "!i"() to label %a [label %b]
a:
  ret void
b:
  ret void
}

; In a root that may unwind, too.
; CHECK-LABEL: define void @unwinds(
; CHECK: asm sideeffect "call somewhere"
define void @unwinds() {
  call void asm sideeffect "call somewhere", ""()
  call void asm sideeffect "nop", ""()
  ret void
}
