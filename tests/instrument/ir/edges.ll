; The encoded edges of a function: the hottest has no code, another adds before and undoes after the call, by helpers where it is cold.
target triple = "x86_64-pc-linux-gnu"
declare void @foreign()

define internal void @callee() nounwind {
  call void @foreign()
  ret void
}

; CHECK-LABEL: define void @hot(
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: ret void
define void @hot() nounwind {
  call void @callee()
  ret void
}

; CHECK-LABEL: define internal void @warm(
; CHECK: often:
; CHECK-NEXT: [[ID:%.*]] = load i64, ptr ID
; CHECK-NEXT: [[SUM:%.*]] = add i64 [[ID]], 1{{$}}
; CHECK-NEXT: store i64 [[SUM]], ptr ID
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: [[SAME:%.*]] = load i64, ptr ID
; CHECK-NEXT: [[OLD:%.*]] = sub i64 [[SAME]], 1{{$}}
; CHECK-NEXT: store i64 [[OLD]], ptr ID
; CHECK-NEXT: br label %end
define internal void @warm(i1 %c) nounwind {
  br i1 %c, label %often, label %end, !prof !1
often:
  call void @callee()
  br label %end
end:
  ret void
}

; CHECK-LABEL: define internal void @cold(
; CHECK: rare:
; CHECK-NEXT: add ID 2
; CHECK-NEXT: call void @callee()
; CHECK-NEXT: subtract ID 2
; CHECK-NEXT: br label %end
define internal void @cold(i1 %c) nounwind {
  br i1 %c, label %rare, label %end, !prof !0
rare:
  call void @callee()
  br label %end
end:
  ret void
}
define void @enters(i1 %c) nounwind {
  call void @warm(i1 %c)
  call void @cold(i1 %c)
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 1000}
!1 = !{!"branch_weights", i32 1, i32 2}
