# Copies a static library and gives every name in it that is not public (weft_...) the prefix weft_private_, so that it
# meets no name of a program that links it. Run as cmake -DNM=... -DOBJCOPY=... -DIN=... -DOUT=... -P private-names.cmake
execute_process(COMMAND ${NM} -g -P ${IN} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[a-z][A-Za-z0-9_]* [A-TV-Z] " lines "${lines}")
set(renames "")
foreach(line ${lines})
  string(REGEX REPLACE "^\n?([A-Za-z0-9_]+) .*" "\\1" name "${line}")
  if(NOT name MATCHES "^weft_")
    string(APPEND renames "${name} weft_private_${name}\n")
  endif()
endforeach()
file(WRITE ${OUT}.names "${renames}")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=${OUT}.names ${IN} ${OUT} COMMAND_ERROR_IS_FATAL ANY)
