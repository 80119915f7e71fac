; PASSES: waymark-trace
; ENV: WAYMARK_TRACE=final WAYMARK_TRACE_RULES=straight=stmt+pt;*=pt WAYMARK_TRACE_RING=2
; Path traces: one path has nothing but its point; several have a register; loops have a ring. No record is an array.

; CHECK: @wm1.coverage.{{[0-9a-f]+}} = linkonce_odr hidden global [1 x i8] zeroinitializer, section "wm1_coverage", align 1

define i32 @straight(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}
; CHECK-LABEL: define i32 @straight(
; CHECK-NOT: alloca
; CHECK: call void asm sideeffect "movb $$1, $0{{.*}}.quad 771b-1{{.*}}", "*m"(ptr {{.*}}elementtype(i8) @wm1.coverage.
; CHECK: ret i32

define i32 @two(i1 %c) {
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  %r = phi i32 [ 1, %0 ], [ 2, %a ]
  ret i32 %r
}
; CHECK-LABEL: define i32 @two(
; CHECK: %wm1.frame = alloca <{ i8 }>, align 1, !nosanitize [[YES:![0-9]+]], !wm1.memory [[YES]]
; CHECK: .debug_waymark_points{{.*}}.asciz
; CHECK-NOT: ring
; CHECK: ret i32

define void @loop(i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %odd = trunc i32 %i to i1
  br i1 %odd, label %a, label %latch
a:
  br label %latch
latch:
  %j = add i32 %i, 1
  %go = icmp ult i32 %j, %n
  br i1 %go, label %head, label %done
done:
  ret void
}
; CHECK-LABEL: define void @loop(
; CHECK: %wm1.frame = alloca <{
; CHECK: "{{.*}}movl $$0, $
; CHECK: %wm1.loaded = load volatile i32, ptr {{.*}}, align 4, !nosanitize
; CHECK: %wm1.index = and i32 %wm1.loaded, 1
; CHECK: call void asm sideeffect "mov{{.*}}incl
; CHECK: ret void

; What other code leads to, too, is come to by computed gotos over a block of its own.
@labels = internal constant [2 x ptr] [ptr blockaddress(@jump, %one), ptr blockaddress(@jump, %two)]
define i32 @jump(i1 %c, ptr %to) {
entry:
  br i1 %c, label %one, label %go
go:
  indirectbr ptr %to, [label %one, label %two]
one:
  %r = phi i32 [ 5, %entry ], [ 6, %go ]
  ret i32 %r
two:
  ret i32 7
}
; CHECK-LABEL: define i32 @jump(
; CHECK: indirectbr ptr %to, [label %wm1.landing, label %two]
; CHECK: wm1.landing:
; CHECK-NEXT: [[R:%.*]] = phi i32 [ 6, %go ]
; CHECK: br label %one
; CHECK: one:
; CHECK-NEXT: phi i32 [ 5, %{{.*}} ], [ [[R]], %wm1.landing ]

define void @naked() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}
; CHECK-LABEL: define void @naked(
; CHECK-NEXT: call void asm sideeffect "ret", ""()
; CHECK-NEXT: unreachable
