; A call that may come back to instrumented code, and a call into a cycle: pushed, with the id the callee starts at where it does not
; set that itself, and both words put back.
target triple = "x86_64-pc-linux-gnu"
declare i32 @foreign(ptr)

; CHECK-LABEL: define i32 @calls_foreign(
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: PUSH 1
; CHECK-NEXT: [[RESULT:%.*]] = call i32 @foreign(ptr %p)
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: ret i32 [[RESULT]]
define i32 @calls_foreign(ptr %p) nounwind {
  %r = call i32 @foreign(ptr %p)
  ret i32 %r
}

; CHECK-LABEL: define void @calls_pointer(
; CHECK: PUSH 2
; CHECK-NEXT: call void %f()
; CHECK-NEXT: PUT BACK
; CHECK-NEXT: ret void
define void @calls_pointer(ptr %f) nounwind {
  call void %f()
  ret void
}

; In a loop the push is in place; so it is where the helper does not keep all that passes arguments.
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
; CHECK: [[BASE:%.*]] = load i32, ptr getelementptr (i8, ptr @wm1.image, i64 8)
; CHECK-NEXT: [[SITE:%.*]] = add i32 [[BASE]], 3{{$}}
; CHECK-NEXT: [[WIDE:%.*]] = zext i32 [[SITE]] to i64
; CHECK: store volatile i64 [[WIDE]], ptr
; CHECK: store volatile i32 0, ptr
; CHECK: [[NEXT:%.*]] = getelementptr i8, ptr [[ENTRY]], i64 32
; CHECK-NEXT: store volatile ptr [[NEXT]], ptr TOP
; CHECK-NEXT: call void %f()
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK-NEXT: store volatile ptr [[BACK]], ptr TOP
define internal void @often(ptr %f, ptr %c) nounwind {
  br label %loop
loop:
  call void %f()
  %again = load volatile i1, ptr %c
  br i1 %again, label %loop, label %done
done:
  ret void
}
; CHECK-LABEL: define void @wide(
; CHECK: store volatile i64 0, ptr
; CHECK: call void %f(<8 x float> %v)
define void @wide(ptr %f, <8 x float> %v, ptr %c) nounwind {
  call void %f(<8 x float> %v)
  call void @often(ptr %f, ptr %c)
  ret void
}

; The recursion starts at the number that the encoding keeps for it, not at 0, which is the first call's.
; CHECK-LABEL: define internal void @recursive(
; CHECK: PUSH
; CHECK-NEXT: store i64 1, ptr ID
; CHECK-NEXT: call void @recursive(i32 %less)
; CHECK-NEXT: PUT BACK
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
; CHECK: ![[RSP]] = !{!"rsp"}
