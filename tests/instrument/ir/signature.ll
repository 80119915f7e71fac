; PASSES: waymark-keep-signatures
; What musttails or is called so is kept from dead argument elimination, by the list that the last pass undoes (signature-end.ll).
target triple = "x86_64-pc-linux-gnu"
; CHECK: @llvm.compiler.used = appending global [3 x ptr] [ptr @own, ptr @from, ptr @to], section "llvm.metadata"
@llvm.compiler.used = appending global [1 x ptr] [ptr @own], section "llvm.metadata"
; CHECK: define internal i32 @from(i32 %n) #[[KEPT:[0-9]+]]
define internal i32 @from(i32 %n) {
  %r = musttail call i32 @to(i32 %n)
  ret i32 %r
}
; CHECK: define internal i32 @to(i32 %n) #[[KEPT]]
define internal i32 @to(i32 %n) {
  ret i32 5
}
; CHECK: define internal i32 @own(i32 %n) {
define internal i32 @own(i32 %n) {
  %r = musttail call i32 @outside(i32 %n)
  ret i32 %r
}
declare i32 @outside(i32)
; CHECK: define internal i32 @plain() {
define internal i32 @plain() {
  %r = tail call i32 @from(i32 1)
  ret i32 %r
}
; CHECK: attributes #[[KEPT]] = { "wm1-keeps-signature" }
