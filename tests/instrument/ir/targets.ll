; Likely targets of a call through a pointer are compared in front of it, and called directly, in the order of what is known of them: the
; functions of a field of a structure, whether they are stored there or stand in an initializer, those of a virtual table, those of a
; type. Where the caller can be reached from a target, which would close a cycle, the call stays as it is.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
%struct.handler = type { i32, ptr }
%struct.outer = type { i64, %struct.handler }
declare void @wm_event(ptr, i64)
@one = global %struct.outer { i64 1, %struct.handler { i32 2, ptr @first } }
@_ZTV1V = global { [4 x ptr] } { [4 x ptr] [ptr null, ptr null, ptr @other, ptr @method] }
@others = global [6 x ptr] [ptr @a1, ptr @a2, ptr @a3, ptr @a4, ptr @a5, ptr @cycle]

define internal void @first(i64 %n) nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
define internal void @second(i64 %n) nounwind {
  ret void
}
define internal void @other(i64 %n) nounwind {
  call void @wm_event(ptr null, i64 2)
  ret void
}
define internal void @method(i64 %n) nounwind {
  call void @wm_event(ptr null, i64 3)
  ret void
}
define internal void @a1(i64 %n) nounwind {
  ret void
}
define internal void @a2(i64 %n) nounwind {
  ret void
}
define internal void @a3(i64 %n) nounwind {
  ret void
}
define internal void @a4(i64 %n) nounwind {
  ret void
}
define internal void @a5(i32 %n) nounwind {
  ret void
}

define void @set(ptr %h, i1 %c) nounwind {
  %f = select i1 %c, ptr @first, ptr @second
  %at = getelementptr i8, ptr %h, i64 8
  store ptr %f, ptr %at, !tbaa !0
  ret void
}

; CHECK-LABEL: define void @by_field(
; CHECK: %[[F:.*]] = load ptr
; CHECK: icmp eq ptr %[[F]], @first
; CHECK: call void @wm1.inner{{[.0-9]*}}(i64 1)
; CHECK: icmp eq ptr %[[F]], @second
; CHECK: call void @second(i64 1)
; CHECK-NOT: icmp
; CHECK: DEFER
; CHECK-NEXT: call void %[[F]](i64 1)
; CHECK-NEXT: END DEFERRED
; CHECK: ret void
define void @by_field(ptr %h) nounwind {
  %at = getelementptr i8, ptr %h, i64 8
  %f = load ptr, ptr %at, !tbaa !0
  call void %f(i64 1)
  ret void
}
; CHECK-LABEL: define void @by_outer_field(
; CHECK: icmp eq ptr %{{.*}}, @first
; CHECK-NOT: icmp
; CHECK: ret void
define void @by_outer_field(ptr %h) nounwind {
  %at = getelementptr i8, ptr %h, i64 16
  %f = load ptr, ptr %at, !tbaa !5
  call void %f(i64 1)
  ret void
}
; A structure without a name, the place in which the tag says.
@two = global { i64, i64, ptr } { i64 1, i64 2, ptr @unnamed }
define internal void @unnamed(i64 %n) nounwind {
  ret void
}
; CHECK-LABEL: define void @by_unnamed(
; CHECK: icmp eq ptr %{{.*}}, @unnamed
; CHECK: ret void
define void @by_unnamed() nounwind {
  %f = load ptr, ptr getelementptr inbounds ({ i64, i64, ptr }, ptr @two, i32 0, i32 2), !tbaa !9
  call void %f(i64 1)
  ret void
}
; CHECK-LABEL: define void @by_vtable(
; CHECK: icmp eq ptr %{{.*}}, @method
; CHECK-NOT: icmp
; CHECK: ret void
define void @by_vtable(ptr %object) nounwind {
  %table = load ptr, ptr %object, !tbaa !7
  %at = getelementptr ptr, ptr %table, i64 1
  %f = load ptr, ptr %at
  call void %f(i64 1)
  ret void
}
; CHECK-LABEL: define void @by_type(
; CHECK: icmp eq ptr %f, @a5
; CHECK: icmp eq ptr %f, @cycle
; CHECK-NOT: icmp
; CHECK: ret void
define void @by_type(ptr %f) nounwind {
  call void %f(i32 1)
  ret void
}
; CHECK-LABEL: define internal void @cycle(
; CHECK: icmp eq ptr %{{.*}}, @a5
; CHECK-NOT: icmp
; CHECK: ret void
define internal void @cycle(i32 %n) nounwind {
  %f = load ptr, ptr @others
  call void %f(i32 1)
  ret void
}
; Of many functions of a type none is likely; one of a known name is no pointer.
; CHECK-LABEL: define void @by_large_type(
; CHECK-NOT: icmp
; CHECK: ret void
define void @by_large_type(ptr %f) nounwind {
  call void %f(i64 1)
  ret void
}

!0 = !{!1, !3, i64 8}
!1 = !{!"handler", !2, i64 0, !3, i64 8}
!2 = !{!"int", !4, i64 0}
!3 = !{!"any pointer", !4, i64 0}
!4 = !{!"char"}
!5 = !{!6, !3, i64 16}
!6 = !{!"outer", !2, i64 0, !1, i64 8}
!7 = !{!8, !8, i64 0}
!8 = !{!"vtable pointer", !4, i64 0}
!9 = !{!10, !3, i64 16}
!10 = !{!"", !2, i64 0, !2, i64 8, !3, i64 16}
