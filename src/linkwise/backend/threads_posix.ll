; Threads, locks and sleep as POSIX has them.
declare i32 @getpid()
declare i32 @sched_yield()
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)

define internal i64 @process() {
  %number = call i32 @getpid()
  %wide = sext i32 %number to i64
  ret i64 %wide
}

define internal void @pause() {
  %done = call i32 @sched_yield()
  ret void
}

; a thread that no signal reaches; false where none is to be had
define internal i1 @start(ptr %pool) {
  %thread = alloca i64
  %every = alloca [128 x i8]
  %before = alloca [128 x i8]
  %filled = call i32 @sigfillset(ptr %every)
  %closed = call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %every, ptr %before)
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr %pool)
  %opened = call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %before, ptr null)
  %good = icmp eq i32 %failed, 0
  br i1 %good, label %begun, label %done
begun:
  %number = load i64, ptr %thread
  %detached = call i32 @pthread_detach(i64 %number)
  br label %done
done:
  ret i1 %good
}

define internal void @prepare(ptr %lock, ptr %bed, ptr %seat) {
  %a = call i32 @pthread_mutex_init(ptr %lock, ptr null)
  %b = call i32 @pthread_cond_init(ptr %bed, ptr null)
  %c = call i32 @pthread_cond_init(ptr %seat, ptr null)
  ret void
}

define internal void @lock(ptr %lock) {
  %done = call i32 @pthread_mutex_lock(ptr %lock)
  ret void
}

define internal void @unlock(ptr %lock) {
  %done = call i32 @pthread_mutex_unlock(ptr %lock)
  ret void
}

define internal void @sleep(ptr %bed, ptr %lock) {
  %done = call i32 @pthread_cond_wait(ptr %bed, ptr %lock)
  ret void
}

define internal void @wake(ptr %bed) {
  %done = call i32 @pthread_cond_signal(ptr %bed)
  ret void
}
