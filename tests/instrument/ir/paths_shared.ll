; A module for shared libraries: where the slot is, from the thread's base on, is a call away, so it is asked once, and the call
; keeps general registers and has a stack as calls want it; the runtime is called through the global offset table.
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-paths
declare void @work()

; CHECK: @wm1.slot = internal thread_local global ptr null
; CHECK-LABEL: define void @f(
; CHECK: [[SLOT:%.*]] = call ptr addrspace(257) asm alignstack "{{.*}}@tlsdesc(%rip), $0{{.*}}xmm31{{.*}}(ptr @wm1.slot)
; CHECK-NEXT: load ptr, ptr addrspace(257) [[SLOT]]
; CHECK: call void @work()
; CHECK-NEXT: [[TABLE:%.*]] = load ptr, ptr addrspace(257) [[SLOT]]
; CHECK: call void asm "incq $0"
; CHECK-NEXT: ret void
; CHECK: declare preserve_mostcc ptr @wm1_path_enter(ptr, ptr) #[[A:[0-9]+]]
; CHECK: attributes #[[A]] = { {{.*}}nonlazybind
; ASM-LABEL: f:
; ASM: pushq
; ASM: @tlscall(%rax)
; ASM-NEXT: #NO_APP
; ASM: %fs:(%rax)
; ASM-NOT: tlscall
; ASM: incq 16(
; ASM: retq
define void @f() {
  call void @work()
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 8, !"PIC Level", i32 2}
