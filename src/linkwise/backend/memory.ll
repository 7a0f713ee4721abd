; A block begins with 64 bytes: where the system's piece begins, the bytes of the block, those of the piece. Data follow.
%Slot = type { ptr, i64 }
%State = type { i64, i64, i64, i64, [$SLOTS x %Slot] }
declare ptr @malloc(i64)
declare void @free(ptr)

define internal ptr @small_new(i64 %capacity) {
  %more = add i64 %capacity, 64
  %raw = call ptr @malloc(i64 %more)
  %none = icmp eq ptr %raw, null
  br i1 %none, label %done, label %aligned
aligned:
  %number = ptrtoint ptr %raw to i64
  %up = add i64 %number, 63
  %start = and i64 %up, -64
  %block = inttoptr i64 %start to ptr
  store ptr %raw, ptr %block
  br label %done
done:
  %found = phi ptr [null, %0], [%block, %aligned]
  ret ptr %found
}

define internal i1 @closed(ptr %state) {
  %pair = cmpxchg ptr %state, i64 0, i64 1 acquire monotonic
  %got = extractvalue { i64, i1 } %pair, 1
  %closed = xor i1 %got, true
  ret i1 %closed
}

define internal void @open(ptr %state) {
  store atomic i64 0, ptr %state release, align 8
  ret void
}

; take the piece in slot k out; the lock is held
define internal ptr @remove(ptr %state, i64 %k) {
  %at = getelementptr %State, ptr %state, i64 0, i32 4, i64 %k
  %block = load ptr, ptr %at
  %size_at = getelementptr %Slot, ptr %at, i64 0, i32 1
  %size = load i64, ptr %size_at
  %held_at = getelementptr %State, ptr %state, i64 0, i32 2
  %held = load i64, ptr %held_at
  %rest = sub i64 %held, %size
  store i64 %rest, ptr %held_at
  %count_at = getelementptr %State, ptr %state, i64 0, i32 3
  %count = load i64, ptr %count_at
  %fewer = sub i64 %count, 1
  store i64 %fewer, ptr %count_at
  %behind = getelementptr %Slot, ptr %at, i64 1
  %moved = sub i64 %fewer, %k
  %bytes = mul i64 %moved, 16
  call void @llvm.memmove.p0.p0.i64(ptr %at, ptr %behind, i64 %bytes, i1 false)
  ret ptr %block
}

; the piece that came last of those that are just large enough, or null
define internal ptr @kept(ptr %state, i64 %capacity) {
entry:
  %closed = call i1 @closed(ptr %state)
  br i1 %closed, label %none, label %begin
begin:
  %eighth = lshr i64 %capacity, 3
  %most = add i64 %capacity, %eighth
  %count_at = getelementptr %State, ptr %state, i64 0, i32 3
  %count = load i64, ptr %count_at
  br label %look
look:
  %left = phi i64 [%count, %begin], [%k, %next]
  %k = sub i64 %left, 1
  %over = icmp eq i64 %left, 0
  br i1 %over, label %nothing, label %next
next:
  %size_at = getelementptr %State, ptr %state, i64 0, i32 4, i64 %k, i32 1
  %size = load i64, ptr %size_at
  %enough = icmp uge i64 %size, %capacity
  %small = icmp ule i64 %size, %most
  %fits = and i1 %enough, %small
  br i1 %fits, label %found, label %look
found:
  %block = call ptr @remove(ptr %state, i64 %k)
  call void @open(ptr %state)
  ret ptr %block
nothing:
  call void @open(ptr %state)
  ret ptr null
none:
  ret ptr null
}

; keep a large block; what came first makes room
define internal void @keep(ptr %state, ptr %block, i64 %capacity) {
entry:
  %limit_at = getelementptr %State, ptr %state, i64 0, i32 1
  %limit = load i64, ptr %limit_at
  %beyond = icmp sgt i64 %capacity, %limit
  br i1 %beyond, label %away, label %try
try:
  %closed = call i1 @closed(ptr %state)
  br i1 %closed, label %away, label %room
away:
  call void @system_free(ptr %block)
  ret void
room:
  %rest = sub i64 %limit, %capacity
  call void @shrink(ptr %state, i64 %rest, i64 $SLOTS_LESS_1)
  %held_at = getelementptr %State, ptr %state, i64 0, i32 2
  %held = load i64, ptr %held_at
  %more = add i64 %held, %capacity
  store i64 %more, ptr %held_at
  %count_at = getelementptr %State, ptr %state, i64 0, i32 3
  %count = load i64, ptr %count_at
  %at = getelementptr %State, ptr %state, i64 0, i32 4, i64 %count
  store ptr %block, ptr %at
  %size_at = getelementptr %Slot, ptr %at, i64 0, i32 1
  store i64 %capacity, ptr %size_at
  %next = add i64 %count, 1
  store i64 %next, ptr %count_at
  call void @open(ptr %state)
  ret void
}

; give the oldest pieces back until so many bytes and pieces are left; the lock is held
define internal void @shrink(ptr %state, i64 %bytes, i64 %pieces) {
entry:
  %held_at = getelementptr %State, ptr %state, i64 0, i32 2
  %count_at = getelementptr %State, ptr %state, i64 0, i32 3
  br label %look
look:
  %held = load i64, ptr %held_at
  %much = icmp sgt i64 %held, %bytes
  %count = load i64, ptr %count_at
  %many = icmp sgt i64 %count, %pieces
  %either = or i1 %much, %many
  br i1 %either, label %drop, label %done
drop:
  %oldest = call ptr @remove(ptr %state, i64 0)
  call void @system_free(ptr %oldest)
  br label %look
done:
  ret void
}

define i64 @memory_release(ptr %state, i64 %bytes) {
  %closed = call i1 @closed(ptr %state)
  br i1 %closed, label %done, label %go
go:
  call void @shrink(ptr %state, i64 %bytes, i64 $SLOTS)
  call void @open(ptr %state)
  br label %done
done:
  %found = zext i1 %closed to i64
  ret i64 %found
}

define ptr @memory_new(ptr %state, i64 %size) {
entry:
  %senseless = icmp ugt i64 %size, 4611686018427387904
  br i1 %senseless, label %none, label %sized
sized:
  %large = icmp uge i64 %size, $LARGE
  %more = add i64 %size, 4159
  %pages = and i64 %more, -4096
  %exact = add i64 %size, 64
  %capacity = select i1 %large, i64 %pages, i64 %exact
  br i1 %large, label %try, label %small
try:
  %kept = call ptr @kept(ptr %state, i64 %capacity)
  %nothing = icmp eq ptr %kept, null
  br i1 %nothing, label %fresh, label %again
again:
  %data = getelementptr i8, ptr %kept, i64 64
  ret ptr %data
fresh:
  %mapped = call ptr @system_new(i64 %capacity)
  br label %new
small:
  %piece = call ptr @small_new(i64 %capacity)
  br label %new
new:
  %block = phi ptr [%mapped, %fresh], [%piece, %small]
  %missing = icmp eq ptr %block, null
  br i1 %missing, label %none, label %good
good:
  %capacity_at = getelementptr i64, ptr %block, i64 1
  store i64 %capacity, ptr %capacity_at
  %first = getelementptr i8, ptr %block, i64 64
  ret ptr %first
none:
  ret ptr null
}

define void @memory_free(ptr %state, ptr %data, i64 %size) {
  %none = icmp eq ptr %data, null
  br i1 %none, label %done, label %go
go:
  %block = getelementptr i8, ptr %data, i64 -64
  %capacity_at = getelementptr i64, ptr %block, i64 1
  %capacity = load i64, ptr %capacity_at
  %large = icmp uge i64 %capacity, $LARGE_BLOCK
  br i1 %large, label %pool, label %small
pool:
  call void @keep(ptr %state, ptr %block, i64 %capacity)
  ret void
small:
  %raw = load ptr, ptr %block
  call void @free(ptr %raw)
  ret void
done:
  ret void
}

define ptr @memory_zeros(ptr %state, i64 %count, i64 %each) {
  %pair = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %count, i64 %each)
  %size = extractvalue { i64, i1 } %pair, 0
  %over = extractvalue { i64, i1 } %pair, 1
  br i1 %over, label %none, label %go
go:
  %data = call ptr @memory_new(ptr %state, i64 %size)
  %missing = icmp eq ptr %data, null
  br i1 %missing, label %none, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %size, i1 false)
  ret ptr %data
none:
  ret ptr null
}

define ptr @memory_resize(ptr %state, ptr %data, i64 %size) {
  %fresh = call ptr @memory_new(ptr %state, i64 %size)
  %missing = icmp eq ptr %fresh, null
  %nothing = icmp eq ptr %data, null
  %stop = or i1 %missing, %nothing
  br i1 %stop, label %done, label %copy
copy:
  %capacity_at = getelementptr i64, ptr %data, i64 -7
  %capacity = load i64, ptr %capacity_at
  %old = sub i64 %capacity, 64
  %less = icmp ult i64 %old, %size
  %bytes = select i1 %less, i64 %old, i64 %size
  call void @llvm.memcpy.p0.p0.i64(ptr %fresh, ptr %data, i64 %bytes, i1 false)
  call void @memory_free(ptr %state, ptr %data, i64 0)
  br label %done
done:
  ret ptr %fresh
}

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
