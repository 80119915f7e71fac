; A module without anything still registers its image, so that the linked program has the descriptor.
; CHECK: module asm ".pushsection .debug_waymark,
; CHECK: @wm1.image = internal global { i32, i32, i32, i32, ptr, i64 } { i32 {{[0-9]+}}, i32 1, i32 0, i32 1, ptr @__ehdr_start
; CHECK: @wm1.first = internal global ptr @wm1.enter_image, section ".init_array.00000"
; CHECK: @wm1.last = internal global ptr @wm1.leave_image, section ".fini_array.00000"
; CHECK: call void @wm1_unregister(ptr @wm1.image)
; CHECK: call void @wm1_register(ptr @wm1.image)
target triple = "x86_64-pc-linux-gnu"
