; A builtin function of Python that calls compiled code with arrays of NumPy.
;
; Its `self` is an array of words that says what to call and with what: %call_plan. Arrays are looked at
; as C extensions do, by the fields of the object (PyArrayObject_fields of NumPy's C API), whose
; places stand in capitals. It returns 0; 1 where an array is not what the plan says, and nothing
; was called; 2 where an index was out of range.

%call_plan = type { i64, ptr, ptr, ptr, i64, ptr, ptr }  ; arrays, their class, function,
                                                         ; pointers, limits, worst indices, limits
%array_plan = type { ptr, i64, ptr, i64, ptr }           ; data type, axes, shape, flags, its pointer

declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyLong_FromLongLong(i64)

define internal i1 @fits(ptr %object, ptr %wanted, ptr %class) {
  %class_place = getelementptr i8, ptr %object, i64 CLASS
  %object_class = load ptr, ptr %class_place
  %is_array = icmp eq ptr %object_class, %class
  br i1 %is_array, label %known, label %no

known:
  %type_place = getelementptr i8, ptr %object, i64 TYPE
  %type = load ptr, ptr %type_place
  %wanted_type = load ptr, ptr %wanted
  %same_type = icmp eq ptr %type, %wanted_type
  %flags_place = getelementptr i8, ptr %object, i64 FLAGS
  %flags = load i32, ptr %flags_place
  %wanted_flags_place = getelementptr %array_plan, ptr %wanted, i64 0, i32 3
  %wanted_flags = load i64, ptr %wanted_flags_place
  %wide_flags = zext i32 %flags to i64
  %common = and i64 %wide_flags, %wanted_flags
  %same_flags = icmp eq i64 %common, %wanted_flags
  %axes_place = getelementptr i8, ptr %object, i64 AXES
  %axes = load i32, ptr %axes_place
  %wide_axes = zext i32 %axes to i64
  %wanted_axes_place = getelementptr %array_plan, ptr %wanted, i64 0, i32 1
  %wanted_axes = load i64, ptr %wanted_axes_place
  %same_axes = icmp eq i64 %wide_axes, %wanted_axes
  %same_two = and i1 %same_type, %same_flags
  %same = and i1 %same_two, %same_axes
  %shape_place = getelementptr i8, ptr %object, i64 SHAPE
  %shape = load ptr, ptr %shape_place
  %wanted_shape_place = getelementptr %array_plan, ptr %wanted, i64 0, i32 2
  %wanted_shape = load ptr, ptr %wanted_shape_place
  br i1 %same, label %axis, label %no

axis:
  %index = phi i64 [ 0, %known ], [ %next, %size ]
  %all = icmp eq i64 %index, %wanted_axes
  br i1 %all, label %yes, label %size

size:
  %size_place = getelementptr i64, ptr %shape, i64 %index
  %found = load i64, ptr %size_place
  %wanted_size_place = getelementptr i64, ptr %wanted_shape, i64 %index
  %expected = load i64, ptr %wanted_size_place
  %same_size = icmp eq i64 %found, %expected
  %next = add i64 %index, 1
  br i1 %same_size, label %axis, label %no

yes:
  ret i1 true

no:
  ret i1 false
}

define ptr @call(ptr %self, ptr %objects, i64 %count) {
  %plan_place = getelementptr i8, ptr %self, i64 DATA
  %plan = load ptr, ptr %plan_place
  %arrays = load i64, ptr %plan
  %class_place = getelementptr %call_plan, ptr %plan, i64 0, i32 1
  %class = load ptr, ptr %class_place
  %first = getelementptr %call_plan, ptr %plan, i64 1
  %complete = icmp eq i64 %count, %arrays
  br i1 %complete, label %array, label %done

array:
  %index = phi i64 [ 0, %0 ], [ %next, %take ]
  %all = icmp eq i64 %index, %arrays
  br i1 %all, label %run, label %look

look:
  %object_place = getelementptr ptr, ptr %objects, i64 %index
  %object = load ptr, ptr %object_place
  %wanted = getelementptr %array_plan, ptr %first, i64 %index
  %fits = call i1 @fits(ptr %object, ptr %wanted, ptr %class)
  br i1 %fits, label %take, label %done

take:
  %data_place = getelementptr i8, ptr %object, i64 DATA
  %data = load ptr, ptr %data_place
  %pointer_place = getelementptr %array_plan, ptr %wanted, i64 0, i32 4
  %pointer = load ptr, ptr %pointer_place
  store ptr %data, ptr %pointer
  %next = add i64 %index, 1
  br label %array

run:
  %function_place = getelementptr %call_plan, ptr %plan, i64 0, i32 2
  %function = load ptr, ptr %function_place
  %pointers_place = getelementptr %call_plan, ptr %plan, i64 0, i32 3
  %pointers = load ptr, ptr %pointers_place
  %thread = call ptr @PyEval_SaveThread()
  call void %function(ptr %pointers)
  call void @PyEval_RestoreThread(ptr %thread)
  %limits_place = getelementptr %call_plan, ptr %plan, i64 0, i32 4
  %limits = load i64, ptr %limits_place
  %worst_place = getelementptr %call_plan, ptr %plan, i64 0, i32 5
  %worst = load ptr, ptr %worst_place
  %bounds_place = getelementptr %call_plan, ptr %plan, i64 0, i32 6
  %bounds = load ptr, ptr %bounds_place
  br label %check

check:
  %place = phi i64 [ 0, %run ], [ %further, %bound ]
  %checked = icmp eq i64 %place, %limits
  br i1 %checked, label %done, label %bound

bound:
  %value_place = getelementptr i64, ptr %worst, i64 %place
  %value = load i64, ptr %value_place
  %bound_place = getelementptr i64, ptr %bounds, i64 %place
  %most = load i64, ptr %bound_place
  %inside = icmp slt i64 %value, %most
  %further = add i64 %place, 1
  br i1 %inside, label %check, label %done

done:
  %status = phi i64 [ 1, %0 ], [ 1, %look ], [ 0, %check ], [ 2, %bound ]
  %result = call ptr @PyLong_FromLongLong(i64 %status)
  ret ptr %result
}
