; A number that changes with the bytes at some places: whole lines of 64 bytes, and single bytes.
; The table of lines goes on for AHEAD more: they are fetched while others are read.
;
; Each step is one to one in the bytes that it takes, so that a change of one word always shows.

declare <8 x i64> @llvm.fshl.v8i64(<8 x i64>, <8 x i64>, <8 x i64>)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i64 @llvm.fshl.i64(i64, i64, i64)

define internal i64 @mixed(i64 %state, i64 %word) {
  %joined = xor i64 %state, %word
  %turned = call i64 @llvm.fshl.i64(i64 %joined, i64 %joined, i64 23)
  %result = mul i64 %turned, -7046029254386353131
  ret i64 %result
}

define i64 @fingerprint(ptr %lines, i64 %line_count, ptr %bytes, i64 %byte_count) {
entry:
  br label %line

line:
  %index = phi i64 [ 0, %entry ], [ %next, %take ]
  %state = phi <8 x i64> [ <i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8>, %entry ], [ %mixed, %take ]
  %all = icmp eq i64 %index, %line_count
  br i1 %all, label %join, label %take

take:
  %place = getelementptr ptr, ptr %lines, i64 %index
  %address = load ptr, ptr %place
  %ahead_index = add i64 %index, AHEAD
  %ahead_place = getelementptr ptr, ptr %lines, i64 %ahead_index
  %ahead = load ptr, ptr %ahead_place
  call void @llvm.prefetch.p0(ptr %ahead, i32 0, i32 3, i32 1)
  %words = load <8 x i64>, ptr %address, align 1
  %joined = xor <8 x i64> %state, %words
  %turned = call <8 x i64> @llvm.fshl.v8i64(<8 x i64> %joined, <8 x i64> %joined, <8 x i64> splat (i64 23))
  %mixed = mul <8 x i64> %turned, splat (i64 -7046029254386353131)
  %next = add i64 %index, 1
  br label %line

join:
  %lane = phi i64 [ 0, %line ], [ %next_lane, %join ]
  %sum = phi i64 [ 0, %line ], [ %next_sum, %join ]
  %word = extractelement <8 x i64> %state, i64 %lane
  %next_sum = call i64 @mixed(i64 %sum, i64 %word)
  %next_lane = add i64 %lane, 1
  %joined_all = icmp eq i64 %next_lane, 8
  br i1 %joined_all, label %byte, label %join

byte:
  %byte_index = phi i64 [ 0, %join ], [ %next_byte, %take_byte ]
  %result = phi i64 [ %next_sum, %join ], [ %next_result, %take_byte ]
  %no_byte = icmp eq i64 %byte_index, %byte_count
  br i1 %no_byte, label %done, label %take_byte

take_byte:
  %byte_place = getelementptr ptr, ptr %bytes, i64 %byte_index
  %byte_address = load ptr, ptr %byte_place
  %narrow = load i8, ptr %byte_address
  %wide = zext i8 %narrow to i64
  %next_result = call i64 @mixed(i64 %result, i64 %wide)
  %next_byte = add i64 %byte_index, 1
  br label %byte

done:
  ret i64 %result
}
