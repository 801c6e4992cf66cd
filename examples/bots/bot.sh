#!/bin/sh
# A bot for duels: it speaks the protocol of docs/protocol.md and takes the first legal action.
# It needs no JSON parser: it cuts the two values out of the line.

while read -r line; do
  case $line in
    *'"type": "hello"'*)
      echo '{"type": "ready", "protocol": 1, "name": "example in shell"}' ;;
    *'"type": "choose"'*)
      id=${line#*\"id\": }
      id=${id%%,*}
      action=${line#*\"actions\": [\"}
      action=${action%%\"*}
      echo "{\"id\": $id, \"action\": \"$action\"}" ;;
  esac
done
