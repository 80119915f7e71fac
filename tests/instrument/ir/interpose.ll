; KIND: shared
; A library's own function that another image may replace: a call of it is an edge to a local entry, which looks what is bound; it is
; pushed where the arguments are not all in registers, and where it closes a cycle.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)
declare i32 @__gxx_personality_v0(...)

define i32 @replaceable(i32 %n) nounwind {
  call void @wm_event(ptr null, i64 1)
  ret i32 %n
}

; CHECK-DAG: @wm1.own = private alias i32 (i32), ptr @replaceable
; CHECK-DAG: @wm1.inner{{.*}} = private alias i32 (i32), getelementptr (i8, ptr @replaceable, i64 32)
; CHECK-LABEL: define i32 @user(
; CHECK: store i64 2, ptr ID
; CHECK-NEXT: call i32 @wm1.call.replaceable(i32 1)
; CHECK: loop:
; CHECK-NEXT: phi
; CHECK-NEXT: call i32 @wm1.call.replaceable(i32 %i)
; CHECK-NEXT: %next = add i32
define i32 @user(i32 %n) nounwind {
entry:
  %first = call i32 @replaceable(i32 1)
  br label %loop
loop:
  %i = phi i32 [ %first, %entry ], [ %next, %loop ]
  %r = call i32 @replaceable(i32 %i)
  %next = add i32 %r, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %next
}

; What nobody else looks at is in the graph: who replaces it may look. It may throw, though it is ours that is called.
define void @quiet(ptr %p) {
  store i32 1, ptr %p
  ret void
}
; CHECK-LABEL: define void @catches(
; CHECK: invoke void @wm1.call.quiet(ptr %p)
; CHECK-NEXT: to label %fine unwind label %caught
define void @catches(ptr %p) personality ptr @__gxx_personality_v0 {
  invoke void @quiet(ptr %p) to label %fine unwind label %caught
fine:
  ret void
caught:
  %pad = landingpad { ptr, i32 } catch ptr null
  ret void
}

define i64 @full(i64 %a, ptr %b, i32 %c, i16 %d, i8 %e, i1 %f, double %g, float %h, ...) nounwind {
  ret i64 %a
}
define void @seven(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %f, i64 %g) nounwind {
  ret void
}
define void @by_value(ptr byval(i64) %a) nounwind {
  ret void
}
define void @wide(i128 %a) nounwind {
  ret void
}
define <4 x float> @vector(<4 x float> %a) nounwind {
  ret <4 x float> %a
}
define [4 x i64] @large(i64 %a) nounwind {
  ret [4 x i64] zeroinitializer
}
define { i64, double } @small(i64 %a) nounwind {
  ret { i64, double } zeroinitializer
}
define fastcc void @fast(i64 %a) nounwind {
  ret void
}
define i32 @twice() nounwind returns_twice {
  ret i32 0
}
; CHECK-LABEL: define void @passes(
; CHECK: call i64 (i64, ptr, i32, i16, i8, i1, double, float, ...) @wm1.call.full(i64 1, ptr null, i32 1, i16 1, i8 1, i1 true, double {{.*}}, float {{.*}}, double {{.*}}, double {{.*}})
; CHECK: call i64 {{.*}} @full(i64 1, ptr null, i32 1, i16 1, i8 1, i1 true, double {{.*}}, float {{.*}}, i32 7)
; CHECK: call void @seven(
; CHECK: call void @by_value(
; CHECK: call void @wide(
; CHECK: call <4 x float> @vector(
; CHECK: call [4 x i64] @large(
; CHECK: call { i64, double } @wm1.call.small(
; CHECK: call fastcc void @fast(
; CHECK: call i32 @twice(
define void @passes(ptr byval(i64) %p) nounwind {
  call i64 (i64, ptr, i32, i16, i8, i1, double, float, ...) @full(i64 1, ptr null, i32 1, i16 1, i8 1, i1 1, double 1.0, float 1.0, double 1.0, double 1.0)
  call i64 (i64, ptr, i32, i16, i8, i1, double, float, ...) @full(i64 1, ptr null, i32 1, i16 1, i8 1, i1 1, double 1.0, float 1.0, i32 7)
  call void @seven(i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7)
  call void @by_value(ptr byval(i64) %p)
  call void @wide(i128 1)
  call <4 x float> @vector(<4 x float> zeroinitializer)
  call [4 x i64] @large(i64 1)
  call { i64, double } @small(i64 1)
  call fastcc void @fast(i64 1)
  call i32 @twice()
  ret void
}

; A jump stays one where the callers put back what they know; where all have to be served it is pushed.
; CHECK-LABEL: define internal i32 @jumps(
; CHECK: tail call i32 @wm1.call.replaceable(
; CHECK-NEXT: ret i32
define internal i32 @jumps(i32 %n) nounwind noinline {
  %r = tail call i32 @replaceable(i32 %n)
  ret i32 %r
}
; CHECK-LABEL: define i32 @must(
; CHECK: call preserve_mostcc void @wm1.push_tail(
; CHECK: musttail call i32 @replaceable(
define i32 @must(i32 %n) nounwind {
  %m = call i32 @jumps(i32 %n)
  %r = musttail call i32 @replaceable(i32 %m)
  ret i32 %r
}

; The function it calls again is its own or another: a push tells both.
; CHECK-LABEL: define i32 @recursive(
; CHECK: PUSH
; CHECK-NEXT: call i32 @recursive(
; CHECK-NEXT: PUT BACK
define i32 @recursive(i32 %n) nounwind {
  %zero = icmp eq i32 %n, 0
  br i1 %zero, label %done, label %again
again:
  %less = sub i32 %n, 1
  %r = call i32 @recursive(i32 %less)
  ret i32 %r
done:
  ret i32 0
}

; CHECK-LABEL: define internal void @wm1.call.replaceable(
; CHECK-NEXT: call void asm sideeffect {{.*}}, "i,Ws,i,i,i"(ptr @wm1.own, ptr @replaceable, ptr @wm1.inner{{.*}}, i32 {{[0-9]+}}, ptr @wm1.call_bound)
; CHECK-NOT: @wm1.call.seven

; ASM-LABEL: user:
; ASM: callq wm1.call.replaceable{{$}}
; ASM-LABEL: wm1.call_bound:
; ASM: pushq %r10
; ASM-NEXT: .cfi_adjust_cfa_offset 8
; ASM-NEXT: pushq %rdi
; ASM-NEXT: .cfi_adjust_cfa_offset 8
; ASM-NEXT: subq $136, %rsp
; ASM-NEXT: .cfi_adjust_cfa_offset 136
; ASM-NEXT: movups %xmm0, (%rsp)
; ASM: movups %xmm7, 112(%rsp)
; ASM-NEXT: movl %r11d, %edi
; ASM-NEXT: callq wm1.push_here
; ASM-NEXT: movups (%rsp), %xmm0
; ASM: movups 112(%rsp), %xmm7
; ASM-NEXT: movq 136(%rsp), %rdi
; ASM-NEXT: callq *144(%rsp)
; ASM-NEXT: movups %xmm0, (%rsp)
; ASM-NEXT: movups %xmm1, 16(%rsp)
; ASM-NEXT: callq wm1.put_back
; ASM-NEXT: movups (%rsp), %xmm0
; ASM-NEXT: movups 16(%rsp), %xmm1
; ASM-NEXT: addq $152, %rsp
; ASM-NEXT: .cfi_adjust_cfa_offset -152
; ASM-NEXT: retq
; ASM-LABEL: wm1.call.replaceable:
; ASM: leaq .Lwm1.own(%rip), %r11
; ASM-NEXT: cmpq replaceable@GOTPCREL(%rip), %r11
; ASM-NEXT: je .Lwm1.inner
; ASM-NEXT: movq replaceable@GOTPCREL(%rip), %r10
; ASM-NEXT: movl ${{[0-9]+}}, %r11d
; ASM-NEXT: jmp wm1.call_bound
