; A plan: `hot` and `hotter` have pairs for their paths, `cold` none, so that all of their paths are residual. With contexts, residual paths
; are capture points.
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-paths,waymark-contexts
; ENV: WAYMARK_CONTEXTS=1 WAYMARK_PATHS_PLAN=@DIR@/plan_hot.txt

; CHECK: @wm1.check.hot.{{[0-9a-f]+}} = {{.*}} constant [4 x i64] [i64 {{[^0].*}}, i64 {{[^0].*}}, i64 {{[^0].*}}, i64 {{[^0].*}}]
; CHECK: @wm1.path.hot.{{[0-9a-f]+}} = {{.*}} { i32 3, i8 3, i8 2, {{.*}}, i64 4, ptr @__ehdr_start, ptr @wm1.check.hot.
; CHECK: @wm1.path.cold.{{[0-9a-f]+}} = {{.*}} { i32 3, i8 3, i8 0,

; CHECK-LABEL: define void @hot(
; CHECK: [[OFF:%.*]] = lshr i64 [[R:%.*]], 58
; CHECK: getelementptr i8, ptr %{{.*}}, i64 [[OFF]]
; CHECK: icmp eq i64 %{{.*}}, [[R]]
; CHECK: call void asm "incq $0"
; CHECK: asm sideeffect "leaq
; CHECK: call preserve_mostcc void @wm1_path_residual(ptr %{{.*}}, ptr %{{.*}}, i64 [[R]], i32 1)
define void @hot(i1 %c, i1 %d) {
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

; Where both paths are in the plan there is nothing to check.
; CHECK-LABEL: define void @hotter(
; CHECK: join:
; CHECK: phi i64 [ {{0|16}}, %{{.*}} ], [ {{0|16}}, %{{.*}} ]
; CHECK-NOT: wm1.hit
; CHECK-NOT: wm1_path_residual
; CHECK: ret void
define void @hotter(i1 %c) {
  br i1 %c, label %yes, label %join
yes:
  br label %join
join:
  ret void
}

; CHECK-LABEL: define void @cold(
; CHECK-NOT: wm1.hit
; CHECK: call preserve_mostcc void @wm1_path_residual(ptr %{{.*}}, ptr %{{.*}}, i64 1, i32
define void @cold() {
  call void @hot(i1 true, i1 true)
  ret void
}
