# complete.sh SCRIPT "WORDS": what bash would offer after WORDS (split at blanks, as
# bash itself splits --emit=s into three words).
source "$1"
read -ra COMP_WORDS <<<"$2"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_facet
for word in "${COMPREPLY[@]}"; do
  echo "$word"
done
