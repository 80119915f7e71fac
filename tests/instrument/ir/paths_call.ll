; The same with every path counted by the runtime (--wm-path-hash=call).
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-paths
; ENV: WAYMARK_PATHS_ARRAY=1 WAYMARK_PATHS_HASH=call

; CHECK: @wm1.path.two.{{[0-9a-f]+}} = {{.*}} { i32 3, i8 2, i8 0, i16 0, {{.*}}, i64 2, ptr @__ehdr_start, ptr null, i32 0, i32 0 }
; CHECK-LABEL: define void @two(
; CHECK: [[TABLE:%.*]] = phi ptr
; CHECK: [[R:%.*]] = phi i64 [ {{[12]}}, %{{.*}} ], [ {{[12]}}, %{{.*}} ]
; CHECK-NEXT: [[D:%.*]] = call ptr asm sideeffect "leaq ${1:c}(%rip), $0", "=r,i"(ptr @wm1.path.two.
; CHECK-NEXT: call preserve_mostcc void @wm1_path_miss(ptr [[D]], ptr [[TABLE]], i64 [[R]])
define void @two(i1 %c) {
  br i1 %c, label %yes, label %join
yes:
  br label %join
join:
  ret void
}
