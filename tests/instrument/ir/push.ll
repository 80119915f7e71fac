; A call that may come back to instrumented code, and a call into a cycle: pushed, with the id the callee starts at, and both
; words put back from the frame.
target triple = "x86_64-pc-linux-gnu"
declare i32 @foreign(ptr)

; CHECK-LABEL: define i32 @calls_foreign(
; CHECK-NEXT: [[ID:%.*]] = load i64, ptr ID
; CHECK-NEXT: [[SP:%.*]] = call i64 @llvm.read_register.i64(metadata ![[RSP:[0-9]+]])
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK: call preserve_mostcc ptr @wm1_grow()
; CHECK: [[BACK:%.*]] = phi ptr [ [[TOP]], %0 ]
; CHECK-NEXT: [[ENTRY:%.*]] = phi ptr [ [[TOP]], %0 ]
; CHECK-NEXT: store volatile i64 [[ID]], ptr [[ENTRY]]
; CHECK: store volatile i64 [[SP]], ptr
; CHECK: [[BASE:%.*]] = load i32, ptr getelementptr (i8, ptr @wm1.image, i64 8)
; CHECK-NEXT: [[SITE:%.*]] = add i32 [[BASE]], 1{{$}}
; CHECK-NEXT: [[WIDE:%.*]] = zext i32 [[SITE]] to i64
; CHECK: store volatile i64 [[WIDE]], ptr
; CHECK: store volatile i32 0, ptr
; CHECK: [[NEXT:%.*]] = getelementptr i8, ptr [[ENTRY]], i64 32
; CHECK-NEXT: store volatile ptr [[NEXT]], ptr TOP
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: [[RESULT:%.*]] = call i32 @foreign(ptr %p)
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK-NEXT: store volatile ptr [[BACK]], ptr TOP
; CHECK-NEXT: ret i32 [[RESULT]]
define i32 @calls_foreign(ptr %p) nounwind {
  %r = call i32 @foreign(ptr %p)
  ret i32 %r
}

; CHECK-LABEL: define void @calls_pointer(
; CHECK: add i32 {{%.*}}, 2{{$}}
; CHECK: store i64 0, ptr ID
; CHECK-NEXT: call void %f()
; CHECK-NEXT: store i64
; CHECK-NEXT: store volatile ptr
; CHECK-NEXT: ret void
define void @calls_pointer(ptr %f) nounwind {
  call void %f()
  ret void
}

; Where it seldom runs, the push is a call.
; CHECK-LABEL: define void @seldom_calls(
; CHECK: rare:
; CHECK-NEXT: [[ID:%.*]] = load i64, ptr ID
; CHECK-NEXT: [[SP:%.*]] = call i64 @llvm.read_register.i64(
; CHECK-NEXT: [[BACK:%.*]] = call preserve_mostcc ptr @wm1.push_cold(i32 3, i64 [[ID]], i64 0, i64 [[SP]])
; CHECK-NEXT: call void %f()
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK-NEXT: store volatile ptr [[BACK]], ptr TOP
define void @seldom_calls(ptr %f, i1 %c) nounwind {
  br i1 %c, label %rare, label %done, !prof !0
rare:
  call void %f()
  br label %done
done:
  ret void
}

; The recursion starts at the number that the encoding keeps for it, not at 0, which is the first call's.
; CHECK-LABEL: define internal void @recursive(
; CHECK: store volatile ptr {{%.*}}, ptr TOP
; CHECK-NEXT: store i64 1, ptr ID
; CHECK-NEXT: call void @recursive(i32 %less)
; CHECK-NEXT: store i64
; CHECK-NEXT: store volatile ptr
define internal void @recursive(i32 %n) nounwind {
  %end = icmp eq i32 %n, 0
  br i1 %end, label %done, label %more
more:
  %less = sub i32 %n, 1
  call void @recursive(i32 %less)
  call void @wm_event(ptr null, i64 1)
  br label %done
done:
  ret void
}
; CHECK-LABEL: define void @enter(
define void @enter() nounwind {
  call void @recursive(i32 1)
  call void @recursive(i32 2)
  ret void
}
declare void @wm_event(ptr, i64)
!0 = !{!"branch_weights", i32 1, i32 1000}
; CHECK: ![[RSP]] = !{!"rsp"}
