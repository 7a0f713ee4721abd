declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @PyArray_Return(ptr)
declare ptr @PyDataMem_SetHandler(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyErr_Occurred()
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyTuple_New(i64)
declare i64 @PyTuple_Size(ptr)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)

; the arrays that a single keyword `out` brings, one or a tuple of all; they follow the inputs in `arrays`
define internal i1 @given_out(ptr %about, ptr %keywords, ptr %out, ptr %arrays, ptr %whole_at) {
entry:
  %names = call i64 @PyTuple_Size(ptr %keywords)
  %name = call ptr @PyTuple_GetItem(ptr %keywords, i64 0)
  %out_name_at = getelementptr i64, ptr %about, i64 $OUT
  %out_name = load ptr, ptr %out_name_at
  %is_one = icmp eq i64 %names, 1
  %is_out = icmp eq ptr %name, %out_name
  %good = and i1 %is_one, %is_out
  br i1 %good, label %named, label %no
named:
  %inputs_at = getelementptr i64, ptr %about, i64 $INPUTS
  %inputs = load i64, ptr %inputs_at
  %outputs_at = getelementptr i64, ptr %about, i64 $OUTPUTS
  %outputs = load i64, ptr %outputs_at
  %first = getelementptr ptr, ptr %arrays, i64 %inputs
  store ptr %out, ptr %first
  store ptr %out, ptr %whole_at
  %type_at = getelementptr i8, ptr %out, i64 $TYPE
  %type = load ptr, ptr %type_at
  %keywords_type_at = getelementptr i8, ptr %keywords, i64 $TYPE
  %tuple_type = load ptr, ptr %keywords_type_at
  %is_tuple = icmp eq ptr %type, %tuple_type
  %single = icmp eq i64 %outputs, 1
  br i1 %is_tuple, label %count, label %bare
bare:
  ret i1 %single
count:
  %size = call i64 @PyTuple_Size(ptr %out)
  %as_many = icmp eq i64 %size, %outputs
  br i1 %as_many, label %each, label %no
each:
  %k = phi i64 [0, %count], [%k1, %one]
  %more = icmp slt i64 %k, %outputs
  br i1 %more, label %one, label %all
one:
  %item = call ptr @PyTuple_GetItem(ptr %out, i64 %k)
  %place = getelementptr ptr, ptr %first, i64 %k
  store ptr %item, ptr %place
  %k1 = add i64 %k, 1
  br label %each
all:
  %only = load ptr, ptr %first
  %answer = select i1 %single, ptr %only, ptr %out
  store ptr %answer, ptr %whole_at
  ret i1 true
no:
  ret i1 false
}

define ptr @call(ptr %self, ptr %given, i64 %count, ptr %keywords) {
entry:
  %call = alloca %Call
  %number = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %about = call ptr @PyLong_AsVoidPtr(ptr %number)
  %inputs_at = getelementptr i64, ptr %about, i64 $INPUTS
  %inputs = load i64, ptr %inputs_at
  %outputs_at = getelementptr i64, ptr %about, i64 $OUTPUTS
  %outputs = load i64, ptr %outputs_at
  %ports = add i64 %inputs, %outputs
  %wrong = icmp ne i64 %count, %inputs
  br i1 %wrong, label %elsewhere, label %counted
counted:
  %arrays = alloca [$PORTS x ptr]  ; inputs, then outputs, if they are given
  %whole_at = alloca ptr  ; what is given as `out`, or null
  store ptr null, ptr %whole_at
  %named = icmp ne ptr %keywords, null
  br i1 %named, label %look, label %begin
look:
  %given_out = getelementptr ptr, ptr %given, i64 %inputs
  %out = load ptr, ptr %given_out
  %known = call i1 @given_out(ptr %about, ptr %keywords, ptr %out, ptr %arrays, ptr %whole_at)
  br i1 %known, label %begin, label %elsewhere
begin:
  %port_at = getelementptr %Call, ptr %call, i64 0, i32 3
  store i64 0, ptr %port_at
  %core_at = getelementptr %Call, ptr %call, i64 0, i32 4
  store i64 %ports, ptr %core_at
  %lead_at = getelementptr %Call, ptr %call, i64 0, i32 5
  store i64 0, ptr %lead_at
  %rows_at = getelementptr %Call, ptr %call, i64 0, i32 6
  store i64 1, ptr %rows_at
  %steps_at = getelementptr %Call, ptr %call, i64 0, i32 7
  store i64 -1, ptr %steps_at
  %batch_at = getelementptr %Call, ptr %call, i64 0, i32 8
  store ptr null, ptr %batch_at
  %next_at = getelementptr %Call, ptr %call, i64 0, i32 9
  %first = getelementptr i64, ptr %about, i64 $FIRST_PORT
  store ptr %first, ptr %next_at
  br label %each
each:
  %j = phi i64 [0, %begin], [%j1, %plain]
  %more = icmp slt i64 %j, %inputs
  br i1 %more, label %one, label %ready
one:
  %array_at = getelementptr ptr, ptr %given, i64 %j
  %array = load ptr, ptr %array_at
  %place = getelementptr ptr, ptr %arrays, i64 %j
  store ptr %array, ptr %place
  %is_plain = call i1 @input(ptr %about, ptr %call, ptr %array)
  br i1 %is_plain, label %plain, label %elsewhere
plain:
  %j1 = add i64 %j, 1
  br label %each
elsewhere:
  %ufunc_at = getelementptr i64, ptr %about, i64 $UFUNC
  %ufunc = load ptr, ptr %ufunc_at
  %answer = call ptr @PyObject_Vectorcall(ptr %ufunc, ptr %given, i64 %count, ptr %keywords)
  ret ptr %answer

ready:
  %rows = load i64, ptr %rows_at
  %steps = load i64, ptr %steps_at
  %repeated = icmp ne i64 %steps, -1
  %turns = select i1 %repeated, i64 %steps, i64 1
  %times = mul i64 %rows, %turns
  %empty = icmp eq i64 %times, 0
  br i1 %empty, label %elsewhere, label %here
here:
  %single = icmp eq i64 %outputs, 1
  %whole = load ptr, ptr %whole_at
  %fresh = icmp eq ptr %whole, null
  br i1 %fresh, label %room, label %check
check:
  %t = phi i64 [%inputs, %here], [%t1, %usable]
  %unchecked = icmp slt i64 %t, %ports
  br i1 %unchecked, label %target, label %filled_in
target:
  %target_at = getelementptr ptr, ptr %arrays, i64 %t
  %given_array = load ptr, ptr %target_at
  %fits = call i1 @target(ptr %about, ptr %call, ptr %given_array)
  br i1 %fits, label %disjoint, label %elsewhere
disjoint:
  %shared = call i1 @shared(ptr %given_array, ptr %arrays, i64 %t)
  br i1 %shared, label %elsewhere, label %usable
usable:
  %t1 = add i64 %t, 1
  br label %check
filled_in:
  call void @Py_IncRef(ptr %whole)
  br label %prepared
room:
  %bytes_at = getelementptr i64, ptr %about, i64 $RESULTS
  %bytes = load i64, ptr %bytes_at
  %total = mul i64 %bytes, %times
  %large = icmp uge i64 %total, $LARGE
  br i1 %large, label %borrow, label %outs
borrow:
  %handler_at = getelementptr i64, ptr %about, i64 $HANDLER
  %handler = load ptr, ptr %handler_at
  %before = call ptr @PyDataMem_SetHandler(ptr %handler)
  br label %outs
outs:
  %old = phi ptr [null, %room], [%before, %borrow]
  br i1 %single, label %only, label %several
only:
  %alone = call ptr @output(ptr %about, ptr %call)
  br label %made
several:
  %tuple = call ptr @PyTuple_New(i64 %outputs)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %made, label %fill
fill:
  %o = phi i64 [0, %several], [%o1, %filled]
  %left = icmp slt i64 %o, %outputs
  br i1 %left, label %make, label %made
make:
  %part = call ptr @output(ptr %about, ptr %call)
  %no_part = icmp eq ptr %part, null
  br i1 %no_part, label %drop, label %filled
filled:
  %set = call i32 @PyTuple_SetItem(ptr %tuple, i64 %o, ptr %part)
  %o1 = add i64 %o, 1
  br label %fill
drop:
  call void @Py_DecRef(ptr %tuple)
  br label %made
made:
  %found = phi ptr [%alone, %only], [null, %several], [%tuple, %fill], [null, %drop]
  %borrowed = icmp ne ptr %old, null
  br i1 %borrowed, label %return, label %run
return:
  %mine = call ptr @PyDataMem_SetHandler(ptr %old)
  call void @Py_DecRef(ptr %old)
  call void @Py_DecRef(ptr %mine)
  br label %run
run:
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %failed, label %prepared
failed:
  ret ptr null
prepared:
  %results = phi ptr [%found, %run], [%whole, %filled_in]
  %widths = getelementptr %Call, ptr %call, i64 0, i32 1
  br label %width
width:
  %w = phi i64 [1, %prepared], [%w1, %width]
  %width_at = getelementptr i64, ptr %widths, i64 %w
  store i64 %turns, ptr %width_at
  %w1 = add i64 %w, 1
  %over = icmp sgt i64 %w1, $AXES
  %enough = xor i1 %repeated, true
  %stop = or i1 %over, %enough
  br i1 %stop, label %go, label %width
go:
  store i64 %rows, ptr %widths
  %strides = getelementptr %Call, ptr %call, i64 0, i32 2
  %loop_at = getelementptr i64, ptr %about, i64 $LOOP
  %loop = load ptr, ptr %loop_at
  %data_at = getelementptr i64, ptr %about, i64 $DATA_OF
  %data = load ptr, ptr %data_at
  %numbers_at = getelementptr i64, ptr %about, i64 $NUMBERS
  %numbers = load i64, ptr %numbers_at
  %size = mul i64 %numbers, %times
  %long = icmp sgt i64 %size, $ALONE
  br i1 %long, label %let_go, label %keep
let_go:
  %thread = call ptr @PyEval_SaveThread()
  call void %loop(ptr %call, ptr %widths, ptr %strides, ptr %data)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %end
keep:
  call void %loop(ptr %call, ptr %widths, ptr %strides, ptr %data)
  br label %end
end:
  %error = call ptr @PyErr_Occurred()
  %bad = icmp ne ptr %error, null
  br i1 %bad, label %spoilt, label %give
spoilt:
  call void @Py_DecRef(ptr %results)
  ret ptr null
give:
  br i1 %fresh, label %new, label %done
new:
  br i1 %single, label %scalar, label %all
scalar:
  %result = call ptr @PyArray_Return(ptr %results)
  ret ptr %result
all:
  %lead = load i64, ptr %lead_at
  %in_batch = icmp ne i64 %lead, 0
  br i1 %in_batch, label %done, label %scalars
scalars:
  %s = phi i64 [0, %all], [%s1, %replace]
  %unseen = icmp slt i64 %s, %outputs
  br i1 %unseen, label %replace, label %done
replace:
  %item = call ptr @PyTuple_GetItem(ptr %results, i64 %s)
  call void @Py_IncRef(ptr %item)
  %as_number = call ptr @PyArray_Return(ptr %item)
  %put = call i32 @PyTuple_SetItem(ptr %results, i64 %s, ptr %as_number)
  %s1 = add i64 %s, 1
  br label %scalars
done:
  ret ptr %results
}
