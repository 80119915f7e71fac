; More paths than arrays are for: pairs of number + 1 and count, by a hash.
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-paths
; ENV: WAYMARK_PATHS_ARRAY=1

; CHECK: @wm1.path.four.{{[0-9a-f]+}} = {{.*}} { i32 3, i8 2, i8 8, i16 0, {{.*}}, i64 4, ptr @__ehdr_start, ptr null, i32 256, i32 0 }
; CHECK-LABEL: define void @four(
; CHECK: [[TABLE:%.*]] = phi ptr
; CHECK: out:
; CHECK-NEXT: [[R:%.*]] = phi i64
; CHECK-NEXT: [[HASH:%.*]] = mul i64 [[R]], -7046029254386353131
; CHECK-NEXT: [[INDEX:%.*]] = lshr i64 [[HASH]], 56
; CHECK-NEXT: [[OFF:%.*]] = shl i64 [[INDEX]], 4
; CHECK-NEXT: [[PAIR:%.*]] = getelementptr i8, ptr [[TABLE]], i64 [[OFF]]
; CHECK-NEXT: [[AT:%.*]] = getelementptr i8, ptr [[PAIR]], i64 16
; CHECK-NEXT: [[CHECK:%.*]] = load i64, ptr [[AT]], align 8, !tbaa
; CHECK-NEXT: [[HIT:%.*]] = icmp eq i64 [[CHECK]], [[R]]
; CHECK-NEXT: br i1 [[HIT]], label %[[YES:.*]], label %[[NO:.*]], !prof
; CHECK: [[YES]]:
; CHECK-NEXT: [[WORD:%.*]] = getelementptr i8, ptr [[PAIR]], i64 24
; CHECK-NEXT: call void asm "incq $0", {{.*}}(ptr elementtype(i64) [[WORD]]
; CHECK: [[NO]]:
; CHECK-NEXT: [[D:%.*]] = call ptr asm sideeffect "leaq ${1:c}(%rip), $0", "=r,i"(ptr @wm1.path.four.
; CHECK-NEXT: call preserve_mostcc void @wm1_path_miss(ptr [[D]], ptr [[TABLE]], i64 [[R]])
define void @four(i1 %c, i1 %d) {
  br i1 %c, label %yes, label %join
yes:
  br label %join
join:
  br i1 %d, label %more, label %out
more:
  br label %out
out:
  ret void
}

; Where the register is one of two constants the places of the pairs are constants too.
; CHECK-LABEL: define void @two(
; CHECK: join:
; CHECK-NEXT: [[OFF:%.*]] = phi i64 [ [[A:[0-9]+]], %{{.*}} ], [ [[B:[0-9]+]], %{{.*}} ]
; CHECK-NEXT: [[R:%.*]] = phi i64 [ {{[12]}}, %{{.*}} ], [ {{[12]}}, %{{.*}} ]
; CHECK-NOT: mul
; CHECK: getelementptr i8, ptr %{{.*}}, i64 [[OFF]]
; CHECK: icmp eq i64 %{{.*}}, [[R]]
; CHECK: call preserve_mostcc void @wm1_path_miss(
define void @two(i1 %c) {
  br i1 %c, label %yes, label %join
yes:
  br label %join
join:
  ret void
}
