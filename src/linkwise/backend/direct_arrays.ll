; What a call knows: data, widths and strides, which a loop takes; the number of ports seen, where the next core strides
; go, batch axes, rows, steps (-1 if not known), the shape of the batch, and what is known of the next port.
%Call = type {
  [$PORTS x ptr], [$WIDTHS x i64], [$STEPS x i64],
  i64, i64, i64, i64, i64, ptr, ptr
}

; whether an array is one of NumPy's own, of aligned floats, with these flags too
define internal i1 @plain(ptr %about, ptr %array, i32 %flags) {
entry:
  %type_at = getelementptr i8, ptr %array, i64 $TYPE
  %type = load ptr, ptr %type_at
  %wanted_at = getelementptr i64, ptr %about, i64 $ARRAY
  %wanted = load ptr, ptr %wanted_at
  %is_array = icmp eq ptr %type, %wanted
  br i1 %is_array, label %typed, label %no
typed:
  %dtype_at = getelementptr i8, ptr %array, i64 $DTYPE
  %dtype = load ptr, ptr %dtype_at
  %kind_at = getelementptr i8, ptr %dtype, i64 $KIND
  %kind = load i64, ptr %kind_at
  %masked = and i64 %kind, $KIND_MASK
  %float_at = getelementptr i64, ptr %about, i64 $FLOAT
  %float = load i64, ptr %float_at
  %is_float = icmp eq i64 %masked, %float
  %flags_at = getelementptr i8, ptr %array, i64 $FLAGS
  %has = load i32, ptr %flags_at
  %needed = or i32 %flags, $ALIGNED
  %both = and i32 %has, %needed
  %has_them = icmp eq i32 %both, %needed
  %good = and i1 %is_float, %has_them
  ret i1 %good
no:
  ret i1 false
}

; whether an array's first axes are those of the batch; the first array with any decides
define internal i1 @batch(ptr %call, ptr %shape, i64 %lead) {
entry:
  %lead_at = getelementptr %Call, ptr %call, i64 0, i32 5
  %known = load i64, ptr %lead_at
  %batch_at = getelementptr %Call, ptr %call, i64 0, i32 8
  %first = icmp eq i64 %known, 0
  br i1 %first, label %begin, label %compare
begin:
  store i64 %lead, ptr %lead_at
  store ptr %shape, ptr %batch_at
  br label %compare
compare:
  %batch = load ptr, ptr %batch_at
  %lead_now = load i64, ptr %lead_at
  %as_many = icmp eq i64 %lead, %lead_now
  br i1 %as_many, label %each, label %no
each:
  %k = phi i64 [0, %compare], [%k1, %same]
  %rows = phi i64 [1, %compare], [%product, %same]
  %more = icmp slt i64 %k, %lead
  br i1 %more, label %axis, label %counted
axis:
  %mine_at = getelementptr i64, ptr %shape, i64 %k
  %mine = load i64, ptr %mine_at
  %theirs_at = getelementptr i64, ptr %batch, i64 %k
  %theirs = load i64, ptr %theirs_at
  %equal = icmp eq i64 %mine, %theirs
  br i1 %equal, label %same, label %no
same:
  %product = mul i64 %rows, %mine
  %k1 = add i64 %k, 1
  br label %each
counted:
  %rows_at = getelementptr %Call, ptr %call, i64 0, i32 6
  store i64 %rows, ptr %rows_at
  ret i1 true
no:
  ret i1 false
}

; whether an array's last axes are those of the next port
define internal i1 @core(ptr %call, ptr %shape) {
entry:
  %next_at = getelementptr %Call, ptr %call, i64 0, i32 9
  %port = load ptr, ptr %next_at
  %rank = load i64, ptr %port
  %widths = getelementptr i64, ptr %port, i64 1
  %steps_at = getelementptr %Call, ptr %call, i64 0, i32 7
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %fits]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %axis, label %yes
axis:
  %is_at = getelementptr i64, ptr %shape, i64 %k
  %is = load i64, ptr %is_at
  %width_at = getelementptr i64, ptr %widths, i64 %k
  %width = load i64, ptr %width_at
  %steps = load i64, ptr %steps_at
  %any = icmp eq i64 %width, -1
  %unset = icmp eq i64 %steps, -1
  %set = and i1 %any, %unset
  %steps_now = select i1 %set, i64 %is, i64 %steps
  store i64 %steps_now, ptr %steps_at
  %right = select i1 %any, i64 %steps_now, i64 %width
  %fit = icmp eq i64 %is, %right
  br i1 %fit, label %fits, label %no
fits:
  %k1 = add i64 %k, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; an input whose batch is that of the others, or that has none; false where there is something to do for NumPy
define internal i1 @input(ptr %about, ptr %call, ptr %array) {
entry:
  %is_plain = call i1 @plain(ptr %about, ptr %array, i32 0)
  br i1 %is_plain, label %axes, label %no
axes:
  %lead = call i64 @lead(ptr %call, ptr %array)
  %shape_at = getelementptr i8, ptr %array, i64 $SHAPE
  %shape = load ptr, ptr %shape_at
  %alone = icmp eq i64 %lead, 0
  br i1 %alone, label %core, label %batched
batched:
  %short = icmp slt i64 %lead, 0
  br i1 %short, label %no, label %rows
rows:
  %flags_at = getelementptr i8, ptr %array, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %packed = and i32 %flags, $C_CONTIGUOUS
  %loose = icmp eq i32 %packed, 0
  %several = icmp sgt i64 %lead, 1
  %uneven = and i1 %loose, %several
  br i1 %uneven, label %no, label %even
even:
  %same = call i1 @batch(ptr %call, ptr %shape, i64 %lead)
  br i1 %same, label %core, label %no
core:
  %last = getelementptr i64, ptr %shape, i64 %lead
  %fits = call i1 @core(ptr %call, ptr %last)
  br i1 %fits, label %done, label %no
done:
  call void @strides(ptr %about, ptr %call, ptr %array, i64 %lead)
  ret i1 true
no:
  ret i1 false
}

; how many axes an array has before those of the next port
define internal i64 @lead(ptr %call, ptr %array) {
  %next_at = getelementptr %Call, ptr %call, i64 0, i32 9
  %port = load ptr, ptr %next_at
  %rank = load i64, ptr %port
  %nd_at = getelementptr i8, ptr %array, i64 $AXIS_COUNT
  %nd32 = load i32, ptr %nd_at
  %nd = sext i32 %nd32 to i64
  %lead = sub i64 %nd, %rank
  ret i64 %lead
}

; an array to fill that is just as a new one would be; false where there is something to do for NumPy
define internal i1 @target(ptr %about, ptr %call, ptr %array) {
entry:
  %is_plain = call i1 @plain(ptr %about, ptr %array, i32 $TARGET)
  br i1 %is_plain, label %axes, label %no
axes:
  %lead = call i64 @lead(ptr %call, ptr %array)
  %lead_at = getelementptr %Call, ptr %call, i64 0, i32 5
  %known = load i64, ptr %lead_at
  %as_many = icmp eq i64 %lead, %known
  br i1 %as_many, label %rows, label %no
rows:
  %shape_at = getelementptr i8, ptr %array, i64 $SHAPE
  %shape = load ptr, ptr %shape_at
  %alone = icmp eq i64 %lead, 0
  br i1 %alone, label %core, label %batched
batched:
  %same = call i1 @batch(ptr %call, ptr %shape, i64 %lead)
  br i1 %same, label %core, label %no
core:
  %last = getelementptr i64, ptr %shape, i64 %lead
  %fits = call i1 @core(ptr %call, ptr %last)
  br i1 %fits, label %done, label %no
done:
  call void @strides(ptr %about, ptr %call, ptr %array, i64 %lead)
  ret i1 true
no:
  ret i1 false
}

; where an array's numbers begin and end, as if each had eight bytes
define internal { i64, i64 } @extent(ptr %array) {
entry:
  %data_at = getelementptr i8, ptr %array, i64 $DATA
  %data = load i64, ptr %data_at
  %nd_at = getelementptr i8, ptr %array, i64 $AXIS_COUNT
  %nd32 = load i32, ptr %nd_at
  %nd = sext i32 %nd32 to i64
  %shape_at = getelementptr i8, ptr %array, i64 $SHAPE
  %shape = load ptr, ptr %shape_at
  %strides_at = getelementptr i8, ptr %array, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %beyond = add i64 %data, 8
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %axis]
  %low = phi i64 [%data, %entry], [%lower, %axis]
  %high = phi i64 [%beyond, %entry], [%higher, %axis]
  %more = icmp slt i64 %k, %nd
  br i1 %more, label %axis, label %done
axis:
  %width_at = getelementptr i64, ptr %shape, i64 %k
  %width = load i64, ptr %width_at
  %stride_at = getelementptr i64, ptr %strides, i64 %k
  %stride = load i64, ptr %stride_at
  %last = sub i64 %width, 1
  %span = mul i64 %last, %stride
  %back = icmp slt i64 %span, 0
  %down = select i1 %back, i64 %span, i64 0
  %up = select i1 %back, i64 0, i64 %span
  %lower = add i64 %low, %down
  %higher = add i64 %high, %up
  %k1 = add i64 %k, 1
  br label %each
done:
  %begin = insertvalue { i64, i64 } undef, i64 %low, 0
  %both = insertvalue { i64, i64 } %begin, i64 %high, 1
  ret { i64, i64 } %both
}

; whether an array may share memory with one of several others
define internal i1 @shared(ptr %array, ptr %others, i64 %count) {
entry:
  %mine = call { i64, i64 } @extent(ptr %array)
  %low = extractvalue { i64, i64 } %mine, 0
  %high = extractvalue { i64, i64 } %mine, 1
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %no
one:
  %other_at = getelementptr ptr, ptr %others, i64 %k
  %other = load ptr, ptr %other_at
  %theirs = call { i64, i64 } @extent(ptr %other)
  %their_low = extractvalue { i64, i64 } %theirs, 0
  %their_high = extractvalue { i64, i64 } %theirs, 1
  %below = icmp ule i64 %high, %their_low
  %above = icmp ule i64 %their_high, %low
  %apart = or i1 %below, %above
  br i1 %apart, label %next, label %yes
next:
  %k1 = add i64 %k, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; note where an array's numbers are, for the next port; one with several batch axes is contiguous, and says nothing by its
; strides along axes of length one
define internal void @strides(ptr %about, ptr %call, ptr %array, i64 %lead) {
entry:
  %next_at = getelementptr %Call, ptr %call, i64 0, i32 9
  %port = load ptr, ptr %next_at
  %rank = load i64, ptr %port
  %number_at = getelementptr %Call, ptr %call, i64 0, i32 3
  %number = load i64, ptr %number_at
  %data_at = getelementptr i8, ptr %array, i64 $DATA
  %data = load ptr, ptr %data_at
  %strides_at = getelementptr i8, ptr %array, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %slot = getelementptr %Call, ptr %call, i64 0, i32 0, i64 %number
  store ptr %data, ptr %slot
  %outer_at = getelementptr %Call, ptr %call, i64 0, i32 2, i64 %number
  %alone = icmp eq i64 %lead, 0
  br i1 %alone, label %one, label %many
many:
  %row = load i64, ptr %strides
  %several = icmp sgt i64 %lead, 1
  br i1 %several, label %packed, label %one
packed:
  %shape_at = getelementptr i8, ptr %array, i64 $SHAPE
  %shape = load ptr, ptr %shape_at
  %widths = getelementptr i64, ptr %shape, i64 %lead
  %size_at = getelementptr i64, ptr %about, i64 $SIZE
  %size = load i64, ptr %size_at
  br label %product
product:
  %w = phi i64 [0, %packed], [%w1, %factor]
  %bytes = phi i64 [%size, %packed], [%more_bytes, %factor]
  %left = icmp slt i64 %w, %rank
  br i1 %left, label %factor, label %one
factor:
  %width_at = getelementptr i64, ptr %widths, i64 %w
  %wide = load i64, ptr %width_at
  %more_bytes = mul i64 %bytes, %wide
  %w1 = add i64 %w, 1
  br label %product
one:
  %outer = phi i64 [0, %entry], [%row, %many], [%bytes, %product]
  store i64 %outer, ptr %outer_at
  %core_at = getelementptr %Call, ptr %call, i64 0, i32 4
  %core = load i64, ptr %core_at
  br label %each
each:
  %k = phi i64 [0, %one], [%k1, %axis]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %axis, label %done
axis:
  %at = add i64 %lead, %k
  %from = getelementptr i64, ptr %strides, i64 %at
  %stride = load i64, ptr %from
  %place = add i64 %core, %k
  %to = getelementptr %Call, ptr %call, i64 0, i32 2, i64 %place
  store i64 %stride, ptr %to
  %k1 = add i64 %k, 1
  br label %each
done:
  %core_next = add i64 %core, %rank
  store i64 %core_next, ptr %core_at
  %number_next = add i64 %number, 1
  store i64 %number_next, ptr %number_at
  %width = add i64 %rank, 1
  %after = getelementptr i64, ptr %port, i64 %width
  store ptr %after, ptr %next_at
  ret void
}

; a new array for the next port, or null
define internal ptr @output(ptr %about, ptr %call) {
entry:
  %shape = alloca [$DEEPEST x i64]
  %next_at = getelementptr %Call, ptr %call, i64 0, i32 9
  %port = load ptr, ptr %next_at
  %rank = load i64, ptr %port
  %lead_at = getelementptr %Call, ptr %call, i64 0, i32 5
  %lead = load i64, ptr %lead_at
  %batch_at = getelementptr %Call, ptr %call, i64 0, i32 8
  %batch = load ptr, ptr %batch_at
  %bytes = mul i64 %lead, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %shape, ptr %batch, i64 %bytes, i1 false)
  %steps_at = getelementptr %Call, ptr %call, i64 0, i32 7
  %steps = load i64, ptr %steps_at
  %widths = getelementptr i64, ptr %port, i64 1
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %axis]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %axis, label %make
axis:
  %width_at = getelementptr i64, ptr %widths, i64 %k
  %fixed = load i64, ptr %width_at
  %any = icmp eq i64 %fixed, -1
  %width = select i1 %any, i64 %steps, i64 %fixed
  %place = add i64 %lead, %k
  %to = getelementptr i64, ptr %shape, i64 %place
  store i64 %width, ptr %to
  %k1 = add i64 %k, 1
  br label %each
make:
  %type_at = getelementptr i64, ptr %about, i64 $ARRAY
  %type = load ptr, ptr %type_at
  %nd = add i64 %lead, %rank
  %nd32 = trunc i64 %nd to i32
  %number_at = getelementptr i64, ptr %about, i64 $NUMBER
  %number = load i64, ptr %number_at
  %number32 = trunc i64 %number to i32
  %array = call ptr @PyArray_New(ptr %type, i32 %nd32, ptr %shape, i32 %number32, ptr null, ptr null, i32 0, i32 0, ptr null)
  %none = icmp eq ptr %array, null
  br i1 %none, label %done, label %good
good:
  call void @strides(ptr %about, ptr %call, ptr %array, i64 %lead)
  br label %done
done:
  ret ptr %array
}

