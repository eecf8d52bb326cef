; Teams of threads, as GCC's OpenMP runtime starts them, over futexes.
;
; GOMP_parallel calls a function once for each of several threads, and the function asks for its
; number and for how many there are. Here these are parts of the work, PARTS for each real thread:
; a thread does its own parts first, and then those that others have not begun. So none waits for
; a thread that another program keeps from running, but for the part that it is in the middle of.
;
; One team at a time: a second caller does its work alone. No barriers.

%share = type { i64, i64, [112 x i8] }  ; next part, end of the parts, rest of two cache lines
%helper = type { i32, [124 x i8] }      ; 1 where the helper sleeps on this word

@state = internal global i64 0, align 128       ; low half: helpers inside; high: odd while open
@shares = internal global [256 x %share] zeroinitializer, align 128
@sleepers = internal global [256 x %helper] zeroinitializer, align 128
@threads = internal global [256 x i64] zeroinitializer
@function = internal global ptr null, align 128
@data = internal global ptr null
@members = internal global i64 0                ; threads of the open team, its caller's included
@parts = internal global i64 0                  ; of all of them
@helpers = internal global i64 0                ; threads that were started
@taken = internal global i32 0, align 128       ; 1 while a team is open
@caller_sleeps = internal global i32 0
@stopping = internal global i32 0
@limit_key = internal global i32 0
@part_key = internal global i32 0
@default_limit = internal global i64 1

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_key_create(ptr, ptr)
declare ptr @pthread_getspecific(i32)
declare i32 @pthread_setspecific(i32, ptr)
declare i64 @syscall(i64, ...)

define internal void @futex_wait(ptr %word, i32 %value) {
  call i64 (i64, ...) @syscall(i64 FUTEX, ptr %word, i32 128, i32 %value, ptr null, ptr null, i32 0)
  ret void
}

define internal void @futex_wake(ptr %word) {
  call i64 (i64, ...) @syscall(i64 FUTEX, ptr %word, i32 129, i32 1, ptr null, ptr null, i32 0)
  ret void
}

; How many threads the next team of the calling thread may have.
define i32 @omp_get_max_threads() {
  %key = load i32, ptr @limit_key
  %own = call ptr @pthread_getspecific(i32 %key)
  %known = ptrtoint ptr %own to i64
  %unset = icmp eq i64 %known, 0
  %default = load i64, ptr @default_limit
  %limit = select i1 %unset, i64 %default, i64 %known
  %result = trunc i64 %limit to i32
  ret i32 %result
}

define void @omp_set_num_threads(i32 %threads) {
  %key = load i32, ptr @limit_key
  %wide = zext i32 %threads to i64
  %value = inttoptr i64 %wide to ptr
  call i32 @pthread_setspecific(i32 %key, ptr %value)
  ret void
}

; The part that the calling thread is in: its number, and above that how many there are.
define internal i64 @current_part() {
  %key = load i32, ptr @part_key
  %own = call ptr @pthread_getspecific(i32 %key)
  %value = ptrtoint ptr %own to i64
  ret i64 %value
}

define i32 @omp_get_thread_num() {
  %part = call i64 @current_part()
  %result = trunc i64 %part to i32
  ret i32 %result
}

define i32 @omp_get_num_threads() {
  %part = call i64 @current_part()
  %high = lshr i64 %part, 32
  %count = trunc i64 %high to i32
  %none = icmp eq i32 %count, 0
  %result = select i1 %none, i32 1, i32 %count
  ret i32 %result
}

define internal void @do_part(ptr %function, ptr %data, i64 %number, i64 %count) {
  %key = load i32, ptr @part_key
  %high = shl i64 %count, 32
  %part = or i64 %high, %number
  %value = inttoptr i64 %part to ptr
  call i32 @pthread_setspecific(i32 %key, ptr %value)
  call void %function(ptr %data)
  ret void
}

; Do the parts of one's own share, then what is left of the others'.
define internal void @work(i64 %member) {
entry:
  %function = load ptr, ptr @function
  %data = load ptr, ptr @data
  %members = load i64, ptr @members
  %parts = load i64, ptr @parts
  br label %share
share:
  %visited = phi i64 [ 0, %entry ], [ %visited.next, %empty ]
  %sum = add i64 %member, %visited
  %owner = urem i64 %sum, %members
  %next = getelementptr [256 x %share], ptr @shares, i64 0, i64 %owner, i32 0
  %end.place = getelementptr [256 x %share], ptr @shares, i64 0, i64 %owner, i32 1
  %end = load i64, ptr %end.place
  %seen = load atomic i64, ptr %next monotonic, align 8
  %over = icmp uge i64 %seen, %end
  br i1 %over, label %empty, label %take
take:
  %part = atomicrmw add ptr %next, i64 1 monotonic
  %late = icmp uge i64 %part, %end
  br i1 %late, label %empty, label %do
do:
  call void @do_part(ptr %function, ptr %data, i64 %part, i64 %parts)
  br label %take
empty:
  %visited.next = add i64 %visited, 1
  %more = icmp ult i64 %visited.next, %members
  br i1 %more, label %share, label %done
done:
  %key = load i32, ptr @part_key
  call i32 @pthread_setspecific(i32 %key, ptr null)
  ret void
}

; What a helper does until the end: wait for a team, watching for a while and then asleep.
define internal ptr @help(ptr %argument) {
entry:
  %number = ptrtoint ptr %argument to i64
  %member = add i64 %number, 1
  %sleeping = getelementptr [256 x %helper], ptr @sleepers, i64 0, i64 %number, i32 0
  br label %awake
awake:
  %last = phi i64 [ 0, %entry ], [ %last.watch, %woken ], [ %team, %left ]
  br label %watch
watch:
  %last.watch = phi i64 [ %last, %awake ], [ %last.watch, %pause ], [ %team.seen, %not.mine ]
  %turns = phi i64 [ 0, %awake ], [ %turns.next, %pause ], [ %turns, %not.mine ]
  %state = load atomic i64, ptr @state seq_cst, align 128
  %team.seen = lshr i64 %state, 32
  %odd = and i64 %team.seen, 1
  %open = icmp ne i64 %odd, 0
  %new = icmp ne i64 %team.seen, %last.watch
  %news = and i1 %open, %new
  br i1 %news, label %check, label %none
check:
  %members = load atomic i64, ptr @members monotonic, align 8
  %mine = icmp ult i64 %member, %members
  br i1 %mine, label %join, label %not.mine
not.mine:
  br label %watch
join:
  %joined = add i64 %state, 1
  %swap = cmpxchg ptr @state, i64 %state, i64 %joined seq_cst seq_cst
  %inside = extractvalue { i64, i1 } %swap, 1
  br i1 %inside, label %enter, label %pause
enter:                                          ; the team cannot close any more: look again
  %team = phi i64 [ %team.seen, %join ]
  %members.now = load atomic i64, ptr @members monotonic, align 8
  %still.mine = icmp ult i64 %member, %members.now
  br i1 %still.mine, label %do, label %leave
do:
  call void @work(i64 %member)
  br label %leave
leave:
  %before = atomicrmw sub ptr @state, i64 1 seq_cst
  %others = trunc i64 %before to i32
  %is.last = icmp eq i32 %others, 1
  %caller = load atomic i32, ptr @caller_sleeps seq_cst, align 4
  %asleep = icmp eq i32 %caller, 1
  %wake = and i1 %is.last, %asleep
  br i1 %wake, label %wake.caller, label %left
wake.caller:
  call void @futex_wake(ptr @state)
  br label %left
left:
  br label %awake
none:
  %stop = load atomic i32, ptr @stopping monotonic, align 4
  %is.over = icmp ne i32 %stop, 0
  br i1 %is.over, label %end, label %pause
pause:
  call void RELAX
  %turns.next = add i64 %turns, 1
  %tired = icmp ugt i64 %turns.next, WATCH
  br i1 %tired, label %sleep, label %watch
sleep:                                          ; say so first, then look once more
  store atomic i32 1, ptr %sleeping seq_cst, align 128
  %state.again = load atomic i64, ptr @state seq_cst, align 128
  %team.again = lshr i64 %state.again, 32
  %odd.again = and i64 %team.again, 1
  %open.again = icmp ne i64 %odd.again, 0
  %new.again = icmp ne i64 %team.again, %last.watch
  %news.again = and i1 %open.again, %new.again
  %stop.again = load atomic i32, ptr @stopping seq_cst, align 4
  %ending = icmp ne i32 %stop.again, 0
  %stay = or i1 %news.again, %ending
  br i1 %stay, label %stay.awake, label %asleep.now
stay.awake:
  store atomic i32 0, ptr %sleeping seq_cst, align 128
  br label %woken
asleep.now:
  call void @futex_wait(ptr %sleeping, i32 1)
  %still = load atomic i32, ptr %sleeping seq_cst, align 128
  %spurious = icmp eq i32 %still, 1
  br i1 %spurious, label %asleep.now, label %woken
woken:
  br label %awake
end:
  ret ptr null
}

define internal void @wake_helper(i64 %number) {
  %sleeping = getelementptr [256 x %helper], ptr @sleepers, i64 0, i64 %number, i32 0
  %word = load atomic i32, ptr %sleeping seq_cst, align 128
  %asleep = icmp eq i32 %word, 1
  br i1 %asleep, label %wake, label %done
wake:
  store atomic i32 0, ptr %sleeping seq_cst, align 128
  call void @futex_wake(ptr %sleeping)
  br label %done
done:
  ret void
}

; Start helpers until there are so many; returns how many there are.
define internal i64 @start_helpers(i64 %wanted) {
entry:
  br label %test
test:
  %count = load i64, ptr @helpers
  %enough = icmp uge i64 %count, %wanted
  br i1 %enough, label %done, label %start
start:
  %place = getelementptr [256 x i64], ptr @threads, i64 0, i64 %count
  %argument = inttoptr i64 %count to ptr
  %error = call i32 @pthread_create(ptr %place, ptr null, ptr @help, ptr %argument)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %done, label %started
started:
  %more = add i64 %count, 1
  store i64 %more, ptr @helpers
  br label %test
done:
  ret i64 %count
}

define void @GOMP_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags) {
entry:
  %asked = icmp ne i32 %threads, 0
  %limit = call i32 @omp_get_max_threads()
  %wanted = select i1 %asked, i32 %threads, i32 %limit
  %few = icmp ult i32 %wanted, 256
  %capped = select i1 %few, i32 %wanted, i32 256
  %is.team = icmp ugt i32 %capped, 1
  br i1 %is.team, label %try, label %alone
try:
  %free = cmpxchg ptr @taken, i32 0, i32 1 acquire monotonic
  %got = extractvalue { i32, i1 } %free, 1
  br i1 %got, label %prepare, label %alone
alone:
  %outer = call i64 @current_part()
  call void @do_part(ptr %function, ptr %data, i64 0, i64 1)
  %key = load i32, ptr @part_key
  %outer.value = inttoptr i64 %outer to ptr
  call i32 @pthread_setspecific(i32 %key, ptr %outer.value)
  ret void
prepare:
  %wide = zext i32 %capped to i64
  %others = sub i64 %wide, 1
  %started = call i64 @start_helpers(i64 %others)
  %enough = icmp ult i64 %others, %started
  %helpers = select i1 %enough, i64 %others, i64 %started
  %members = add i64 %helpers, 1
  %parts = mul i64 %members, PARTS
  br label %share
share:
  %member = phi i64 [ 0, %prepare ], [ %member.next, %share ]
  %first = mul i64 %member, PARTS
  %member.next = add i64 %member, 1
  %end = mul i64 %member.next, PARTS
  %next.place = getelementptr [256 x %share], ptr @shares, i64 0, i64 %member, i32 0
  %end.place = getelementptr [256 x %share], ptr @shares, i64 0, i64 %member, i32 1
  store atomic i64 %first, ptr %next.place monotonic, align 8
  store i64 %end, ptr %end.place
  %more.shares = icmp ult i64 %member.next, %members
  br i1 %more.shares, label %share, label %publish
publish:
  store ptr %function, ptr @function
  store ptr %data, ptr @data
  store i64 %parts, ptr @parts
  store atomic i64 %members, ptr @members monotonic, align 8
  atomicrmw add ptr @state, i64 4294967296 seq_cst
  br label %wake
wake:
  %helper = phi i64 [ 0, %publish ], [ %helper.next, %wake.one ]
  %more.helpers = icmp ult i64 %helper, %helpers
  br i1 %more.helpers, label %wake.one, label %own
wake.one:
  call void @wake_helper(i64 %helper)
  %helper.next = add i64 %helper, 1
  br label %wake
own:
  call void @work(i64 0)
  %open = atomicrmw add ptr @state, i64 4294967296 seq_cst
  %inside = trunc i64 %open to i32
  %all.left = icmp eq i32 %inside, 0
  br i1 %all.left, label %done, label %watch
watch:
  %turns = phi i64 [ 0, %own ], [ %turns.next, %watch.again ]
  %now = load atomic i32, ptr @state seq_cst, align 128
  %left = icmp eq i32 %now, 0
  br i1 %left, label %done, label %pause
pause:
  call void RELAX
  %turns.next = add i64 %turns, 1
  %tired = icmp ugt i64 %turns.next, PATIENCE
  br i1 %tired, label %sleep, label %watch.again
watch.again:
  br label %watch
sleep:
  store atomic i32 1, ptr @caller_sleeps seq_cst, align 4
  br label %sleep.test
sleep.test:
  %still = load atomic i32, ptr @state seq_cst, align 128
  %gone = icmp eq i32 %still, 0
  br i1 %gone, label %woken, label %asleep
asleep:
  call void @futex_wait(ptr @state, i32 %still)
  br label %sleep.test
woken:
  store atomic i32 0, ptr @caller_sleeps seq_cst, align 4
  br label %done
done:
  store atomic i32 0, ptr @taken release, align 128
  ret void
}

; Once, before everything else; returns 0 where the system has no keys left.
define i32 @start_pool(i64 %default) {
  store i64 %default, ptr @default_limit
  %first = call i32 @pthread_key_create(ptr @limit_key, ptr null)
  %second = call i32 @pthread_key_create(ptr @part_key, ptr null)
  %errors = or i32 %first, %second
  %good = icmp eq i32 %errors, 0
  %result = zext i1 %good to i32
  ret i32 %result
}

; In a forked process: the helpers stayed behind.
define void @forget_helpers() {
  store i64 0, ptr @helpers
  store atomic i64 0, ptr @state seq_cst, align 128
  store atomic i32 0, ptr @caller_sleeps seq_cst, align 4
  call void @llvm.memset.p0.i64(ptr @sleepers, i8 0, i64 32768, i1 false)
  store atomic i32 0, ptr @taken seq_cst, align 128
  ret void
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; Wait for open teams, and end the helpers; teams are their caller alone from then on.
define void @stop_pool() {
entry:
  br label %lock
lock:
  %free = cmpxchg ptr @taken, i32 0, i32 1 acquire monotonic
  %got = extractvalue { i32, i1 } %free, 1
  br i1 %got, label %stop, label %wait
wait:
  call void RELAX
  br label %lock
stop:                                           ; taken stays 1
  store atomic i32 1, ptr @stopping seq_cst, align 4
  br label %test
test:
  %number = phi i64 [ 0, %stop ], [ %number.next, %join ]
  %helpers = load i64, ptr @helpers
  %more = icmp ult i64 %number, %helpers
  br i1 %more, label %join, label %done
join:
  call void @wake_helper(i64 %number)
  %place = getelementptr [256 x i64], ptr @threads, i64 0, i64 %number
  %thread = load i64, ptr %place
  call i32 @pthread_join(i64 %thread, ptr null)
  %number.next = add i64 %number, 1
  br label %test
done:
  ret void
}
