; KIND: shared
; In a shared library callers enter hidden, protected and internal functions directly, others by a local entry (interpose.ll). What
; another image may preempt is foreign when it is an alias.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)

define void @preemptible() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
define hidden void @hidden() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
define dso_local void @local() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
define weak dso_local void @weak() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
@preemptible_alias = alias void (), ptr @hidden
@hidden_alias = hidden alias void (), ptr @hidden

; CHECK: @wm1_thread_state = external thread_local(initialexec) global
; CHECK-LABEL: define void @root(
; CHECK: call void @wm1.call.preemptible()
; CHECK-NEXT: call void @wm1.inner.1()
; CHECK-NEXT: call void @wm1.inner.2()
; CHECK-NEXT: call void @wm1.call.weak()
; CHECK-NEXT: DEFER 9
; CHECK-NEXT: call void @preemptible_alias()
; CHECK-NEXT: END DEFERRED
; CHECK-NEXT: store i64 2, ptr ID
; CHECK-NEXT: call void @wm1.inner.1()
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: ret void
define void @root() nounwind {
  call void @preemptible()
  call void @hidden()
  call void @local()
  call void @weak()
  call void @preemptible_alias()
  call void @hidden_alias()
  ret void
}
