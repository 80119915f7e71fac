; The encoded edges of a function: the hottest has no code, another adds before and undoes after the call, by helpers where it is cold and these
; take fewer bytes.
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

; A number of one byte: adding it in place takes no byte more than the call of a helper that adds it.
; CHECK-LABEL: define internal void @cold(
; CHECK: rare:
; CHECK-NEXT: load i64, ptr ID
; CHECK-NEXT: add i64 {{%.*}}, 2{{$}}
; CHECK: call void @callee()
; CHECK: sub i64 {{%.*}}, 2{{$}}
; CHECK: br label %end
define internal void @cold(i1 %c) nounwind {
  br i1 %c, label %rare, label %end, !prof !0
rare:
  call void @callee()
  br label %end
end:
  ret void
}
define internal void @common() nounwind {
  call void @foreign()
  ret void
}
define internal void @twice0() nounwind {
  call void @common()
  call void @common()
  ret void
}
define internal void @twice1() nounwind {
  call void @twice0()
  call void @twice0()
  ret void
}
define internal void @twice2() nounwind {
  call void @twice1()
  call void @twice1()
  ret void
}
define internal void @twice3() nounwind {
  call void @twice2()
  call void @twice2()
  ret void
}
define internal void @twice4() nounwind {
  call void @twice3()
  call void @twice3()
  ret void
}
define internal void @twice5() nounwind {
  call void @twice4()
  call void @twice4()
  ret void
}
define internal void @twice6() nounwind {
  call void @twice5()
  call void @twice5()
  ret void
}
define internal void @twice7() nounwind {
  call void @twice6()
  call void @twice6()
  ret void
}

; CHECK-LABEL: define internal void @far(
; CHECK: rare:
; CHECK-NEXT: add ID 128
; CHECK-NEXT: call void @common()
; CHECK-NEXT: subtract ID 128
; CHECK-NEXT: br label %end
define internal void @far(i1 %c) nounwind {
  br i1 %c, label %rare, label %end, !prof !0
rare:
  call void @common()
  br label %end
end:
  ret void
}
define void @enters(i1 %c) nounwind {
  call void @twice7()
  call void @far(i1 %c)
  call void @warm(i1 %c)
  call void @cold(i1 %c)
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 1000}
!1 = !{!"branch_weights", i32 1, i32 2}
