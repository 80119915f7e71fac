; Naked functions, resolvers of ifuncs and what these call stay as they are (there may be no thread-local storage yet), and what they
; call sets its id, as a root. A call of one of them is a call of foreign code.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
@picked = ifunc void (), ptr @resolver
@aliased = ifunc void (), ptr @alias_of_resolver
@alias_of_resolver = internal alias ptr (), ptr @resolver2
declare void @foreign()
declare void @wm_event(ptr, i64)

; CHECK-LABEL: define internal ptr @resolver(
; CHECK-NEXT: call void @early()
; CHECK-NEXT: call void @foreign()
; CHECK-NEXT: ret ptr @candidate
define internal ptr @resolver() nounwind {
  call void @early()
  call void @foreign()
  ret ptr @candidate
}
; CHECK-LABEL: define internal ptr @resolver2(
; CHECK-NEXT: call void @foreign()
; CHECK-NEXT: ret ptr @candidate
define internal ptr @resolver2() nounwind {
  call void @foreign()
  ret ptr @candidate
}
; CHECK-LABEL: define internal void @early(
; CHECK-NEXT: call void @foreign()
; CHECK-NEXT: ret void
define internal void @early() nounwind {
  call void @foreign()
  ret void
}
; CHECK-LABEL: define internal void @candidate(
; CHECK: call void @wm1_event(
define internal void @candidate() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
; CHECK-LABEL: define internal void @bare(
; CHECK-NEXT: call void @below()
; CHECK-NEXT: unreachable
define internal void @bare() naked nounwind {
  call void @below()
  unreachable
}
; A root: one edge beside what enters it unknown.
; CHECK-LABEL: define internal void @below(
; CHECK: call void @wm1_event(
define internal void @below() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
; CHECK-LABEL: define void @root(
; CHECK: DEFER 3
; CHECK-NEXT: call void @bare()
; CHECK-NEXT: END DEFERRED
; CHECK-NEXT: call void @wm1.inner()
; CHECK-NEXT: PUSH 5
; CHECK-NEXT: call void @picked()
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: DEFER 6
; CHECK-NEXT: call void @early()
define void @root() nounwind {
  call void @bare()
  call void @below()
  call void @picked()
  call void @early()
  ret void
}
