#!/bin/bash
# Every row of the filter's table is tried from inside, and gets the answer that the table states;
# outside of a box the same calls get other answers.
. "$(dirname "$0")/tap.sh"
mkdir ws && cp "$BIN/syscalls" ws/

# name, variant of the table, options
while read -r name variant options; do
    # shellcheck disable=SC2086
    "$COOP" run -w ws $options -- ./syscalls "$variant" >answers 2>errors
    is "$name: the probe ran to its end" "$(tail -n 1 answers | cut -d ' ' -f 1) $(cat errors)" "${LAST:=$(tail -n 1 answers | cut -d ' ' -f 1)} "
    while read -r what expected got; do
        if [ "$expected" = any ]; then continue; fi
        is "$name: $what" "$got" "$expected"
    done <answers
    cp answers "answers.$name"
done <<'END'
default 0 --network none
unix-only 2 --network off
dev 1 --profile dev
END
is "the probe tries more than 250 things" "$(($(wc -l <answers.default) > 250))" 1
is "each profile was tried" "$(cat answers.* | grep -c '^i386-unshare\|^number(0x3fffffff)')" "$(uname -m | sed 's/x86_64/6/; s/aarch64/3/')"

# The dev profile opens what debuggers need, and nothing else.
is "dev: opens these calls" \
    "$(diff <(cut -d ' ' -f 1,2 answers.default) <(cut -d ' ' -f 1,2 answers.dev) | sed -n 's/^> \(.*\) any/\1/p' | sort | xargs)" \
    "kcmp personality(0x40000) pidfd_getfd process_vm_readv process_vm_writev ptrace"
unlike "dev: what it opens gets through" "$(grep -E '^(kcmp|ptrace|pidfd_getfd|process_vm_|personality\(0x40000\))' answers.dev)" ' EPERM$'

# The twin. Some calls are refused to everybody, or no longer there, whoever asks.
"$BIN/syscalls" outside >answers.outside
gone='^(uselib|_sysctl|create_module|get_kernel_syms|query_module|nfsservctl|lookup_dcookie|sysfs|ustat|memfd_secret|userfaultfd|bpf|kexec_file_load|kexec_load|quotactl.*|.*mempolicy.*|m(ove|igrate)_pages|mbind|i386-.*|perf_event_open|init_module|finit_module|delete_module|open_tree_attr|statmount|listmount|process_madvise|name_to_handle_at|open_by_handle_at|fanotify_.*|modify_ldt|syslog|kcmp|acct|swapo.*|io_uring_.*|add_key|keyctl|request_key)$'
if is_root && ! in_user_namespace; then allowed=$gone; else
    allowed="$gone|^(pivot_root|reboot|sethostname|setdomainname|chroot|mount|umount2|fsopen|fspick|fsmount|fsconfig|move_mount|open_tree|mount_setattr|settimeofday|clock_settime|adjtimex|clock_adjtime|iopl|ioperm|setns)$"
fi
same=$(awk '$2 != "any" && $2 == $3 { print $1 }' answers.outside | grep -Ev '^(socket|socketpair|netlink|number|x32)\(')
is "outside, the others get another answer" "$(grep -Ev "$allowed" <<<"$same" | xargs)" ""
differ=$(awk '$2 != "any" && $2 != $3' answers.outside | wc -l)
note "$differ of $(wc -l <answers.outside) answers are others outside"
is "outside, most answers are others" "$((differ > 60))" 1
for twin in ptrace unshare clone3 clone-newuser clone-rubbish 'ioctl(0x5412)' 'personality(0x400000)' seccomp-listener keyctl io_uring_setup; do
    isnt "outside: $twin" "$(awk -v t="$twin" '$1 == t { print $3 }' answers.outside)" \
        "$(awk -v t="$twin" '$1 == t { print $2 }' answers.outside)"
done
done_testing
