# bash loads completions by the name of the command; pl has those of groundplan.
. "${BASH_SOURCE[0]%/*}/groundplan"
