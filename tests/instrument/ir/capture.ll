; wm_capture and wm_event become the runtime's functions, which get the site's number in this process; invokes stay invokes.
target triple = "x86_64-pc-linux-gnu"
; Nine sites: 0 is none, five captures, three calls.
%context = type { i64, i32, i32, i32, i32 }
declare void @wm_capture(ptr sret(%context))
declare void @wm_event(ptr, i64)
declare void @cleanup()
declare i32 @__gxx_personality_v0(...)

; CHECK: @wm1.image = internal global { i32, i32, i32, i32, ptr, i64 } { i32 {{[0-9]+}}, i32 9, i32 0, i32 1, ptr @__ehdr_start, i64 {{.*}} }

; CHECK-LABEL: define internal void @captures(
; CHECK-NOT: @wm_
; CHECK: call void @wm1_capture(ptr sret({ i64, i32, i32, i32, i32 }) %out, i32 1)
; CHECK-NEXT: call void @wm1_event(i32 2, ptr %name, i64 42)
; CHECK-NEXT: ret void
define internal void @captures(ptr %out, ptr %name) {
  call void @wm_capture(ptr sret(%context) %out)
  call void @wm_event(ptr %name, i64 42)
  ret void
}

; CHECK-LABEL: define internal i32 @invokes(
; CHECK: invoke void @wm1_capture(ptr sret({ i64, i32, i32, i32, i32 }) %out, i32 3)
; CHECK-NEXT: to label %next unwind label %pad
; CHECK: invoke void @wm1_event(i32 4, ptr null, i64 7)
; CHECK-NEXT: to label %join unwind label %pad
; CHECK: phi i32 [ 1, %next ], [ 2, %pad ]
define internal i32 @invokes(ptr %out) personality ptr @__gxx_personality_v0 {
  invoke void @wm_capture(ptr sret(%context) %out) to label %next unwind label %pad
next:
  invoke void @wm_event(ptr null, i64 7) to label %join unwind label %pad
join:
  %r = phi i32 [ 1, %next ], [ 2, %pad ]
  ret i32 %r
pad:
  %e = landingpad { ptr, i32 } catch ptr null
  br label %join
}

; A capture is no tail call that stays, and is not pushed.
; CHECK-LABEL: define internal void @last(
; CHECK-NOT: store
; CHECK: call void @wm1_event(
; CHECK-NEXT: ret void
define internal void @last() {
  tail call void @wm_event(ptr null, i64 1)
  ret void
}

define void @root(ptr %out) nounwind {
  call void @captures(ptr %out, ptr null)
  %r = call i32 @invokes(ptr %out)
  call void @last()
  ret void
}
