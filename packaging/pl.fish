# fish loads completions by the name of the command; pl has those of groundplan.
source (status dirname)/groundplan.fish
