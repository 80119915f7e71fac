; PASSES: waymark-keep-signatures,deadargelim,waymark-contexts
; LLVM 19's dead argument elimination would change @to's signature and not its musttail call. After the last pass only the user's own list
; of used functions is left, with the image's registration.
target triple = "x86_64-pc-linux-gnu"
; CHECK: @llvm.compiler.used = appending global [3 x ptr] [ptr @own, ptr @wm1.first, ptr @wm1.last], section "llvm.metadata"
@llvm.compiler.used = appending global [1 x ptr] [ptr @own], section "llvm.metadata"
; CHECK: define internal i32 @from(i32
; CHECK: musttail call i32 @to(i32
define internal i32 @from(i32 %n) nounwind {
  %r = musttail call i32 @to(i32 %n)
  ret i32 %r
}
; CHECK: define internal i32 @to(i32
define internal i32 @to(i32 %n) nounwind {
  ret i32 5
}
define internal i32 @own(i32 %n) nounwind {
  ret i32 %n
}
define void @root() nounwind {
  %r = call i32 @from(i32 1)
  ret void
}
