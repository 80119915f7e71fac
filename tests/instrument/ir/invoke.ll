; An invoke is undone on its normal edge only, which is split when others share the destination; a landing pad puts back what
; the function was entered with; a root gets a landing pad for what only passes through it.
; ENV: WAYMARK_COLD=pushes
target triple = "x86_64-pc-linux-gnu"
declare void @foreign()
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define internal i32 @shared(
; CHECK: [[ID:%.*]] = load i64, ptr ID
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK-NEXT: [[HISTORY:%.*]] = load i32, ptr HISTORY
; CHECK-NEXT: br i1 %c, label %call, label %join
; CHECK: invoke void @foreign()
; CHECK-NEXT: to label %[[SPLIT:.*]] unwind label %pad
; CHECK: [[SPLIT]]:
; CHECK-NEXT: END DEFERRED
; CHECK-NEXT: br label %join
; CHECK: join:
; CHECK-NEXT: phi i32 [ 0, %entry ], [ 1, %[[SPLIT]] ], [ 2, %pad ]
; CHECK-NEXT: ret i32
; CHECK: pad:
; CHECK-NEXT: landingpad
; CHECK-NEXT: catch ptr null
; CHECK-NEXT: FORGET DEFERRED
; CHECK-NEXT: store i32 [[HISTORY]], ptr HISTORY
; CHECK-NEXT: store i64 [[ID]], ptr ID
; CHECK-NEXT: store volatile ptr [[TOP]], ptr TOP
; CHECK-NEXT: br label %join
define internal i32 @shared(i1 %c) personality ptr @__gxx_personality_v0 {
entry:
  br i1 %c, label %call, label %join
call:
  invoke void @foreign() to label %join unwind label %pad
join:
  %r = phi i32 [ 0, %entry ], [ 1, %call ], [ 2, %pad ]
  ret i32 %r
pad:
  %e = landingpad { ptr, i32 } catch ptr null
  br label %join
}

; CHECK-LABEL: define internal i32 @own(
; CHECK: invoke i32 @number()
; CHECK-NEXT: to label %good unwind label %pad
; CHECK: good:
; CHECK-NEXT: phi i32
; CHECK-NEXT: END DEFERRED
; CHECK-NEXT: ret i32
define internal i32 @own() personality ptr @__gxx_personality_v0 {
  %n = invoke i32 @number() to label %good unwind label %pad
good:
  %r = phi i32 [ %n, %0 ]
  ret i32 %r
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}
declare i32 @number()

; Does not come back: nothing after it.
; CHECK-LABEL: define internal void @thrower(
; CHECK: unreachable_after:
; CHECK-NEXT: unreachable
define internal void @thrower() personality ptr @__gxx_personality_v0 {
  invoke void @foreign() to label %unreachable_after unwind label %pad
unreachable_after:
  unreachable
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; CHECK-LABEL: define void @root({{.*}} personality
; CHECK: store i64 0, ptr ID
; CHECK-NEXT: [[TOP:%.*]] = load ptr, ptr TOP
; CHECK-NEXT: [[HISTORY:%.*]] = load i32, ptr HISTORY
; CHECK: invoke i32 @shared(i1 %c)
; CHECK: invoke i32 @own()
; CHECK: invoke void @thrower()
; CHECK: landingpad
; CHECK-NEXT: cleanup
; CHECK-NEXT: FORGET DEFERRED
; CHECK-NEXT: store i32 [[HISTORY]], ptr HISTORY
; CHECK-NEXT: store i64 0, ptr ID
; CHECK-NEXT: store volatile ptr [[TOP]], ptr TOP
; CHECK-NEXT: resume
define void @root(i1 %c) {
  %a = call i32 @shared(i1 %c)
  %b = call i32 @own()
  call void @thrower()
  ret void
}
