# Summarizes the event stream of a test run, which the testing library writes as one JSON object a
# line.
#   awk [-v slowest=FILE] -f Tests/events.awk EVENTS
# First line: the numbers of passed, failed and skipped tests, and whether the run completed (1 or
# 0). Then a line for each failure. The file `slowest` gets the seconds and the name of each of the
# ten tests whose cases took longest together.
# The file contains no output of tests. Quotes inside a string are escaped, so no string can look
# like a field.

# The string value of the first field of a name; empty if there is none.
function field(name,    text) {
  if (!match($0, "\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
  text = substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
  gsub(/\\\//, "/", text)
  gsub(/\\[nrt]/, " ", text)
  gsub(/\\"/, "\"", text)
  return text
}

function number(name) {
  return match($0, "\"" name "\":[0-9.]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : ""
}

# A test's name without its source location.
function short(id) {
  sub(/\/[^\/]*\.swift:[0-9]+:[0-9]+$/, "", id)
  return id
}

function complain(id, text) {
  if (++complaints[id] <= 3) lines[++count] = short(id) ": " substr(text, 1, 400)
}

/"kind":"function"/ { planned[field("id")] = 1; next }
/"kind":"testStarted"/ { started[field("testID")] = 1; next }
# A test's cases run at the same time: the sum of their ends less that of their starts is their time.
/"kind":"testCaseStarted"/ { spent[field("testID")] -= number("absolute"); running[field("testID")]++; next }
/"kind":"testCaseEnded"/ { spent[field("testID")] += number("absolute"); running[field("testID")]--; next }
/"kind":"testSkipped"/ { skipped[field("testID")] = 1; next }
/"kind":"issueRecorded"/ {
  if (/"isFailure":false/ || /"isKnown":true/) next
  id = field("testID")
  if (id == "") id = "outside of any test"
  failed[id] = 1
  place = field("fileID")
  sub(/^.*\//, "", place)
  complain(id, field("text") (place == "" ? "" : " (" place ":" number("line") ")"))
  next
}
/"kind":"testEnded"/ {
  id = field("testID")
  ended[id] = 1
  if (/"symbol":"fail"/ && id in planned) failed[id] = 1
  next
}
/"kind":"runEnded"/ { hasEnded = 1 }

END {
  for (id in planned) {
    if (id in failed) continue
    if (id in ended) passes++
    else if (id in skipped) skips++
    else if (id in started) {
      failed[id] = 1
      complain(id, "was running when the process ended")
    } else unreached++
  }
  for (id in failed) failures++
  if (unreached) {
    # All tests that never started count as one failure: they have one cause, outside of them.
    failures++
    lines[++count] = unreached " tests were not reached"
  }
  print passes + 0, failures + 0, skips + 0, hasEnded + 0
  for (i = 1; i <= count && i <= 20; i++) print lines[i]
  if (count > 20) print "and " count - 20 " more lines like these"
  if (slowest == "") exit
  for (rank = 1; rank <= 10; rank++) {
    longest = ""
    for (id in spent) {
      if (!running[id] && (longest == "" || spent[id] > spent[longest])) longest = id
    }
    if (longest == "") break
    printf "%8.1f  %s\n", spent[longest], short(longest) >slowest
    delete spent[longest]
  }
}
