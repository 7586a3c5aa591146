# Finds links within the site that lead nowhere. Arguments: the pages, then file=NAME for every file of the site.

function normal(path, parts, count, kept, i, n, result) {
    count = split(path, parts, "/")
    n = 0
    for (i = 1; i <= count; i++) {
        if (parts[i] == ".." && n > 0) {
            n--
        } else if (parts[i] != "." && parts[i] != "") {
            kept[++n] = parts[i]
        }
    }
    result = "."
    for (i = 1; i <= n; i++) {
        result = result "/" kept[i]
    }
    return result
}

BEGIN {
    for (i = 1; i < ARGC; i++) {
        if (ARGV[i] ~ /^file=/) {
            there[substr(ARGV[i], 6)] = 1
            ARGV[i] = ""
        }
    }
}

{
    text = $0
    while (match(text, / (id|href|src)="[^"]*"/)) {
        word = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH)
        equals = index(word, "=")
        name = substr(word, 1, equals - 1)
        value = substr(word, equals + 2)
        if (name == "id") {
            heading[FILENAME "#" value] = 1
        } else if (value !~ /^[a-zA-Z][a-zA-Z0-9+.-]*:/) {
            links++
            from[links] = FILENAME
            to[links] = value
        }
    }
}

END {
    dead = 0
    for (i = 1; i <= links; i++) {
        hash = index(to[i], "#")
        path = hash ? substr(to[i], 1, hash - 1) : to[i]
        fragment = hash ? substr(to[i], hash + 1) : ""
        folder = from[i]
        sub(/[^\/]*$/, "", folder)
        target = path == "" ? from[i] : normal(folder path)
        if (!(target in there)) {
            print "dead link in " from[i] ": " to[i] " (there is no " target ")" > "/dev/stderr"
            dead++
        } else if (fragment != "" && !((target "#" fragment) in heading)) {
            print "dead link in " from[i] ": " to[i] " (" target " has no such heading)" > "/dev/stderr"
            dead++
        }
    }
    exit dead > 0
}
