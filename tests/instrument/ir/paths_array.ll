; Two ways through a function without calls: the table is looked up once, one way adds to the register, the end counts.
target triple = "x86_64-pc-linux-gnu"
; PASSES: waymark-paths

; CHECK: module asm ".pushsection .debug_waymark_paths,
; CHECK: $[[DESCRIPTOR:wm1.path.two.[0-9a-f]+]] = comdat any
; CHECK: @[[DESCRIPTOR]] = linkonce_odr hidden constant {{.*}} { i32 3, i8 1, i8 0, i16 0, {{.*}}, i64 2, ptr @__ehdr_start, ptr null, i32 2, i32 0 }, comdat, align 8
; CHECK: @[[SLOT:wm1.slot.two.[0-9a-f]+]] = linkonce_odr hidden thread_local(localexec) global ptr null, comdat($[[DESCRIPTOR]]), align 8
; CHECK: @wm1.slot = internal thread_local(localexec) global ptr null, align 8
; CHECK: @wm1.path = internal constant [6 x { {{.*}} }] [{ {{.*}} i64 2, ptr @__ehdr_start, ptr null, i32 2, i32 5 }, { {{.*}} i64 1, ptr @__ehdr_start, ptr null, i32 1, i32 0 }, {

; CHECK-LABEL: define linkonce_odr i32 @two(
; CHECK: %room = alloca i32
; CHECK-NEXT: %{{.*}} = alloca i64, align 8
; CHECK-NEXT: [[OLD:%.*]] = load ptr, ptr @[[SLOT]], align 8, !tbaa
; CHECK-NEXT: [[NONE:%.*]] = icmp eq ptr [[OLD]], null
; CHECK-NEXT: br i1 [[NONE]], label %[[ENTER:.*]], label %[[GO:.*]], !prof
; CHECK: [[ENTER]]:
; CHECK-NEXT: [[NEW:%.*]] = call preserve_mostcc ptr @wm1.enter.two.{{[0-9a-f]+}}()
; CHECK-NEXT: br label %[[GO]]
; CHECK: [[GO]]:
; CHECK-NEXT: [[TABLE:%.*]] = phi ptr [ [[OLD]], %{{.*}} ], [ [[NEW]], %[[ENTER]] ]
; CHECK-NEXT: call void asm "incq $0", "=*m,*m,~{dirflag},~{fpsr},~{flags}"(ptr elementtype(i64) [[TABLE]], ptr elementtype(i64) [[TABLE]])
; CHECK: join:
; CHECK-NEXT: [[R:%.*]] = phi i64 [ {{[01]}}, %{{.*}} ], [ {{[01]}}, %{{.*}} ]
; CHECK: [[AT:%.*]] = getelementptr i64, ptr [[TABLE]], i64 [[R]]
; CHECK-NEXT: [[WORD:%.*]] = getelementptr i8, ptr [[AT]], i64 16
; CHECK-NEXT: call void asm "incq $0", {{.*}}(ptr elementtype(i64) [[WORD]], ptr elementtype(i64) [[WORD]])
; CHECK-NEXT: ret i32

; ASM-LABEL: two:
; ASM: movq %fs:wm1.slot.two.{{[0-9a-f]+}}@TPOFF, %[[T:r..]]
; ASM-NEXT: testq %[[T]], %[[T]]
; ASM-NEXT: je
; ASM: incq (%[[T]])
; ASM-NOT: wm1.slot
; ASM: incq 16(%[[T]],%{{r..}},8)
; ASM: retq
define linkonce_odr i32 @two(i1 %c) {
  %room = alloca i32
  store i32 1, ptr %room
  %more = alloca i64
  br i1 %c, label %yes, label %join
yes:
  store i32 2, ptr %room
  br label %join
join:
  %v = load i32, ptr %room
  ret i32 %v
}

; What is only here shares a slot. With calls in between it is loaded again, for that is one instruction.
; CHECK-LABEL: define internal void @local(
; CHECK-NEXT: [[OLD:%.*]] = load ptr, ptr @wm1.slot, align 8, !tbaa
; CHECK: [[NEW:%.*]] = call preserve_mostcc nonnull ptr @wm1.enter() #[[ENTER:[0-9]+]]
; CHECK-NEXT: store ptr [[NEW]], ptr @wm1.slot, align 8, !tbaa
; CHECK: call void @two(
; CHECK-NEXT: [[AGAIN:%.*]] = load ptr, ptr @wm1.slot, align 8, !tbaa !{{[0-9]+}}, !nonnull
; CHECK-NEXT: [[WORD:%.*]] = getelementptr i8, ptr [[AGAIN]], i64 {{16|24}}
; CHECK-NEXT: call void asm "incq $0", {{.*}}(ptr elementtype(i64) [[WORD]]
; CHECK-NEXT: ret void
define internal void @local(i1 %c) {
  br i1 %c, label %yes, label %no
yes:
  call void @two(i1 false)
  ret void
no:
  ret void
}

; One path and nothing that may stop it: counted at the entry, nothing else.
; CHECK-LABEL: define void @one(
; Its record comes after that of @local, of 64 bytes and 4 words.
; CHECK: phi ptr
; CHECK-NEXT: getelementptr i8, ptr {{.*}}, i64 112
; CHECK-NEXT: call void asm "incq $0"
; CHECK-NEXT: ret void
define void @one() {
  ret void
}

; Loads that may fault are like calls: the path has not ended where it began.
; CHECK-LABEL: define i32 @faults(
; CHECK: call void asm "incq $0"
; CHECK: call void asm "incq $0"
; CHECK-NEXT: ret i32
define i32 @faults(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK-LABEL: define i32 @computes(
; CHECK-COUNT-1: incq
; CHECK-NOT: incq
; CHECK: ret i32
define i32 @computes(i32 %n) {
  %room = alloca [4 x i32]
  %at = getelementptr i32, ptr %room, i64 3
  store i32 %n, ptr %at
  %v = load i32, ptr %at
  %w = udiv i32 %v, 7
  ret i32 %w
}

; CHECK-LABEL: define i32 @divides(
; CHECK-COUNT-2: incq
; CHECK: ret i32
define i32 @divides(i32 %n) {
  %v = udiv i32 7, %n
  ret i32 %v
}

; One path, but what it calls may not return: begun and ended are two counts.
; CHECK-LABEL: define void @calls(
; CHECK: call void asm "incq $0"
; CHECK-NEXT: call void @one()
; CHECK: call void asm "incq $0"
; CHECK-NEXT: ret void
define void @calls() {
  call void @one()
  ret void
}

; CHECK-LABEL: define linkonce_odr hidden preserve_mostcc ptr @wm1.enter.two.
; CHECK: tail call preserve_mostcc ptr @wm1_path_enter(ptr @[[DESCRIPTOR]], ptr @[[SLOT]])
; CHECK-LABEL: define internal preserve_mostcc ptr @wm1.enter()
; CHECK: call preserve_mostcc ptr @wm1_path_enter(ptr @wm1.path, ptr %
; CHECK: attributes #[[ENTER]] = { memory(inaccessiblemem: readwrite) "call-inline-cost"="-15" }
