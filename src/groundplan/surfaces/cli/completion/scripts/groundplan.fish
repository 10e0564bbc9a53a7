# groundplan completion for fish, written by groundplan init --completion
# Candidates come as VALUE, a tab and a description, as fish expects them. Fish quotes the values; nothing is evaluated.

function __groundplan_complete
    set -l before (commandline -opc)
    # The word as it will be: without a quotation mark that is still open, and without backslashes.
    set -l typed (string replace -r '^["\']' '' -- (commandline -ct))
    set -l current (string unescape -- "$typed"; or echo -- "$typed")
    command groundplan __complete fish (count $before) $before[2..-1] "$current" 2>/dev/null
end

for program in groundplan pl
    complete -c $program -f -k -a '(__groundplan_complete)'
end
