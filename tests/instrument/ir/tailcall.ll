; Tail calls. All callers of an internal function are known: its tail calls stay, nothing is undone after them, and the callers
; put back absolute values. A root's caller may be foreign: its tail calls are undone, and so are jumps no more.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare void @foreign()
declare void @wm_event(ptr, i64)

define internal void @end() nounwind noinline {
  call void @wm_event(ptr null, i64 1)
  ret void
}

; CHECK-LABEL: define internal void @adds(
; CHECK-NOT: }
; CHECK: add i64 {{%.*}}, {{[1-9]$}}
; CHECK-NEXT: store i64 {{%.*}}, ptr ID
; CHECK-NEXT: tail call void @end()
; CHECK-NEXT: ret void
define internal void @adds() nounwind {
  tail call void @end()
  ret void
}

; A pointer leads to some root. Where no root gets back here by jumps, a frame is kept.
; CHECK-LABEL: define internal void @steps(
; CHECK-NEXT: PUSH
; CHECK-NEXT: tail call void %f()
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: ret void
define internal void @steps(ptr %f) nounwind {
  tail call void %f()
  ret void
}

; Where one does, a loop must not eat the stack: nothing is put back here.
; CHECK-LABEL: define internal void @jumps(
; CHECK: [[ID:%.*]] = load i64, ptr ID
; CHECK: [[SLOT:%.*]] = call ptr @llvm.addressofreturnaddress.p0()
; CHECK-NEXT: call preserve_mostcc void @wm1.push_tail(i32 {{[0-9]+}}, i64 [[ID]], ptr [[SLOT]])
; CHECK-NEXT: tail call void %f()
; CHECK-NEXT: ret void
define internal void @jumps(ptr %f) nounwind {
  tail call void %f()
  ret void
}
define void @comes_back(ptr %f) nounwind {
  tail call void @jumps(ptr %f)
  ret void
}

; A foreign callee gets an ordinary call: it cannot come back by jumps without end.
; CHECK-LABEL: define internal void @leaves(
; CHECK: call void @foreign()
; CHECK-NEXT: END DEFERRED
; CHECK-NEXT: ret void
define internal void @leaves() nounwind {
  tail call void @foreign()
  ret void
}

; CHECK-LABEL: define void @callers(
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK-NEXT: call void @end()
; CHECK-NEXT: br i1 %c
; CHECK: rare:
; CHECK-NEXT: call void @adds()
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: br label %next
; CHECK: next:
; CHECK: call void @jumps(ptr %f)
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: store volatile ptr [[TOP]], ptr TOP
; CHECK-NEXT: call void @steps(ptr %f)
; CHECK-NEXT: call void @leaves()
; CHECK-NEXT: ret void
define void @callers(ptr %f, i1 %c) nounwind {
  call void @end()
  br i1 %c, label %rare, label %next, !prof !0
rare:
  call void @adds()
  br label %next
next:
  call void @jumps(ptr %f)
  call void @steps(ptr %f)
  call void @leaves()
  ret void
}

; CHECK-LABEL: define void @root(
; CHECK: rare:
; CHECK-NEXT: call preserve_mostcc void @wm1.enter_here()
; CHECK-NEXT: set ID {{[1-9]}}
; CHECK-NEXT: tail call void @end()
; CHECK-NEXT: set ID 0
; CHECK-NEXT: ret void
define void @root(i1 %c) nounwind {
  br i1 %c, label %rare, label %done, !prof !0
rare:
  tail call void @end()
  ret void
done:
  ret void
}

; The return may be a block away; a value in between is no tail position.
; CHECK-LABEL: define internal i32 @far(
; CHECK: store i64 {{%.*}}, ptr ID
; CHECK-NEXT: {{%.*}} = tail call i32 @value()
; CHECK-NEXT: br label %out
; CHECK: other:
; CHECK: call i32 @value()
; CHECK-NEXT: {{%.*}} = load i64, ptr ID
; CHECK-NEXT: {{%.*}} = sub i64
; CHECK-NEXT: store i64 {{%.*}}, ptr ID
; CHECK-NEXT: br label %out
define internal i32 @far(i1 %c) nounwind {
  br i1 %c, label %first, label %other
first:
  %a = tail call i32 @value()
  br label %out
other:
  %b = tail call i32 @value()
  br label %out
out:
  %r = phi i32 [ %a, %first ], [ 7, %other ]
  ret i32 %r
}
define internal i32 @value() nounwind {
  call void @wm_event(ptr null, i64 2)
  ret i32 1
}
define void @far_root(i1 %c) nounwind {
  %h = call i32 @value()
  %i = call i32 @value()
  %r = call i32 @far(i1 %c)
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 1000}
; What a pointer of this type is likely to reach captures: so its calls are not put off.
@reached = global ptr @captures
define void @captures() nounwind {
  call void @wm_event(ptr null, i64 7)
  ret void
}
