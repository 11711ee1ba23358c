# Completion of `weft` for bash. Commands, options and names are what the command itself says: weft help, weft list.
_weft() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} weft=${COMP_WORDS[0]} words=""
    if [ "$COMP_CWORD" = 1 ]; then
        words="$("$weft" help 2>/dev/null | sed -n 's/^ *weft \([a-z][a-z]*\) .*/\1/p' | sort -u) --version"
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        return
    fi
    local command=${COMP_WORDS[1]}
    case "$before" in
    --to) words=$("$weft" list formats 2>/dev/null | cut -f1) ;;
    --method) words=$("$weft" list methods 2>/dev/null | cut -f1) ;;
    --solver) words=$("$weft" list solvers 2>/dev/null | cut -f1) ;;
    --preconditioner) words=$("$weft" list preconditioners 2>/dev/null | cut -f1) ;;
    --material) words=$("$weft" list materials 2>/dev/null | cut -f1) ;;
    --model) words=$("$weft" list models 2>/dev/null | cut -f1) ;;
    help) words=$("$weft" help 2>/dev/null | sed -n 's/^ *weft \([a-z][a-z]*\) .*/\1/p' | sort -u) ;;
    list) words=$("$weft" help list 2>/dev/null | sed -n '1s/.*weft list //p' | tr '|' ' ') ;;
    esac
    case "$word$words" in
    -*) words=$("$weft" help "$command" 2>/dev/null | sed '/^$/q' | grep -o -e '--*[a-z][a-z-]*' | sort -u) ;;
    esac
    case "$command" in
    run | check | system) [ -n "$words" ] || words=$("$weft" list scenes 2>/dev/null | cut -f1) ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; [ -n "$words" ] && [ "${word#-}" != "$word" ] || compgen -f -- "$word")
}
complete -o filenames -F _weft weft
