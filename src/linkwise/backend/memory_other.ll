; Where a large block comes from and how it goes back: the system's heap.
define internal ptr @system_new(i64 %capacity) {
  %block = call ptr @small_new(i64 %capacity)
  ret ptr %block
}

define internal void @system_free(ptr %block) {
  %raw = load ptr, ptr %block
  call void @free(ptr %raw)
  ret void
}
