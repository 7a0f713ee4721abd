; Cores for this process, where the system does not say which of them others use.
@load_file = internal constant [1 x i8] zeroinitializer

define i64 @free_cores(ptr %file, i64 %cores, i64 %awake) {
  ret i64 %cores
}
