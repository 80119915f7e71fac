; PASSES: waymark-trace
; ENV: WAYMARK_TRACE=final WAYMARK_TRACE_RULES=off=none;counted=fc;both=fc+cc;*=cc
; Call-site coverage: a byte for the entry where no byte of a call proves it, and only there.

declare void @out(i32)

@table = global [3 x ptr] [ptr @by_pointer, ptr @on_one_way, ptr @on_each_way]

define internal i32 @by_pointer(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}
; CHECK-LABEL: define internal i32 @by_pointer(
; CHECK: call void asm sideeffect "movb $$1, $0", "*m"(
; CHECK-NEXT: %y = add

define internal void @on_one_way(i1 %c) {
  br i1 %c, label %a, label %b
a:
  call void @out(i32 1)
  br label %b
b:
  ret void
}
; CHECK-LABEL: define internal void @on_one_way(
; CHECK: call void asm sideeffect "movb $$1, $0", "*m"(
; CHECK: br i1

define internal void @on_each_way(i1 %c) {
  br i1 %c, label %a, label %b
a:
  call void @out(i32 2)
  ret void
b:
  call void @out(i32 3)
  ret void
}
; CHECK-LABEL: define internal void @on_each_way(
; CHECK-NOT: asm
; CHECK: br i1

define internal i32 @by_covered(i32 %x) {
  %y = add i32 %x, 2
  ret i32 %y
}
; CHECK-LABEL: define internal i32 @by_covered(
; CHECK-NOT: movb
; CHECK: ret i32

define internal i32 @by_none(i32 %x) {
  %y = add i32 %x, 3
  ret i32 %y
}
; CHECK-LABEL: define internal i32 @by_none(
; CHECK: call void asm sideeffect "movb $$1, $0", "*m"(
; CHECK-NEXT: %y = add

define internal i32 @by_counted(i32 %x) {
  %y = add i32 %x, 4
  ret i32 %y
}
; CHECK-LABEL: define internal i32 @by_counted(
; CHECK: call void asm sideeffect "movb $$1, $0", "*m"(
; CHECK-NEXT: %y = add

define internal i32 @by_skipped(i32 %x) {
  %y = add i32 %x, 5
  ret i32 %y
}
; CHECK-LABEL: define internal i32 @by_skipped(
; CHECK: call void asm sideeffect "movb $$1, $0", "*m"(
; CHECK-NEXT: %y = add

define internal void @both(i32 %x) {
  call void @out(i32 %x)
  ret void
}
; CHECK-LABEL: define internal void @both(
; CHECK: call void asm sideeffect "movb $$1, $0", "*m"(
; CHECK: call void asm sideeffect "movb $$1, $0{{.*}}.quad
; CHECK-NEXT: call void @out(

define internal i32 @off(i32 %x) {
  %y = call i32 @by_none(i32 %x)
  ret i32 %y
}

define internal i32 @counted(i32 %x) {
  %y = call i32 @by_counted(i32 %x)
  ret i32 %y
}

define internal i32 @skipped(i32 %x) noprofile {
  %y = call i32 @by_skipped(i32 %x)
  ret i32 %y
}
; CHECK-LABEL: define internal i32 @skipped(
; CHECK-NOT: asm
; CHECK: ret i32

define i32 @caller(i32 %x) {
  %a = call i32 @by_covered(i32 %x)
  %b = call i32 @off(i32 %a)
  %c = call i32 @counted(i32 %b)
  %d = call i32 @skipped(i32 %c)
  call void @both(i32 %d)
  ret i32 %d
}
