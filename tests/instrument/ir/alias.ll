; An alias that is final stands for its aliasee, through casts and other aliases; one that may be preempted is only a name.
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)
@name = internal alias void (), ptr @target
@second = internal alias void (), ptr @name
@exported = weak alias void (), ptr @target

define internal void @target() nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
; The target's address is in the aliases, so it is a root: no edge has 0.
; CHECK-LABEL: define void @root(
; CHECK: [[SUM:%.*]] = add i64 {{%.*}}, 1{{$}}
; CHECK-NEXT: store i64 [[SUM]], ptr ID
; CHECK-NEXT: call void @name()
; CHECK-NEXT: [[SUM:%.*]] = add i64 {{%.*}}, 2{{$}}
; CHECK-NEXT: store i64 [[SUM]], ptr ID
; CHECK-NEXT: call void @second()
; CHECK: store volatile i64
; CHECK: store i64 0, ptr ID
; CHECK-NEXT: call void @exported()
define void @root() nounwind {
  call void @name()
  call void @second()
  call void @exported()
  ret void
}
