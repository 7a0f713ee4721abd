; Where a large block comes from and how it goes back: pages of its own, huge ones from a boundary of theirs.
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare i32 @madvise(ptr, i64, i32)

define internal ptr @system_new(i64 %capacity) {
  %is_huge = icmp uge i64 %capacity, $HUGE
  %edge = select i1 %is_huge, i64 $HUGE, i64 0
  %whole = add i64 %capacity, %edge
  %raw = call ptr @mmap(ptr null, i64 %whole, i32 3, i32 $MAP, i32 -1, i64 0)
  %number = ptrtoint ptr %raw to i64
  %failed = icmp eq i64 %number, -1
  br i1 %failed, label %none, label %mapped
none:
  ret ptr null
mapped:
  br i1 %is_huge, label %huge, label %done
huge:
  %up = add i64 %number, $HUGE_LESS_1
  %start = and i64 %up, -$HUGE
  %at = inttoptr i64 %start to ptr
  %advised = call i32 @madvise(ptr %at, i64 %capacity, i32 $HUGE_PAGES)
  br label %done
done:
  %block = phi ptr [%raw, %mapped], [%at, %huge]
  store ptr %raw, ptr %block
  %whole_at = getelementptr i64, ptr %block, i64 2
  store i64 %whole, ptr %whole_at
  ret ptr %block
}

define internal void @system_free(ptr %block) {
  %raw = load ptr, ptr %block
  %whole_at = getelementptr i64, ptr %block, i64 2
  %whole = load i64, ptr %whole_at
  %done = call i32 @munmap(ptr %raw, i64 %whole)
  ret void
}
