; Where time counts a push is written out. Two calls in a loop have one each.
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define internal void @often(
; CHECK: [[ID:%.*]] = load i64, ptr ID
; CHECK: loop:
; CHECK-NEXT: [[SP:%.*]] = call i64 @llvm.read_register.i64(metadata ![[RSP:[0-9]+]])
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK: call preserve_mostcc ptr @wm1_grow()
; CHECK: [[BACK:%.*]] = phi ptr [ [[TOP]], %loop ]
; CHECK-NEXT: [[ENTRY:%.*]] = phi ptr [ [[TOP]], %loop ]
; CHECK-NEXT: store volatile i64 [[ID]], ptr [[ENTRY]]
; CHECK: store volatile i64 [[SP]], ptr
; CHECK: store volatile i64 1, ptr
; CHECK: [[HISTORY:%.*]] = load i64, ptr getelementptr (i8, ptr ID, i64 40)
; CHECK: store volatile i64 [[HISTORY]], ptr
; CHECK: [[NEXT:%.*]] = getelementptr i8, ptr [[ENTRY]], i64 32
; CHECK-NEXT: store volatile ptr [[NEXT]], ptr TOP
; CHECK-NEXT: call void %f()
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK-NEXT: store volatile ptr [[BACK]], ptr TOP
; CHECK-NEXT: FORGET DEFERRED
define internal void @often(ptr %f, ptr %c) nounwind {
  br label %loop
loop:
  call void %f()
  br label %other
other:
  call void %f()
  %again = load volatile i1, ptr %c
  br i1 %again, label %loop, label %done
done:
  ret void
}
define void @enter(ptr %f, ptr %c) nounwind {
  call void @often(ptr %f, ptr %c)
  ret void
}
; CHECK: ![[RSP]] = !{!"rsp"}
declare void @wm_event(ptr, i64)
; What a pointer of this type is likely to reach captures: so its calls are not put off.
@reached = global ptr @captures
define void @captures() nounwind {
  call void @wm_event(ptr null, i64 7)
  ret void
}
