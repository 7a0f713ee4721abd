; Threads, locks and sleep as Windows has them.
declare i32 @GetCurrentProcessId()
declare i32 @SwitchToThread()
declare ptr @CreateThread(ptr, i64, ptr, ptr, i32, ptr)
declare i32 @CloseHandle(ptr)
declare void @AcquireSRWLockExclusive(ptr)
declare void @ReleaseSRWLockExclusive(ptr)
declare i32 @SleepConditionVariableSRW(ptr, ptr, i32, i32)
declare void @WakeConditionVariable(ptr)

define internal i64 @process() {
  %number = call i32 @GetCurrentProcessId()
  %wide = zext i32 %number to i64
  ret i64 %wide
}

define internal void @pause() {
  %done = call i32 @SwitchToThread()
  ret void
}

; a thread; false where none is to be had
define internal i1 @start(ptr %pool) {
  %handle = call ptr @CreateThread(ptr null, i64 0, ptr @worker, ptr %pool, i32 0, ptr null)
  %good = icmp ne ptr %handle, null
  br i1 %good, label %begun, label %done
begun:
  %closed = call i32 @CloseHandle(ptr %handle)
  br label %done
done:
  ret i1 %good
}

define internal void @prepare(ptr %lock, ptr %bed, ptr %seat) {
  store i64 0, ptr %lock
  store i64 0, ptr %bed
  store i64 0, ptr %seat
  ret void
}

define internal void @lock(ptr %lock) {
  call void @AcquireSRWLockExclusive(ptr %lock)
  ret void
}

define internal void @unlock(ptr %lock) {
  call void @ReleaseSRWLockExclusive(ptr %lock)
  ret void
}

define internal void @sleep(ptr %bed, ptr %lock) {
  %done = call i32 @SleepConditionVariableSRW(ptr %bed, ptr %lock, i32 -1, i32 0)
  ret void
}

define internal void @wake(ptr %bed) {
  call void @WakeConditionVariable(ptr %bed)
  ret void
}
