; Cores for this process that nothing else uses: those it may have, less those on which others run.
@load_file = internal constant [14 x i8] c"/proc/loadavg\00"
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @open(ptr, i32, ...)
declare i64 @read(i32, ptr, i64)
declare i32 @close(i32)
declare i32 @clock_gettime(i32, ptr)
declare i64 @llvm.ctpop.i64(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; how many threads run on the machine, by a text such as "0.1 0.2 0.3 RUNNING/ALL LAST"; 0 where it does not say
define internal i64 @running(ptr %file) {
entry:
  %text = alloca [64 x i8]
  %number = call i32 (ptr, i32, ...) @open(ptr %file, i32 0)
  %missing = icmp slt i32 %number, 0
  br i1 %missing, label %none, label %opened
opened:
  %count = call i64 @read(i32 %number, ptr %text, i64 64)
  %shut = call i32 @close(i32 %number)
  br label %each
each:
  %k = phi i64 [0, %opened], [%k1, %next]
  %spaces = phi i64 [0, %opened], [%spaces1, %next]
  %value = phi i64 [0, %opened], [%value1, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %look, label %none
look:
  %at = getelementptr i8, ptr %text, i64 %k
  %sign = load i8, ptr %at
  %is_space = icmp eq i8 %sign, 32
  %space = zext i1 %is_space to i64
  %spaces1 = add i64 %spaces, %space
  %there = icmp eq i64 %spaces, 3
  br i1 %there, label %digit, label %next
digit:
  %ends = icmp eq i8 %sign, 47
  br i1 %ends, label %found, label %shift
shift:
  %units = sub i8 %sign, 48
  %is_digit = icmp ult i8 %units, 10
  br i1 %is_digit, label %next_digit, label %none
next_digit:
  %wide = zext i8 %units to i64
  %tens = mul i64 %value, 10
  %sum = add i64 %tens, %wide
  br label %next
next:
  %value1 = phi i64 [%value, %look], [%sum, %next_digit]
  %k1 = add i64 %k, 1
  br label %each
found:
  ret i64 %value
none:
  ret i64 0
}

; how many others run, beside this thread and its workers that are awake
define i64 @others(ptr %file, i64 %awake) {
  %running = call i64 @running(ptr %file)
  %less = sub i64 %running, 1
  %others = sub i64 %less, %awake
  %found = call i64 @llvm.smax.i64(i64 %others, i64 0)
  ret i64 %found
}

; the same, asked again after a while, a longer one where no core was free: asking takes some microseconds
@asked_at = internal global i64 0
@answer = internal global i64 0

define internal i64 @others_lately(i64 %awake) {
  %clock = alloca [2 x i64]
  %told = call i32 @clock_gettime(i32 $COARSE_CLOCK, ptr %clock)
  %seconds = load i64, ptr %clock
  %rest_at = getelementptr i64, ptr %clock, i64 1
  %rest = load i64, ptr %rest_at
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %rest
  %before = load atomic i64, ptr @asked_at monotonic, align 8
  %last = load atomic i64, ptr @answer monotonic, align 8
  %left = sub i64 $CORES, %last
  %busy = icmp sle i64 %left, 1
  %while = select i1 %busy, i64 $WHILE_BUSY, i64 $WHILE_FREE
  %age = sub i64 %now, %before
  %young = icmp ult i64 %age, %while
  br i1 %young, label %known, label %ask
known:
  ret i64 %last
ask:
  %found = call i64 @others(ptr @load_file, i64 %awake)
  store atomic i64 %found, ptr @answer monotonic, align 8
  store atomic i64 %now, ptr @asked_at monotonic, align 8
  ret i64 %found
}

define internal i64 @free_cores(i64 %awake) {
entry:
  %mask = alloca [16 x i64]
  call void @llvm.memset.p0.i64(ptr %mask, i8 0, i64 128, i1 false)
  %known = call i32 @sched_getaffinity(i32 0, i64 128, ptr %mask)
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %each]
  %bits = phi i64 [0, %entry], [%bits1, %each]
  %at = getelementptr i64, ptr %mask, i64 %k
  %word = load i64, ptr %at
  %some = call i64 @llvm.ctpop.i64(i64 %word)
  %bits1 = add i64 %bits, %some
  %k1 = add i64 %k, 1
  %all = icmp eq i64 %k1, 16
  br i1 %all, label %counted, label %each
counted:
  %unknown = icmp eq i64 %bits1, 0
  %allowed = select i1 %unknown, i64 $CORES, i64 %bits1
  %others = call i64 @others_lately(i64 %awake)
  %left = sub i64 $CORES, %others
  %some_left = call i64 @llvm.smax.i64(i64 %left, i64 1)
  %found = call i64 @llvm.umin.i64(i64 %some_left, i64 %allowed)
  ret i64 %found
}
