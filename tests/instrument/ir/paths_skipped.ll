; Functions that get no code: it would not work there, or nobody wants it.
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-paths,waymark-paths
declare void @work()

; CHECK-NOT: @wm1.path.bare
; CHECK-NOT: @wm1.path.pick
; CHECK-NOT: @wm1.path.asked
; CHECK-NOT: @wm1.path.suspends
; CHECK: @wm1.path.elsewhere.{{[0-9a-f]+}} = linkonce_odr
; CHECK: @wm1.path = {{.*}} [1 x
; CHECK-NOT: @wm1.path

define void @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

@picked = ifunc void (), ptr @pick
define internal ptr @pick() {
  call void @pick_more()
  ret ptr @work
}
define internal void @pick_more() {
  ret void
}

define void @asked() noprofile {
  ret void
}

define void @suspends() presplitcoroutine {
  ret void
}

; A copy for the inliner is counted as the one definition is.
define available_externally void @elsewhere() {
  ret void
}

; The pass runs twice here: what is counted is not counted again.
; CHECK-LABEL: define void @once()
; CHECK-COUNT-2: incq
; CHECK-NOT: incq
; CHECK: ret void
define void @once() {
  call void @work()
  ret void
}
