; Where code may run anywhere, a pointer is compared with memory that has the target's address: one instruction, in place of two.
target triple = "x86_64-pc-linux-gnu"
declare void @wm_event(ptr, i64)
@table = global [2 x ptr] [ptr @first, ptr @second]

; CHECK-DAG: @wm1.address.first = internal unnamed_addr global ptr @first, section ".data.rel.ro"
; CHECK-DAG: @wm1.address.second = internal unnamed_addr global ptr @second, section ".data.rel.ro"
define internal void @first(i64 %n) nounwind {
  call void @wm_event(ptr null, i64 1)
  ret void
}
define internal void @second(i64 %n) nounwind {
  call void @wm_event(ptr null, i64 2)
  ret void
}

; CHECK-LABEL: define void @calls(
; CHECK: [[ADDRESS:%.*]] = load ptr, ptr @wm1.address.[[NAME:first|second]]
; CHECK-NEXT: icmp eq ptr %f, [[ADDRESS]]
; CHECK: call void @wm1.inner{{[.0-9]*}}(i64 1)
; CHECK: [[ADDRESS:%.*]] = load ptr, ptr @wm1.address.
; CHECK-NEXT: icmp eq ptr %f, [[ADDRESS]]
; ASM-LABEL: calls:
; ASM: cmpq wm1.address.{{first|second}}(%rip), %rdi
; ASM: cmpq wm1.address.{{first|second}}(%rip), %rdi
define void @calls(ptr %f) nounwind {
  call void %f(i64 1)
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 8, !"PIC Level", i32 2}
