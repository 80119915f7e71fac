; A path ends on the back edge and another begins at its target; a block of its own where the edge is critical.
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-paths

; CHECK-LABEL: define void @critical(
; CHECK: body:
; CHECK: br i1 %c, label %[[EDGE:.*]], label %done
; CHECK: [[EDGE]]:
; CHECK: call void asm "incq $0"
; CHECK-NEXT: br label %body
; CHECK: done:
; CHECK: call void asm "incq $0"
; CHECK-NEXT: ret void
define void @critical(i1 %c) {
  br label %body
body:
  br i1 %c, label %body, label %done
done:
  ret void
}

; The latch goes nowhere else: at its end. An endless loop has no other count.
; CHECK-LABEL: define void @endless(
; CHECK: latch:
; CHECK: call void asm "incq $0"
; CHECK-NEXT: br label %head
; CHECK-NOT: incq
; CHECK-LABEL: define void @repeats(
define void @endless(i1 %c) {
  br label %head
head:
  br i1 %c, label %latch, label %other
other:
  br label %latch
latch:
  br label %head
}

; Cases that go the same way are one edge: two paths, not three; the block on it is for both.
; CHECK: switch i32 %n, label %done [
; CHECK-NEXT: i32 1, label %[[ONE:.*]]
; CHECK-NEXT: i32 2, label %[[ONE]]
; CHECK-NEXT: ]
define void @repeats(i32 %n) {
  br label %head
head:
  switch i32 %n, label %done [
    i32 1, label %head
    i32 2, label %head
  ]
done:
  ret void
}
