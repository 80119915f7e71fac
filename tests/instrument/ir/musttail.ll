; musttail in a root: pushed whatever its callee, which becomes a root itself; whoever returns for real takes the pushes of its
; frame off. Roots that only return do so too.
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)

; CHECK-LABEL: define void @first(
; CHECK: [[SLOT:%.*]] = call ptr @llvm.addressofreturnaddress.p0()
; CHECK-NEXT: call preserve_mostcc void @wm1.push_tail(i32 {{[0-9]+}}, i64 0, ptr [[SLOT]])
; CHECK-NEXT: musttail call void @last()
; CHECK-NEXT: ret void
define void @first() nounwind {
  musttail call void @last()
  ret void
}

; CHECK-LABEL: define internal void @last(
; CHECK: call void @wm1_event(
; CHECK-NEXT: [[SLOT:%.*]] = call ptr @llvm.addressofreturnaddress.p0()
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK: icmp eq ptr [[TOP]], null
; CHECK: [[HERE:%.*]] = ptrtoint ptr [[SLOT]] to i64
; CHECK: call preserve_mostcc void @wm1_drop_tails(i64 [[HERE]])
; CHECK: ret void
define internal void @last() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}

; CHECK-LABEL: define void @through_pointer(
; CHECK: call preserve_mostcc void @wm1.push_tail(
; CHECK-NEXT: musttail call void %f(ptr %f)
; CHECK-NEXT: ret void
define void @through_pointer(ptr %f) nounwind {
  musttail call void %f(ptr %f)
  ret void
}

; Nobody looks at a context there: no code.
; CHECK-LABEL: define void @quiet(
; CHECK-NEXT: musttail call void @nothing()
; CHECK-NEXT: ret void
define void @quiet() nounwind {
  musttail call void @nothing()
  ret void
}

; But both may end a chain that through_pointer has pushed.
; CHECK-LABEL: define internal void @nothing(
; CHECK: call preserve_mostcc void @wm1_drop_tails(
; CHECK: ret void
define internal void @nothing() nounwind noinline {
  ret void
}

; An exception that leaves the end of a chain leaves the whole chain.
; CHECK-LABEL: define void @throws(
; CHECK: ret void
; CHECK: landingpad
; CHECK-NEXT: cleanup
; CHECK: call preserve_mostcc void @wm1_drop_tails(
; CHECK: resume
declare void @foreign()
define void @throws() {
  call void @foreign()
  ret void
}

; Also where only the jump makes it a root.
; CHECK-LABEL: define void @jumps(
; CHECK: musttail call void @inside()
define void @jumps() {
  musttail call void @inside()
  ret void
}

; CHECK-LABEL: define internal void @inside(
; CHECK: ret void
; CHECK: landingpad
; CHECK-NEXT: cleanup
; CHECK: call preserve_mostcc void @wm1_drop_tails(
; CHECK: resume
define internal void @inside() {
  call void @foreign()
  ret void
}
