# fish completion for coop(1)

function __coop_in
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

# No file names where a subcommand is wanted.
complete -c coop -n 'not __coop_in run plan config allow' -f
complete -c coop -n 'not __coop_in run plan status doctor config allow' -a run -d 'Run one command in a fresh sandbox'
complete -c coop -n 'not __coop_in run plan status doctor config allow' -a plan -d 'Show what coop run would do'
complete -c coop -n 'not __coop_in run plan status doctor config allow' -a status -d 'Show what this host can enforce'
complete -c coop -n 'not __coop_in run plan status doctor config allow' -a doctor -d 'Find what is missing and test the walls'
complete -c coop -n 'not __coop_in run plan status doctor config allow' -a config -d 'Look at configuration files'
complete -c coop -n 'not __coop_in run plan status doctor config allow' -a allow -d 'Approve a project file that asks for more'
complete -c coop -n 'not __coop_in run plan status doctor config allow' -l version -d 'Show the version'
complete -c coop -s h -l help -d 'Show help'

complete -c coop -n '__coop_in run plan' -s w -l workspace -x -a '(__fish_complete_directories)' -d 'Directory the command may change'
complete -c coop -n '__coop_in run plan' -l same-path -d 'Show the workspace at its own path'
complete -c coop -n '__coop_in run plan' -l ro -r -F -d 'Show a file or directory read-only'
complete -c coop -n '__coop_in run plan' -l rw -r -F -d 'Show a file or directory read-write'
complete -c coop -n '__coop_in run plan' -l mount -x -a 'type=bind type=tmpfs' -d 'Mount: source=, target=, readonly, size='
complete -c coop -n '__coop_in run plan' -s v -l volume -r -F -d 'Show SRC at DST'
complete -c coop -n '__coop_in run plan' -l block -r -F -d 'Hide a path'
complete -c coop -n '__coop_in run plan' -s e -l env -x -a '(set -nx)=' -d 'Set a variable'
complete -c coop -n '__coop_in run plan' -l env-pass -x -a '(set -nx)' -d 'Take a variable over from the caller'
complete -c coop -n '__coop_in run plan' -l chdir -r -F -d 'Directory to start in, as the box sees it'
complete -c coop -n '__coop_in run plan' -l uid -x -d 'User id inside'
complete -c coop -n '__coop_in run plan' -l hostname -x -d 'Host name inside'
complete -c coop -n '__coop_in run plan' -l network -x -a 'none off host' -d 'What of the network it has'
complete -c coop -n '__coop_in run plan' -l allow-sockets -d 'Let it connect to unix sockets of the host that it sees'
complete -c coop -n '__coop_in run plan' -s m -l memory -x -a '256m 512m 1g 2g 4g none' -d 'Memory of the whole box'
complete -c coop -n '__coop_in run plan' -l pids -x -d 'Processes and threads'
complete -c coop -n '__coop_in run plan' -l cpus -x -d 'CPUs\' worth of time'
complete -c coop -n '__coop_in run plan' -l cpu-seconds -x -d 'CPU time of each process'
complete -c coop -n '__coop_in run plan' -l file-size -x -a '256m 512m 1g 2g 4g none' -d 'Size of each file it writes'
complete -c coop -n '__coop_in run plan' -l open-files -x -d 'Open files of each process'
complete -c coop -n '__coop_in run plan' -l tmp-size -x -a '256m 512m 1g 2g 4g none' -d 'Size of /tmp and its like together'
complete -c coop -n '__coop_in run plan' -l timeout -x -a '10s 30s 1m 10m 1h' -d 'End it after this time'
complete -c coop -n '__coop_in run plan' -l mode -x -a 'required preferred disabled' -d 'What to do where not all can be enforced'
complete -c coop -n '__coop_in run plan' -l profile -x -a 'default dev' -d 'dev lets debuggers work inside'
complete -c coop -n '__coop_in run plan' -s t -l tty -d 'Give it a terminal of its own'
complete -c coop -n '__coop_in run plan' -l keep-fd -x -d 'Let it have the caller\'s descriptor N'
complete -c coop -n '__coop_in run plan' -s c -l command -x -d 'Run TEXT with /bin/sh'
complete -c coop -n '__coop_in run' -s q -l quiet -d 'Say nothing of its own unless it fails'
complete -c coop -n '__coop_in plan' -l as-bwrap -d 'Print the nearest bubblewrap command line'
complete -c coop -n '__coop_in run plan status doctor' -l json -d 'Print a JSON document'
complete -c coop -n '__coop_in allow' -l list -d 'List what was approved'
complete -c coop -n '__coop_in allow' -l revoke -d 'Take the approval back'
complete -c coop -n '__coop_in config' -a show -d 'Print what holds, and where it was written'
complete -c coop -n '__coop_in config' -a schema -d 'Print a JSON Schema of configuration files'
complete -c coop -n '__coop_in config' -a import -d 'Print an older configuration as it is written now'
complete -c coop -n '__coop_in config' -a decode -d 'Print what a TOML or YAML file says as JSON'
