import pytest

from numapredict.collect.source.statement import (
    assigned_in,
    base_of,
    directive_before,
    is_made_in,
    is_returned,
    statement_at,
    written_in,
)

ASSIGNED = {
    "double *a = malloc(n * sizeof *a);": ("a",),
    "a = (double *) calloc(n, 8);": ("a",),
    "grid->cells = new double[n];": ("grid->cells",),
    "this->data_ = new T[n * m];": ("this->data_",),
    "rows[i + 1] = malloc(n);": ("rows[]",),
    "*out = malloc(n);": ("out",),
    "int failed = posix_memalign((void **)&table, 64, bytes);": ("table",),
    "if (posix_memalign(&sim.table, 64, bytes)) abort();": ("sim.table",),
    "char *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, -1, 0);": ("p",),
    "w.resize(n);": ("w",),
    "field.cells.assign(n, 0.0);": ("field.cells",),
    "explicit Grid(long n): cells(new double[n]), n(n) {}": ("cells",),
    "Grid(long n, long m) : rows(n, std::vector<double>(m, 0.5)), n(n) {}": ("rows",),
    "Grid(const std::vector<long> &n) : n(n) {}": (),
    "    : n{n}, cells_{static_cast<T *>(malloc(n))}, rest(nullptr) {}": (),  # what is cast is not looked into
    "Grid(long n) noexcept : n(n), cells((double *)malloc(8 * n)) {}": (),
    "pvector(size_t n) : size_(n), start_(alloc_array(n)) {}": ("start_",),
    "use(a, wrap(malloc(n)));": (),
    "use(ready(a) ? b : wrap(malloc(n)));": (),
    "allocate(u(n, m))": ("u",),
    "allocate(u(n, m), grid % v(n), w(0:n))": ("u", "grid%v", "w"),
    "ALLOCATE ( grid%cells(n) , STAT=ierr )": (),  # what follows may be an option or another array
    "allocate(grid%cells(n))": ("grid%cells",),
    "double *a = malloc(n), *b = malloc(f(n, 2));": ("a", "b"),
    "if (a == malloc(n)) b = 3;": (),
    "for (long i = 0; i < N; i++) row[i] = malloc(n);": ("row[]",),
    "for (int k = 0; k < allocated(n); k++) cells[k].u = calloc(n, 8);": ("cells[].u",),
    "for (int i = 0; i < N; i++) for (int k = f(i); k < N; k++) { row[i][k] = new T[n]; }": ("row[][]",),
    "while ((n = next()) > 0) list[n] = malloc(8 * n);": ("list[]",),
    "if ((a = malloc(n)) == NULL) exit(1);": ("a",),
    "for (char *p = malloc(n); p; p = 0) q = 0;": ("p",),
    "free(a);": (),
    "": (),
}


@pytest.mark.parametrize("statement", ASSIGNED)
def test_what_an_allocation_is_assigned_to(statement: str) -> None:
    assert assigned_in(statement) == ASSIGNED[statement]


def test_of_several_in_a_line_the_column_of_the_call_chooses() -> None:
    line = "    double *a = malloc(n), *b = malloc(n), *c = calloc(n, 8);"
    chosen = [assigned_in(line, line.index(call) + 1) for call in ("malloc(n), *b", "malloc(n), *c", "calloc")]
    assert chosen == [("a",), ("b",), ("c",)]
    assert assigned_in(line, 3) == ()


def test_a_statement_is_put_together_from_its_lines() -> None:
    lines = [
        "#pragma omp single",
        "double *a = /* the field */",
        "    malloc(n *",
        "           8); // bytes",
        "  b = 1;",
    ]
    assert statement_at(lines, 3) == "double *a = malloc(n *"
    assert statement_at(lines, 4) == "double *a = malloc(n * 8);"
    assert statement_at(lines, 4, before=False).strip() == "8);"
    assert statement_at(lines, 5) == "b = 1;"
    assert statement_at(lines, 0) == statement_at(lines, 6) == ""


def test_comments_and_strings_name_nothing_and_keep_columns() -> None:
    line = statement_at(['log("x = malloc(1)"); /* y = malloc */ z = malloc(2);'], 1, before=False)
    assert assigned_in(line) == ("z",)
    assert line.index("z") == 39


RETURNING = ["void *get(long n) {", "    void *p = malloc(n);", "    check(p);", "    return p;", "}", "    return q;"]


def test_a_function_that_returns_what_it_allocates_is_seen() -> None:
    assert is_returned(RETURNING, 2, "p")
    assert not is_returned(RETURNING, 2, "q")  # behind the function's end
    assert is_returned(["  return malloc(n);"], 1, "")
    assert not is_returned(["  a = malloc(n);"], 1, "a")
    assert is_returned(["static double *made(long n) { return checked(n); }"], 1, "")
    assert is_returned(["void *made(long n) { void *p = malloc(n); if (!p) abort(); return p; }"], 1, "p")
    assert not is_returned(["if (n) { return; } fill(n);"], 1, "a")


def test_the_directive_before_a_line_is_read_whole() -> None:
    lines = ["#pragma omp parallel for \\", "    schedule(static, 4)", "for (;;)", "  a[i] = 0;", "x;"]
    assert directive_before(lines, 4) == "#pragma omp parallel for schedule(static, 4)"
    assert (
        directive_before(["!$omp parallel do &", "!$omp schedule(dynamic)", "do i = 1, n"], 3)
        == "!$omp schedule(dynamic)"
    )
    assert directive_before(lines[2:], 2) == directive_before([], 3) == ""


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("wrong[i] = 0.5;", ("wrong[]",)),
        ("sum[i] += a[i] == b[i];", ("sum[]",)),
        ("a[i][j] = b[i] = 1;", ("a[][]", "b[]")),
        ("if (a <= b) c(a != b);", ()),
    ],
)
def test_what_a_statement_writes(statement: str, names: tuple[str, ...]) -> None:
    assert written_in(statement) == names


def test_the_variable_a_name_begins_with() -> None:
    names = ("a", "grid.cells", "grid->cells", "rows[]", "g%cells", "sim::table")
    assert [base_of(name) for name in names] == ["a", "grid", "grid", "rows", "g", "table"]


def test_a_variable_gets_its_first_value_by_brackets_or_an_equals_sign() -> None:
    assert all(
        is_made_in(text, "v") for text in ("std::vector<double> v(n), w;", "T v{n};", "T *v = f();", "T v[3] = x;")
    )
    assert not is_made_in("std::vector<double> v(n), w;", "w")
