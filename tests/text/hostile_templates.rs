//! Chat templates that nobody should publish: each is to be refused, or to end soon and in little memory.

#![allow(dead_code, unreachable_pub)]

fn loops(body: &str) -> String {
    format!("{{% for i in range(100000) %}}{body}{{% endfor %}}")
}

/// What a variable becomes by so many assignments to itself.
fn grown(first: &str, next: &str, times: usize) -> String {
    format!(
        "{{% set ns = namespace(a={first}, b={first}) %}}{{% for i in range({times}) %}}{{% set ns.a = {next} %}}{{% endfor %}}\
         {{{{ ns.a | string | length }}}}"
    )
}

/// Two tuples, each of two that are the same, and so on.
const SHARED_TUPLE: &str = "{% set ns = namespace(a=(1, 1), b=(1, 1)) %}{% for i in range(60) %}\
    {% set ns.a = (ns.a, ns.a) %}{% set ns.b = (ns.b, ns.b) %}{% endfor %}";

/// Numbered names, each with what stands behind it.
fn numbered(name: &str, behind: &str, count: usize) -> String {
    (0..count).fold(String::new(), |all, at| {
        all + name + &at.to_string() + behind
    })
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

fn printed(expression: &str) -> String {
    format!("{{{{ {expression} }}}}")
}

/// Name and template of what must be refused.
pub fn refused() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, template: String| all.push((name.to_owned(), template));
    for expression in [
        r"'a\nb' | indent(10**10)",
        "'a' | indent(10**12, true)",
        r"('a\n' * 100000) | indent('b' * 100000)",
        "[1] | batch(10**12, 'x') | list",
        "[1] | slice(10**12) | list",
        "[1] | slice(10**9, 'x') | list",
        "'a' | center(10**12)",
        "'a'.center(10**12)",
        "'a'.ljust(10**12)",
        "'a'.rjust(10**18, 'é')",
        "'a'.zfill(10**12)",
        r"('\t' * 100000).expandtabs(100000)",
        "'x' * 10**12",
        "'xx' * 10**38",
        "10**12 * 'x'",
        "[1] * 10**12",
        "(1, 2) * 10**18",
        "('x' * 100000).replace('', 'y' * 100000)",
        "('x' * 100000) | replace('x', 'y' * 100000)",
        "('x' * 100000).join(['y'] * 100000)",
        "(['y'] * 100000) | join('x' * 100000)",
        "'%1000000000000d' % 1",
        "'%.1000000000f' % 1",
        "'%99999999999s' | format('x')",
        "'{:>1000000000000}'.format(1)",
        "'{:.1000000000f}'.format(1.5)",
        "('{0}' * 100000).format('x' * 100000)",
        "[[[1]]] | tojson(indent=10**12)",
        "([1] * 100000) | tojson(indent=100000)",
        "([1] * 100000) | tojson(separators=('x' * 100000, 'y'))",
        "range(10**12) | list",
        "range(-(10**38), 10**38)",
        "([[1]] * 100000) | sum(start=[]) | length",
        "('x' * 1000000).startswith(['x' * 999999 ~ 'y'] * 100000)",
        "range(100000) | map('default', **{'x' * 4000000: 1}) | list | length",
        "range(100000) | unique | list | length",
        "('x' * 100000).strip('y' * 100000 + 'x')",
        "('x' * 100000) | trim('y' * 100000 + 'x')",
        "('x' * 100000) | wordwrap(1, true, 'y' * 10000)",
        "10**10**10",
        "2**127",
        "(-170141183460469231731687303715884105727 - 1) // -1",
        "-(-170141183460469231731687303715884105727 - 1)",
        "(-170141183460469231731687303715884105727 - 1) | abs",
        "raise_exception('x' * 1000000)",
        r"'\ud800'",
        r"'\x'",
    ] {
        add(expression, printed(expression));
    }
    for (first, next) in [
        ("'x'", "ns.a ~ ns.a"),
        ("'x'", "ns.a + ns.a"),
        ("'x'", "ns.a * 2"),
        ("[1]", "ns.a + ns.a"),
        ("[1]", "ns.a * 2"),
        ("[1]", "[ns.a, ns.a]"),
        ("{}", "{'a': ns.a, 'b': ns.a}"),
        ("'x'", "ns.a.replace('x', 'xx')"),
        ("'x'", "ns.a.join(['y', 'z', 'y'])"),
        ("'x'", "'%s%s' % (ns.a, ns.a)"),
        ("'x'", "'{0}{0}'.format(ns.a)"),
        ("'x'", "[ns.a, ns.a] | join"),
        (r"'\\'", "[ns.a] | string"),
        (r"'\\'", "ns.a | tojson"),
        ("'&'", "ns.a | forceescape | string | replace('&', '&&')"),
    ] {
        add(&format!("doubled: {next}"), grown(first, next, 60));
    }
    for (name, end) in [
        ("written", "{{ ns.a }}"),
        ("as JSON", "{{ ns.a | tojson }}"),
        ("compared", "{{ ns.a == ns.b }}"),
        ("ordered", "{{ ns.a < ns.b }}"),
        ("found", "{{ ns.a in [ns.b] }}"),
        ("told apart", "{{ [ns.a, ns.b] | unique | list | length }}"),
        ("formatted", "{{ '%s' % [ns.a] }}"),
    ] {
        let grow = "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}\
                    {% set ns.b = [ns.b, ns.b] %}{% endfor %}";
        add(
            &format!("a list that shares its parts, {name}"),
            format!("{grow}{end}"),
        );
    }
    add(
        "a tuple that shares its parts, as a key",
        format!("{SHARED_TUPLE}{{{{ {{ns.a: 1}} }}}}"),
    );
    add(
        "a tuple that shares its parts, as two keys",
        format!("{SHARED_TUPLE}{{{{ {{ns.a: 1, ns.b: 2}} | length }}}}"),
    );
    add(
        "doubled in a row",
        format!(
            "{{% set a = 'x' * 16 %}}{}{{{{ a }}}}",
            "{% set a = a ~ a %}".repeat(60)
        ),
    );
    add(
        "doubled in set blocks",
        "{% set ns = namespace(a='x') %}{% for i in range(60) %}{% set b %}{{ ns.a }}{{ ns.a }}{% endset %}{% set ns.a = b %}{% endfor %}".into(),
    );
    add(
        "an indented block",
        "{% filter indent(10**9) %}a\nb{% endfilter %}".into(),
    );
    add("lists in lists", grown("[1]", "[ns.a]", 99_999));
    add(
        "dictionaries in dictionaries",
        grown("1", "{'a': ns.a}", 99_999),
    );
    add(
        "methods of lists of methods",
        grown("'x'", "[[ns.a].index]", 99_999),
    );
    add(
        "methods of dictionaries as keys of dictionaries",
        grown("{}", "{ns.a.get: 1}", 99_999),
    );
    add("a list that grows", grown("[]", "ns.a + [i]", 99_999));
    add(
        "a dictionary that grows",
        grown("{}", "dict(ns.a, **{i | string: i})", 99_999),
    );
    for body in [
        "{% for j in range(100000) %}{% endfor %}",
        "{% for j in range(100000) %}{{ [1, 2] | sum }}{% endfor %}",
        "{{ range(100000) | sum }}",
        "{{ range(100000) | sort(reverse=true) | first }}",
        "{{ range(100000) | map('string') | list | length }}",
        "{{ range(100000) | select('odd') | list | length }}",
        "{{ ('x' * 10000) | list | length }}",
        "{{ ('x' * 10000) | upper | length }}",
        "{{ ('x' * 100000).find('y') }}",
        "{{ ('x ' * 10000).split() | length }}",
        "{{ ('x' * 100000)[::-1] | length }}",
        "{{ ('x' * 100000)[99999] }}",
        "{{ 'x' in (['y'] * 100000) }}",
        "{{ 'x' in ('y' * 100000) }}",
        "{{ ('y' * 100000) == ('y' * 100000) }}",
        "{{ strftime_now('%Y' ~ loop.index) }}",
        "{% set c = namespace(a=1, b=2) %}{% set d = cycler(1, 2, 3) %}{% set e = joiner(1) %}{% macro m() %}{% endmacro %}{{ m() }}",
    ] {
        add(&format!("looped: {body}"), loops(body));
    }
    let long = "a".repeat(900_000);
    for (name, body) in [
        ("read", format!("{{{{ {long} }}}}")),
        ("set", format!("{{% set {long} = 1 %}}")),
        (
            "of an argument",
            format!("{{{{ dict({long}=1) | length }}}}"),
        ),
        ("of an attribute", format!("{{{{ {{}}.{long} }}}}")),
    ] {
        add(&format!("looped: a long name, {name}"), loops(&body));
    }
    add(
        "looped: long names of namespaces",
        format!(
            "{{% set d = {{'x' * 4000000: 1}} %}}{}",
            loops("{% set n = namespace(d) %}")
        ),
    );
    for filter in ["int", "float"] {
        add(
            &format!("looped: a long text as {filter}"),
            format!(
                "{{% set k = 'x' * 10000000 %}}{}",
                loops(&format!("{{{{ k | {filter} }}}}"))
            ),
        );
    }
    let parameters = numbered("a", ",", 50_000);
    let arguments = numbered("a", "=1,", 50_000);
    add(
        "a macro of 50,000 parameters, each given by its name",
        format!("{{% macro m({parameters}) %}}{{% endmacro %}}{{{{ m({arguments}) }}}}"),
    );
    add("long output", loops(&"x".repeat(10_000)));
    add(
        "loops in loops",
        nested("{% for a in range(10) %}", "x", "{% endfor %}", 50),
    );
    for (open, inner, close) in [
        ("-", "1", ""),
        ("+", "1", ""),
        ("not ", "1", ""),
        ("(", "1", ")"),
        ("[", "", "]"),
        ("{1:", "1", "}"),
        ("a[a", "", "]"),
        ("dict(", "", ")"),
        ("1|default(", "1", ")"),
        ("1 is in [", "1", "]"),
        ("1 if 0 else ", "1", ""),
    ] {
        let expression = printed(&nested(open, inner, close, 50_000));
        add(&format!("nested: {open}"), expression);
    }
    add(
        "conditions in a row",
        printed(&format!("1{}", " if 1".repeat(50_000))),
    );
    add(
        "targets in brackets",
        format!("{{% set {} = 1 %}}", nested("(", "a", ")", 50_000)),
    );
    for (open, close) in [
        ("{% if 1 %}", "{% endif %}"),
        ("{% for a in [1] %}", "{% endfor %}"),
        ("{% with a = 1 %}", "{% endwith %}"),
        ("{% filter upper %}", "{% endfilter %}"),
        ("{% set a %}", "{% endset %}"),
        ("{% macro m() %}", "{% endmacro %}"),
        ("{% generation %}", "{% endgeneration %}"),
    ] {
        add(&format!("nested: {open}"), nested(open, "", close, 20_000));
    }
    for (name, template) in [
        ("a macro that calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}".to_owned()),
        ("a macro that calls itself with itself", "{% macro m(a) %}{{ m(m(a)) }}{% endmacro %}{{ m(1) }}".into()),
        ("a macro that calls itself by default", "{% macro m(a=m()) %}{% endmacro %}{{ m() }}".into()),
        ("a macro that calls itself twice", "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(60) }}".into()),
        ("a macro that calls itself deep in blocks", format!("{{% macro m() %}}{}{{% endmacro %}}{{{{ m() }}}}", nested("{% if 1 %}", "{{ m() }}", "{% endif %}", 90))),
        ("a macro that calls itself deep in lists", format!("{{% macro m() %}}{}{{% endmacro %}}{{{{ m() }}}}", printed(&nested("[", "m()", "]", 90)))),
        ("a caller that calls itself", "{% macro m() %}{{ caller() }}{% endmacro %}{% macro n() %}{% call m() %}{{ n() }}{% endcall %}{% endmacro %}{{ n() }}".into()),
        ("a loop that goes into itself", "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}".into()),
        ("a loop that goes into itself nine times", "{% for a in range(9) recursive %}{{ loop(range(9)) }}{% endfor %}".into()),
        ("a namespace in itself", "{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns.a }}{{ ns.a == ns.a }}{{ ns.a | tojson }}".into()),
        ("a chain of namespaces", "{% set ns = namespace(a=1) %}{% for i in range(99999) %}{% set ns.a = namespace(a=ns.a) %}{% endfor %}{{ ns.a | tojson }}".into()),
        ("filters by their names", "{{ [[[1]]] | map('map', 'map', 'map', 'map') | list }}".into()),
        ("comments that do not end", "{#".repeat(500_000)),
        ("tags that do not end", "{{".repeat(500_000)),
        ("raw blocks that do not end", "{% raw %}".repeat(100_000)),
        ("half ends of raw blocks", format!("{{% raw %}}{}", "{% endraw".repeat(100_000))),
        ("two megabytes of text", "x".repeat(2 << 20)),
        ("another template", "{% include 'x' %}".into()),
    ] {
        add(name, template);
    }
    all
}

/// Name and template of what may be rendered, since it costs no more than its size.
pub fn rendered() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, template: String| all.push((name.to_owned(), template));
    for operator in ["+", "~", "-", " and ", " or ", " < ", " == "] {
        let chain = vec!["1"; 100_000].join(operator);
        add(&format!("a chain of {operator}"), printed(&chain));
    }
    for (name, piece) in [
        ("filters", "|upper"),
        ("slices", "[:]"),
        ("methods", ".upper()"),
    ] {
        add(
            &format!("a chain of {name}"),
            printed(&format!("'x'{}", piece.repeat(50_000))),
        );
    }
    add(
        "a chain of branches",
        format!("{{% if 0 %}}{}{{% endif %}}", "{% elif 0 %}".repeat(80_000)),
    );
    add(
        "a chain of conditions",
        printed(&nested("1 if 0 else ", "1", "", 50)),
    );
    add(
        "conditions in a row in brackets",
        printed(&nested("(", "1", &format!("{})", " if 1".repeat(99)), 90)),
    );
    add(
        "a tuple that shares its parts, as a key",
        format!("{SHARED_TUPLE}{{{{ {{ns.a: 1}} | length }}}}"),
    );
    add(
        "a macro of 100,000 parameters",
        format!(
            "{{% macro m({}) %}}{{% endmacro %}}{{{{ m() }}}}",
            numbered("a", ",", 100_000)
        ),
    );
    add("200,000 comments", "{##}".repeat(200_000));
    add("200,000 prints", "{{x}}".repeat(200_000));
    add(
        "50,000 variables",
        (0..50_000)
            .map(|at| format!("{{% set a{at} = 1 %}}"))
            .collect::<Vec<_>>()
            .concat(),
    );
    add("a long name", printed(&"a".repeat(1_000_000)));
    add(
        "a long text",
        printed(&format!("'{}'", "a".repeat(1_000_000))),
    );
    add("many texts", printed(&"'a' ".repeat(250_000)));
    add("no characters", "\0".repeat(1000));
    add(
        "NaN in order",
        "{% set n = '1e999' | float %}{{ ([1, n - n, 3, 2, n - n, 5] * 1000) | sort | length }}"
            .into(),
    );
    add("places far away", "{{ 'abc'[-10**38] }}{{ [1][10**38] }}{{ 'abc'[-10**38:10**38:10**37] }}{{ [1][::-10**38] }}".into());
    add(
        "steps far away",
        "{{ range(-9, 9, 10**38) | list }}{{ range(9, -9, -10**38) | list }}".into(),
    );
    add("a loop that is over", "{% set ns = namespace() %}{% for a in [1] recursive %}{% set ns.l = loop %}{% endfor %}{{ ns.l([2]) }}{{ ns.l.index }}".into());
    all
}
