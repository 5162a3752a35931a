#!/bin/bash
# Every row of the filter's table is tried from inside, and gets the answer that the table states;
# outside of a box the same calls get other answers.
. "$(dirname "$0")/tap.sh"
mkdir ws && cp "$BIN/syscalls" ws/

# name, variant of the table, options
while read -r name variant options; do
    # shellcheck disable=SC2086
    status "$name: the probe runs to its end" 0 "$COOP" run -w ws $options -- sh -c "./syscalls $variant >answers" </dev/null
    mv ws/answers "answers.$name"
    while read -r what expected got; do
        [ "$expected" = any ] || is "$name: $what" "$got" "$expected"
    done <"answers.$name"
    is "$name: more than 250 things were tried" "$(($(wc -l <"answers.$name") > 250))" 1
done <<'END'
default 0 --network none
unix-only 2 --network off
dev 1 --profile dev
END

# The dev profile opens what debuggers need, and nothing else.
is "dev: opens these calls" \
    "$(diff <(cut -d ' ' -f 1,2 answers.default) <(cut -d ' ' -f 1,2 answers.dev) | sed -n 's/^> \(.*\) any/\1/p' | sort | xargs)" \
    "kcmp personality(0x40000) pidfd_getfd process_vm_readv process_vm_writev ptrace"
unlike "dev: what it opens gets through" \
    "$(grep -E '^(kcmp|ptrace|pidfd_getfd|process_vm_.*|personality\(0x40000\)) ' answers.dev)" ' EPERM$'

# The twin. Left out here is what a kernel refuses to everybody, or has no more.
"$BIN/syscalls" outside >answers.outside
twins="mount umount2 chroot open_tree mount_setattr unshare setns clone3 clone-newns clone-newcgroup clone-newuts
    clone-newipc clone-newuser clone-newpid clone-newnet clone-all clone-rubbish clone-thread close_range-unshare ptrace process_vm_readv
    process_vm_writev pidfd_getfd add_key request_key keyctl perf_event_open io_uring_setup io_uring_enter
    io_uring_register name_to_handle_at settimeofday adjtimex clock_adjtime personality(0x400000)
    personality(0x100000) personality(0x40000) ioctl(0x5412) ioctl(0x541c) ioctl(0x5423)
    ioctl(0xdeadbeef00005412) seccomp-listener seccomp-listener-rubbish"
is_root && ! in_user_namespace && twins="$twins pivot_root move_mount fsopen fspick fsmount swapon swapoff reboot acct
    sethostname setdomainname syslog bpf quotactl init_module delete_module fanotify_init open_by_handle_at"
for twin in $twins; do
    isnt "outside: $twin gets another answer" "$(awk -v t="$twin" '$1 == t { print $3 }' answers.outside)" \
        "$(awk -v t="$twin" '$1 == t { print $2 }' answers.outside)"
done
note "$(awk '$2 != "any" && $2 != $3' answers.outside | wc -l) of $(wc -l <answers.outside) answers are others outside"
done_testing
