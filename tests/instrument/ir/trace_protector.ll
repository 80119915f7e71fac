; PASSES: waymark-trace
; ENV: WAYMARK_TRACE=final WAYMARK_TRACE_RULES=*=pt WAYMARK_TRACE_RING=8
; A frame record brings no stack protector; what the function has of its own keeps it.

; CHECK: define i32 @none(i1 %c) {
define i32 @none(i1 %c) sspstrong {
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  %r = phi i32 [ 1, %0 ], [ 2, %a ]
  ret i32 %r
}

declare void @fill(ptr)

; CHECK: define i32 @own(i1 %c) [[OWN:#[0-9]+]]
define i32 @own(i1 %c) sspstrong {
  %buffer = alloca [64 x i8]
  br i1 %c, label %a, label %b
a:
  call void @fill(ptr %buffer)
  br label %b
b:
  %r = phi i32 [ 1, %0 ], [ 2, %a ]
  ret i32 %r
}

; CHECK: define i32 @all(i1 %c) [[ALL:#[0-9]+]]
define i32 @all(i1 %c) sspreq {
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  %r = phi i32 [ 1, %0 ], [ 2, %a ]
  ret i32 %r
}
; CHECK: attributes [[OWN]] = { sspstrong
; CHECK: attributes [[ALL]] = { sspreq
