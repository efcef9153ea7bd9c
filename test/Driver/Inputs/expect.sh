# expect.sh CODE COMMAND...: runs COMMAND and fails unless it ends with CODE and, when
# CODE is 2, leaves standard output empty. Prints what it wrote to standard error.
code=$1
shift
errors=$(mktemp)
output=$("$@" 2>"$errors")
found=$?
cat "$errors"
rm -f "$errors"
if [ "$found" != "$code" ]; then
  echo "exit code $found, not $code"
  exit 1
fi
if [ "$code" = 2 ] && [ -n "$output" ]; then
  echo "standard output is not empty: $output"
  exit 1
fi
