; Calls of functions by themselves: a code in the history, and a push where it has no room.

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)

; One: code 0, of one bit. The id stays, whatever it is.
; CHECK-LABEL: define internal i64 @one(
; CHECK: [[HISTORY:%.*]] = load i32, ptr HISTORY
; CHECK-NEXT: icmp ugt i32 [[HISTORY]], 2147483647
; CHECK: call void asm sideeffect "shll $2, $0"
; CHECK-SAME: i32 1)
; CHECK: call preserve_mostcc void @wm1.push_self(i64
; CHECK-NEXT: store i64 1, ptr ID
; CHECK: call i64 @one(i64 %less)
; CHECK-NEXT: call i32 asm sideeffect "shrl $3, $1"
; CHECK-SAME: i32 1)
; CHECK: call preserve_mostcc void @wm1.put_back_self()
; ASM-LABEL: one:
; ASM: cmpl $0, %fs:wm1_thread_state@TPOFF+44
; ASM-NEXT: js
; ASM: shll %fs:wm1_thread_state@TPOFF+44
; ASM: callq one
; ASM: shrl %fs:wm1_thread_state@TPOFF+44
; ASM: {{je|jne}}
define internal i64 @one(i64 %n) noinline nounwind {
  %end = icmp slt i64 %n, 1
  br i1 %end, label %done, label %more, !prof !0
more:
  %less = sub i64 %n, 1
  %got = call i64 @one(i64 %less)
  call void @wm_event(ptr null, i64 1)
  %sum = add i64 %got, 1
  br label %done
done:
  %ret = phi i64 [ 0, %0 ], [ %sum, %more ]
  ret i64 %ret
}

; Three in a row (1073741823 is the limit: run.sh takes it for the number of a site): codes 1, 2 and 3, of two bits, of which the first one is appended, and the last one taken off.
; CHECK-LABEL: define internal i64 @three(
; CHECK: icmp ugt i32 {{.*}}, -1
; CHECK: call void asm sideeffect "shll $2, $0\0Aorl $3, $0"
; CHECK-SAME: i32 2, i32 1)
; CHECK: call preserve_mostcc void @wm1.push_selves(i64
; CHECK-NEXT: store i32 1, ptr HISTORY
; CHECK-NEXT: store i64 1, ptr ID
; CHECK: call i64 @three(i64 %a)
; CHECK-NEXT: call void asm sideeffect "xorl $2, $0"
; CHECK-SAME: i32 3)
; CHECK-NEXT: call i64 @three(i64 %b)
; CHECK-NEXT: call void asm sideeffect "xorl $2, $0"
; CHECK-SAME: i32 1)
; CHECK-NEXT: call i64 @three(i64 %c)
; CHECK-NEXT: call i32 asm sideeffect "shrl $3, $1"
define internal i64 @three(i64 %n) noinline nounwind {
  %end = icmp slt i64 %n, 1
  br i1 %end, label %done, label %more, !prof !0
more:
  %a = sub i64 %n, 1
  %b = sub i64 %n, 2
  %c = sub i64 %n, 3
  %x = call i64 @three(i64 %a)
  %y = call i64 @three(i64 %b)
  %z = call i64 @three(i64 %c)
  call void @wm_event(ptr null, i64 1)
  %xy = add i64 %x, %y
  %sum = add i64 %xy, %z
  br label %done
done:
  %ret = phi i64 [ 0, %0 ], [ %sum, %more ]
  ret i64 %ret
}

; CHECK-LABEL: define i64 @main(
define i64 @main(i64 %n) nounwind {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %x = call i64 @one(i64 %i)
  %y = call i64 @three(i64 %i)
  %z = call i64 @one(i64 %y)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i64 %next
}
!0 = !{!"branch_weights", i32 1, i32 1}
