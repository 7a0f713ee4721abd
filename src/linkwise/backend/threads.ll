; The rows of one batch among several threads. Whoever is free takes the next piece of them, the caller among them.
;
; A pool belongs to one call at a time. Its owner writes the job, opens the gate and moves the turn on; workers see the
; turn, pass the gate, take pieces and leave; the owner takes pieces too, closes the gate, and waits until nobody is
; inside. Workers that come late find it closed. Owners are known by their process: a child of a fork, which has none of
; its parent's threads, finds a pool of another process and begins it anew, whatever was going on there.
%Job = type {
  ptr, ptr, ptr, ptr,  ; 0 what is known of the kernel, 1 arguments, 2 widths, 3 strides
  i64, i64, i64, i64,  ; 4 rows, 5 the first that nobody has taken, 6 threads, 7 rows of a piece at least
  [2 x i64],           ; 8 what loops are told: whether one of them found no memory, and how many rows there are in all
  [64 x i8]            ; 9 how the caller rounds
}
%Pool = type {
  i64, i64, i64, i64,  ; 0 process of the owner, 1 process of the workers, 2 how many they are, 3 those not asleep
  i64, i64,            ; 4 turn, 5 gate: how many are inside, and whether it is open
  %Job,                ; 6
  [128 x i8], [128 x i8], [128 x i8]  ; 7 lock, 8 where workers sleep, 9 where the owner does
}
@pools = internal global [$POOLS x %Pool] zeroinitializer, align 64

declare i32 @PyGILState_Ensure()
declare ptr @PyErr_NoMemory()
declare void @PyGILState_Release(i32)
declare i32 @fegetenv(ptr)
declare i32 @fesetenv(ptr)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; a pool that no other call of this process has, or null
define internal ptr @take() {
entry:
  %process = call i64 @process()
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %next]
  %more = icmp ult i64 %k, $POOLS
  br i1 %more, label %one, label %none
one:
  %pool = getelementptr [$POOLS x %Pool], ptr @pools, i64 0, i64 %k
  %owner = load atomic i64, ptr %pool monotonic, align 8
  %busy = icmp eq i64 %owner, %process
  br i1 %busy, label %next, label %try
try:
  %pair = cmpxchg ptr %pool, i64 %owner, i64 %process acquire monotonic
  %got = extractvalue { i64, i1 } %pair, 1
  br i1 %got, label %mine, label %next
next:
  %k1 = add i64 %k, 1
  br label %each
mine:
  %workers_of_at = getelementptr %Pool, ptr %pool, i64 0, i32 1
  %workers_of = load i64, ptr %workers_of_at
  %known = icmp eq i64 %workers_of, %process
  br i1 %known, label %done, label %renew
renew:
  store i64 %process, ptr %workers_of_at
  %count_at = getelementptr %Pool, ptr %pool, i64 0, i32 2
  store i64 0, ptr %count_at
  %awake_at = getelementptr %Pool, ptr %pool, i64 0, i32 3
  store i64 0, ptr %awake_at
  %turn_at = getelementptr %Pool, ptr %pool, i64 0, i32 4
  store i64 0, ptr %turn_at
  %gate_at = getelementptr %Pool, ptr %pool, i64 0, i32 5
  store i64 0, ptr %gate_at
  %lock = getelementptr %Pool, ptr %pool, i64 0, i32 7
  %bed = getelementptr %Pool, ptr %pool, i64 0, i32 8
  %seat = getelementptr %Pool, ptr %pool, i64 0, i32 9
  call void @prepare(ptr %lock, ptr %bed, ptr %seat)
  br label %done
done:
  ret ptr %pool
none:
  ret ptr null
}

; begin threads until there are so many beside the caller; how many there are, at most as many
define internal i64 @staff(ptr %pool, i64 %wanted) {
entry:
  %count_at = getelementptr %Pool, ptr %pool, i64 0, i32 2
  br label %look
look:
  %count = load i64, ptr %count_at
  %few = icmp ult i64 %count, %wanted
  br i1 %few, label %hire, label %done
hire:
  %begun = call i1 @start(ptr %pool)
  br i1 %begun, label %more, label %done
more:
  %count1 = add i64 %count, 1
  store i64 %count1, ptr %count_at
  br label %look
done:
  %found = call i64 @llvm.umin.i64(i64 %count, i64 %wanted)
  ret i64 %found
}

; take pieces and do them, as long as there are any; the first ones are large
define internal void @work(ptr %job) {
entry:
  %about = load ptr, ptr %job
  %args_at = getelementptr %Job, ptr %job, i64 0, i32 1
  %args = load ptr, ptr %args_at
  %widths_at = getelementptr %Job, ptr %job, i64 0, i32 2
  %widths = load ptr, ptr %widths_at
  %strides_at = getelementptr %Job, ptr %job, i64 0, i32 3
  %strides = load ptr, ptr %strides_at
  %rows_at = getelementptr %Job, ptr %job, i64 0, i32 4
  %rows = load i64, ptr %rows_at
  %next_at = getelementptr %Job, ptr %job, i64 0, i32 5
  %threads_at = getelementptr %Job, ptr %job, i64 0, i32 6
  %threads = load i64, ptr %threads_at
  %parts = mul i64 %threads, 2
  %least_at = getelementptr %Job, ptr %job, i64 0, i32 7
  %least = load i64, ptr %least_at
  %told = getelementptr %Job, ptr %job, i64 0, i32 8
  %loop_at = getelementptr i64, ptr %about, i64 $LOOP
  %loop = load ptr, ptr %loop_at
  %ports_at = getelementptr i64, ptr %about, i64 $PORTS
  %ports = load i64, ptr %ports_at
  %axes_at = getelementptr i64, ptr %about, i64 $AXES
  %axes = load i64, ptr %axes_at
  %lanes_at = getelementptr i64, ptr %about, i64 $LANES
  %lanes = load i64, ptr %lanes_at
  %round = sub i64 %lanes, 1
  %mine = alloca ptr, i64 %ports
  %own = alloca i64, i64 %axes
  %bytes = mul i64 %axes, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %own, ptr %widths, i64 %bytes, i1 false)
  br label %look
look:
  %at = load atomic i64, ptr %next_at monotonic, align 8
  %left = sub i64 %rows, %at
  %over = icmp eq i64 %left, 0
  br i1 %over, label %done, label %choose
choose:
  %share = udiv i64 %left, %parts
  %size = call i64 @llvm.umax.i64(i64 %share, i64 %least)
  %beyond = add i64 %size, %round
  %rest = urem i64 %beyond, %lanes
  %whole = sub i64 %beyond, %rest
  %count = call i64 @llvm.umin.i64(i64 %whole, i64 %left)
  %end = add i64 %at, %count
  %pair = cmpxchg ptr %next_at, i64 %at, i64 %end monotonic monotonic
  %got = extractvalue { i64, i1 } %pair, 1
  br i1 %got, label %point, label %look
point:
  %j = phi i64 [0, %choose], [%j1, %point]
  %from_at = getelementptr ptr, ptr %args, i64 %j
  %from = load ptr, ptr %from_at
  %stride_at = getelementptr i64, ptr %strides, i64 %j
  %stride = load i64, ptr %stride_at
  %offset = mul i64 %at, %stride
  %first = getelementptr i8, ptr %from, i64 %offset
  %to = getelementptr ptr, ptr %mine, i64 %j
  store ptr %first, ptr %to
  %j1 = add i64 %j, 1
  %all = icmp eq i64 %j1, %ports
  br i1 %all, label %go, label %point
go:
  store i64 %count, ptr %own
  call void %loop(ptr %mine, ptr %own, ptr %strides, ptr %told)
  br label %look
done:
  ret void
}

; whether a worker is let in
define internal i1 @enter(ptr %pool) {
entry:
  %gate = getelementptr %Pool, ptr %pool, i64 0, i32 5
  %threads_at = getelementptr %Pool, ptr %pool, i64 0, i32 6, i32 6
  br label %look
look:
  %now = load atomic i64, ptr %gate acquire, align 8
  %closed = icmp ult i64 %now, $OPEN
  br i1 %closed, label %no, label %count
count:
  %others = sub i64 %now, $OPEN
  %with_owner = add i64 %others, 1
  %threads = load atomic i64, ptr %threads_at monotonic, align 8
  %full = icmp uge i64 %with_owner, %threads
  br i1 %full, label %no, label %try
try:
  %more = add i64 %now, 1
  %pair = cmpxchg ptr %gate, i64 %now, i64 %more acquire monotonic
  %got = extractvalue { i64, i1 } %pair, 1
  br i1 %got, label %yes, label %look
yes:
  ret i1 true
no:
  ret i1 false
}

; what a worker does all its life: it looks for a new turn for a while, then sleeps until it is woken
define internal ptr @worker(ptr %pool) {
entry:
  %turn_at = getelementptr %Pool, ptr %pool, i64 0, i32 4
  %gate = getelementptr %Pool, ptr %pool, i64 0, i32 5
  %awake_at = getelementptr %Pool, ptr %pool, i64 0, i32 3
  %job = getelementptr %Pool, ptr %pool, i64 0, i32 6
  %rounding = getelementptr %Job, ptr %job, i64 0, i32 9
  %lock = getelementptr %Pool, ptr %pool, i64 0, i32 7
  %bed = getelementptr %Pool, ptr %pool, i64 0, i32 8
  %seat = getelementptr %Pool, ptr %pool, i64 0, i32 9
  %begun = atomicrmw add ptr %awake_at, i64 1 monotonic
  br label %wait
wait:
  %seen = phi i64 [0, %entry], [%turn, %enter], [%turn, %leave], [%turn, %last]
  br label %look
look:
  %k = phi i64 [0, %wait], [%k1, %idle]
  %glance = load atomic i64, ptr %turn_at acquire, align 8
  %new = icmp ne i64 %glance, %seen
  br i1 %new, label %enter, label %idle
idle:
  call void @pause()
  %k1 = add i64 %k, 1
  %tired = icmp ugt i64 %k1, $PATIENCE
  br i1 %tired, label %retire, label %look
retire:
  %asleep = atomicrmw sub ptr %awake_at, i64 1 monotonic
  call void @lock(ptr %lock)
  br label %dream
dream:
  %called = load atomic i64, ptr %turn_at acquire, align 8
  %same = icmp eq i64 %called, %seen
  br i1 %same, label %sleep, label %rise
sleep:
  call void @sleep(ptr %bed, ptr %lock)
  br label %dream
rise:
  call void @unlock(ptr %lock)
  %awake = atomicrmw add ptr %awake_at, i64 1 monotonic
  br label %enter
enter:
  %turn = phi i64 [%glance, %look], [%called, %rise]
  %inside = call i1 @enter(ptr %pool)
  br i1 %inside, label %inside_it, label %wait
inside_it:
  %set = call i32 @fesetenv(ptr %rounding)
  call void @work(ptr %job)
  br label %leave
leave:
  %before = atomicrmw sub ptr %gate, i64 1 acq_rel
  %empty = icmp eq i64 %before, 1
  br i1 %empty, label %last, label %wait
last:
  call void @lock(ptr %lock)
  call void @wake(ptr %seat)
  call void @unlock(ptr %lock)
  br label %wait
}

; open the gate to workers, and wake so many
define internal void @begin(ptr %pool, i64 %workers) {
entry:
  %gate = getelementptr %Pool, ptr %pool, i64 0, i32 5
  %turn_at = getelementptr %Pool, ptr %pool, i64 0, i32 4
  %lock = getelementptr %Pool, ptr %pool, i64 0, i32 7
  %bed = getelementptr %Pool, ptr %pool, i64 0, i32 8
  call void @lock(ptr %lock)
  store atomic i64 $OPEN, ptr %gate release, align 8
  %turn = load i64, ptr %turn_at
  %next = add i64 %turn, 1
  store atomic i64 %next, ptr %turn_at release, align 8
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %each]
  call void @wake(ptr %bed)
  %k1 = add i64 %k, 1
  %all = icmp uge i64 %k1, %workers
  br i1 %all, label %done, label %each
done:
  call void @unlock(ptr %lock)
  ret void
}

; close the gate, and wait until all workers are out
define internal void @end(ptr %pool) {
entry:
  %gate = getelementptr %Pool, ptr %pool, i64 0, i32 5
  %lock = getelementptr %Pool, ptr %pool, i64 0, i32 7
  %seat = getelementptr %Pool, ptr %pool, i64 0, i32 9
  %closed = atomicrmw and ptr %gate, i64 $INSIDE acq_rel
  br label %look
look:
  %k = phi i64 [0, %entry], [%k1, %idle]
  %inside = load atomic i64, ptr %gate acquire, align 8
  %empty = icmp eq i64 %inside, 0
  br i1 %empty, label %done, label %idle
idle:
  call void @pause()
  %k1 = add i64 %k, 1
  %tired = icmp ugt i64 %k1, $PATIENCE
  br i1 %tired, label %retire, label %look
retire:
  call void @lock(ptr %lock)
  br label %dream
dream:
  %still = load atomic i64, ptr %gate acquire, align 8
  %over = icmp eq i64 %still, 0
  br i1 %over, label %rise, label %sleep
sleep:
  call void @sleep(ptr %seat, ptr %lock)
  br label %dream
rise:
  call void @unlock(ptr %lock)
  br label %done
done:
  ret void
}

; a loop as NumPy calls it, whose data are what is known of the kernel
define void @shared(ptr %args, ptr %widths, ptr %strides, ptr %about) {
entry:
  %loop_at = getelementptr i64, ptr %about, i64 $LOOP
  %loop = load ptr, ptr %loop_at
  %rows = load i64, ptr %widths
  %steps_axis_at = getelementptr i64, ptr %about, i64 $STEPS
  %steps_axis = load i64, ptr %steps_axis_at
  %repeated = icmp ne i64 %steps_axis, 0
  %steps_at = getelementptr i64, ptr %widths, i64 %steps_axis
  %steps = load i64, ptr %steps_at
  %times = select i1 %repeated, i64 %steps, i64 1
  %size = mul i64 %rows, %times
  %share_at = getelementptr i64, ptr %about, i64 $SHARE
  %share = load i64, ptr %share_at
  %shares = udiv i64 %size, %share
  %sensible = call i64 @llvm.umin.i64(i64 %shares, i64 %rows)
  %several = icmp ugt i64 %sensible, 1
  br i1 %several, label %ask, label %alone
ask:
  %pool = call ptr @take()
  %none = icmp eq ptr %pool, null
  br i1 %none, label %alone, label %count
count:
  %threads_at = getelementptr i64, ptr %about, i64 $THREADS
  %threads = load i64, ptr %threads_at
  %auto = icmp eq i64 %threads, 0
  br i1 %auto, label %free, label %chosen
free:
  %awake_at = getelementptr %Pool, ptr %pool, i64 0, i32 3
  %awake = load atomic i64, ptr %awake_at monotonic, align 8
  %cores = call i64 @free_cores(i64 %awake)
  br label %chosen
chosen:
  %allowed = phi i64 [%threads, %count], [%cores, %free]
  %wanted = call i64 @llvm.umin.i64(i64 %sensible, i64 %allowed)
  %others = sub i64 %wanted, 1
  %workers = call i64 @staff(ptr %pool, i64 %others)
  %nobody = icmp eq i64 %workers, 0
  br i1 %nobody, label %give_back, label %share_out
give_back:
  store atomic i64 0, ptr %pool release, align 8
  br label %alone
alone:
  call void %loop(ptr %args, ptr %widths, ptr %strides, ptr null)
  ret void
share_out:
  %job = getelementptr %Pool, ptr %pool, i64 0, i32 6
  store ptr %about, ptr %job
  %args_at = getelementptr %Job, ptr %job, i64 0, i32 1
  store ptr %args, ptr %args_at
  %widths_at = getelementptr %Job, ptr %job, i64 0, i32 2
  store ptr %widths, ptr %widths_at
  %strides_at = getelementptr %Job, ptr %job, i64 0, i32 3
  store ptr %strides, ptr %strides_at
  %rows_at = getelementptr %Job, ptr %job, i64 0, i32 4
  store i64 %rows, ptr %rows_at
  %next_at = getelementptr %Job, ptr %job, i64 0, i32 5
  store i64 0, ptr %next_at
  %all = add i64 %workers, 1
  %all_at = getelementptr %Job, ptr %job, i64 0, i32 6
  store atomic i64 %all, ptr %all_at monotonic, align 8
  %piece_at = getelementptr i64, ptr %about, i64 $PIECE
  %piece = load i64, ptr %piece_at
  %few = udiv i64 %piece, %times
  %parts = mul i64 %all, 2
  %part = udiv i64 %rows, %parts
  %smaller = call i64 @llvm.umin.i64(i64 %few, i64 %part)
  %least = call i64 @llvm.umax.i64(i64 %smaller, i64 1)
  %least_at = getelementptr %Job, ptr %job, i64 0, i32 7
  store i64 %least, ptr %least_at
  %refused_at = getelementptr %Job, ptr %job, i64 0, i32 8
  store i64 0, ptr %refused_at
  %told_rows_at = getelementptr %Job, ptr %job, i64 0, i32 8, i64 1
  store i64 %rows, ptr %told_rows_at
  %rounding = getelementptr %Job, ptr %job, i64 0, i32 9
  %saved = call i32 @fegetenv(ptr %rounding)
  call void @begin(ptr %pool, i64 %workers)
  call void @work(ptr %job)
  call void @end(ptr %pool)
  %refused = load i64, ptr %refused_at
  store atomic i64 0, ptr %pool release, align 8
  %bad = icmp ne i64 %refused, 0
  br i1 %bad, label %refuse, label %done
refuse:
  %held = call i32 @PyGILState_Ensure()
  %error = call ptr @PyErr_NoMemory()
  call void @PyGILState_Release(i32 %held)
  br label %done
done:
  ret void
}
