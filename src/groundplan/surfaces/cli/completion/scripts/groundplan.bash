# groundplan completion for bash, written by groundplan init --completion
# Candidates come as VALUE, a tab and a description. Values are quoted for the shell; nothing is evaluated.

_groundplan() {
    local line value
    COMPREPLY=()
    while IFS= read -r line; do
        printf -v value '%q' "${line%%$'\t'*}"
        COMPREPLY+=("$value")
    done < <(command groundplan __complete bash "$COMP_CWORD" "${COMP_WORDS[@]:1}" 2>/dev/null)
}

complete -o nosort -F _groundplan groundplan pl 2>/dev/null || complete -F _groundplan groundplan pl
