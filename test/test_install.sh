#!/bin/sh
# Installs what was built into a folder of its own, with a blank in its name, and uses it as strangers do: the exported symbols are
# those of the headers, a program by pkg-config, one by CMake's find_package, Python, completion of the shell.
# test_install.sh BUILD SOURCE
set -eu
build=$1 source=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/weft install XXXXXX")
trap 'rm -rf "$work"' EXIT
prefix="$work/prefix"
cmake --install "$build" --prefix "$prefix" >"$work/log"
library=$(find "$prefix" -name 'libweft.so.0')
libdir=$(dirname "$library")
export LD_LIBRARY_PATH="$libdir"

# ---- symbols
nm -D --defined-only "$library" | awk '{print $3}' | sort -u >"$work/exported"
cat "$prefix"/include/weft/*.h | grep WEFT_API | grep -o 'weft_[a-z0-9_]*(' | tr -d '(' | sort -u >"$work/declared"
diff "$work/declared" "$work/exported" || { echo "FAILED: exported symbols (>) are not those of the headers (<)"; exit 1; }
readelf -d "$library" | grep -q 'SONAME.*libweft.so.0' || { echo "FAILED: no versioned name"; exit 1; }
echo "ok: $(wc -l <"$work/exported") symbols"

# ---- programs
export PKG_CONFIG_PATH="$libdir/pkgconfig"
eval "cc -std=c17 '$source/test/consumers/consumer.c' -o '$work/by-pkg-config' $(pkg-config --cflags --libs weft)"
"$work/by-pkg-config" | grep '^consumed 0' || { echo "FAILED: pkg-config"; exit 1; }
cmake -S "$source/test/consumers/cmake" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >>"$work/log" 2>&1 && cmake --build "$work/cmake" >>"$work/log" 2>&1 || { cat "$work/log"; echo "FAILED: find_package"; exit 1; }
"$work/cmake/consumer" | grep '^consumed 0' || { echo "FAILED: find_package"; exit 1; }
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    cd "$work"
    PYTHONPATH=$(find "$prefix" -name dist-packages) /usr/bin/python3 -c 'import weft; print("consumed", weft.__version__)' || { echo "FAILED: Python"; exit 1; }
else
    echo "skipped: Python, as numpy is not there"
fi

# ---- the command, its page and its completion
"$prefix/bin/weft" --version
test -f "$prefix/share/man/man1/weft.1"
PATH="$prefix/bin:$PATH" bash -c '
    . "$1/share/bash-completion/completions/weft"
    complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _weft; echo "${COMPREPLY[*]}"; }
    [ "$(complete_line weft exp)" = export ] && [ "$(complete_line weft export run --to us)" = "usda usdc usdz" ] &&
        [ "$(complete_line weft run hang --resu)" = --resume ] || exit 1
    # Every command that the table of the help has.
    for command in $(weft help | sed -n "s/^ *weft \([a-z]*\) .*/\1/p" | sort -u); do
        complete_line weft "$command" | grep -qw "$command" || exit 1
    done' bash "$prefix" || { echo "FAILED: completion"; exit 1; }
echo "ok: installed, consumed, completed"
