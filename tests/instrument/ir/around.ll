; The push of a call that is alone in a loop is made in front of it; each round puts the top back.
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define internal void @often(
; CHECK: [[ID:%.*]] = load i64, ptr ID
; CHECK: [[BACK:%.*]] = phi ptr
; CHECK: store volatile ptr {{%.*}}, ptr TOP
; CHECK-NEXT: [[PUSHED:%.*]] = load volatile ptr, ptr TOP
; CHECK-NEXT: br label %loop
; CHECK: loop:
; CHECK-NEXT: call void %f()
; CHECK-NEXT: store volatile ptr [[PUSHED]], ptr TOP
; CHECK-NEXT: FORGET DEFERRED
; CHECK: br i1 %again, label %loop, label %done
; CHECK: done:
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK-NEXT: store volatile ptr [[BACK]], ptr TOP
; CHECK-NEXT: ret void
define internal void @often(ptr %f, ptr %c) nounwind {
  br label %loop
loop:
  call void %f()
  %again = load volatile i1, ptr %c
  br i1 %again, label %loop, label %done
done:
  ret void
}

; A round may go without the call: the push stays in front of it.
; CHECK-LABEL: define internal void @sometimes(
; CHECK: call:
; CHECK: store volatile ptr {{%.*}}, ptr TOP
; CHECK-NEXT: call void %f()
define internal void @sometimes(ptr %f, ptr %c) nounwind {
  br label %loop
loop:
  %wants = load volatile i1, ptr %c
  br i1 %wants, label %call, label %next
call:
  call void %f()
  br label %next
next:
  %again = load volatile i1, ptr %c
  br i1 %again, label %loop, label %done
done:
  ret void
}

; The stack pointer of the call is not that in front of the loop.
; CHECK-LABEL: define internal void @grows(
; CHECK: loop:
; CHECK: store volatile ptr {{%.*}}, ptr TOP
; CHECK-NEXT: call void %f()
define internal void @grows(ptr %f, ptr %c, i64 %n) nounwind {
  br label %loop
loop:
  %memory = alloca i8, i64 %n
  store volatile i8 1, ptr %memory
  call void %f()
  %again = load volatile i1, ptr %c
  br i1 %again, label %loop, label %done
done:
  ret void
}
define void @enter(ptr %f, ptr %c, i64 %n) nounwind {
  call void @often(ptr %f, ptr %c)
  call void @sometimes(ptr %f, ptr %c)
  call void @grows(ptr %f, ptr %c, i64 %n)
  ret void
}
declare void @wm_event(ptr, i64)
; What a pointer of this type is likely to reach captures: so its calls are not put off.
@reached = global ptr @captures
define void @captures() nounwind {
  call void @wm_event(ptr null, i64 7)
  ret void
}
