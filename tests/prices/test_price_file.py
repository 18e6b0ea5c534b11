"""Prices in files that people make."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Table
from cellworth.errors import DataError, ParameterError
from cellworth.prices import Group, Prices
from cellworth.setting_names import speaking
from cellworth.table.text_file import TextFile

BLOOD = Group(
    "blood", ["chol", "fbs"], first={"chol": 7.27, "fbs": 5.2}, then={"chol": 5.17, "fbs": 3.1}, lasting=True
)
SCAN = Group("scan", ["mri", "ct"], first=300, then=100)

FULL = """\
column,price,group,price_after_first,lasting
age,1.0,,,
chol,7.27,blood,5.17,yes
fbs,5.2,blood,3.1,yes
mri,300.0,scan,100.0,no
ct,300.0,scan,100.0,no
(other columns),2.5,,,
(visit),20.0,,,
"""


@pytest.fixture
def written(tmp_path):
    """Write a text to a file of prices and give its path."""

    def write(text, name="prices.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8"))
        return path

    return write


def test_a_file_with_everything(written):
    prices = Prices.per_column({"age": 1}, default=2.5, groups=[BLOOD, SCAN], visit=20)
    assert Prices.read(written(FULL)) == prices
    path = written("")
    prices.write(path)
    assert path.read_text() == FULL


@pytest.mark.parametrize(
    ("prices", "text"),
    [
        (Prices.same(1), "column,price\n(other columns),1.0\n"),
        (Prices.per_column({"a": 1, "b": 2.5}), "column,price\na,1.0\nb,2.5\n"),
        (
            Prices.per_column({}, groups=[SCAN]),
            "column,price,group,price_after_first\nmri,300.0,scan,100.0\nct,300.0,scan,100.0\n",
        ),
    ],
)
def test_a_file_has_no_more_fields_than_are_needed(prices, text, tmp_path):
    path = tmp_path / "prices.csv"
    prices.write(path)
    assert path.read_text() == text
    assert Prices.read(path) == prices


def test_what_spreadsheets_do_to_files(written):
    same = Prices.per_column({"age": 1, "größe": 2})
    for text in (
        "\ufeffcolumn,price\r\nage,1\r\ngröße,2.0\r\n",
        "Price,Column\n1,age\n2,größe\n\n",
        'column,price,group\n" age ",1.00,\ngröße, 2 ,\n,,\n',
    ):
        assert Prices.read(written(text)) == same
    assert Prices.read(written("column;price\nage;1\ngröße;2"), delimiter=";") == same
    assert Prices.read(written("column\tprice\nage\t1\ngröße\t2\n", "prices.tsv")) == same


@pytest.mark.parametrize("name", ["prices.csv", "prices.tsv", "prices.txt", "prices.csv.gz"])
def test_every_kind_of_file_comes_back(name, tmp_path):
    prices = Prices.per_column({"age": 1}, groups=[BLOOD], visit=2)
    prices.write(tmp_path / name)
    assert Prices.read(tmp_path / name) == prices
    if name.endswith(".gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()).startswith(b"column,price")


def test_names_with_separators_come_back(tmp_path):
    prices = Prices.per_column(dict.fromkeys(['a,"b"', "line\nbreak", "carriage\rreturn", "tab\there"], 1))
    for name in ("prices.csv", "prices.tsv"):
        prices.write(tmp_path / name)
        assert Prices.read(tmp_path / name) == prices


prices_of_any_size = st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False)
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(
    lambda name: name.strip() == name
)


@st.composite
def by_column(draw):
    columns = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    cut = draw(st.integers(0, len(columns)))
    groups = []
    if columns[cut:]:
        pairs = {name: sorted([draw(prices_of_any_size), draw(prices_of_any_size)]) for name in columns[cut:]}
        first, then = ({name: pair[side] for name, pair in pairs.items()} for side in (1, 0))
        groups = [Group(draw(names), list(pairs), first=first, then=then, lasting=draw(st.booleans()))]
    return Prices.per_column(
        {name: draw(prices_of_any_size) for name in columns[:cut]},
        default=draw(st.none() | prices_of_any_size),
        groups=groups,
        visit=draw(st.just(0.0) | prices_of_any_size),
    )


@settings(max_examples=100, deadline=None)
@given(by_column())
def test_prices_by_column_come_back_to_the_last_bit(tmp_path_factory, prices):
    path = tmp_path_factory.getbasetemp() / "prices.csv"
    prices.write(path)
    assert Prices.read(path) == prices
    assert Prices.from_dict(json.loads(json.dumps(prices.to_dict(), allow_nan=False))) == prices


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='column,price_aftrsg()vid\n"0.1;-e ', max_size=80))
def test_any_file_is_read_or_refused_in_words(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text("column,price,group\n" + text, encoding="utf-8")
    problem = None
    try:
        assert isinstance(Prices.read(path), Prices)
    except DataError as error:
        problem = error
    assert problem is None or "any.csv" in str(problem)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("column,price\nage,1\nchol,0\n", "line 3, column 'price': the price of 'chol' must be a positive"),
        ("column,price\nage,-1\n", "line 2, column 'price': the price of 'age' must be a positive"),
        ("column,price\nage,nan\n", "line 2, column 'price': the price of 'age' must be a positive"),
        ("column,price\nage,inf\n", "line 2, column 'price': the price of 'age' must be a positive"),
        ("column,price\nage,\n", "line 2, column 'price': .* a number such as 7.27; got a blank. Fill it in"),
        ("column,price\nage,5 or 6\n", "line 2, column 'price': .* got '5 or 6'. Write the digits alone"),
        ("column,price\nage,5 EUR\nsex,6 CHF\n", "line 3, column 'price': all .* got 'EUR', 'CHF'. Convert"),
        ("column,price\nage,5 \u20ac\n(currency),USD\n", "line 2, .* got 'USD', 'EUR'. Convert"),
        ("column,price\nage,$5\nsex,\u20ac6\n", "line 2, column 'price': all .* got 'EUR', '\\$'. Convert"),
        ("column,price\nage,5 CHF\nsex,$6\n", "line 3, column 'price': all .* got 'CHF', '\\$'. Convert"),
        (
            "column,price\nage,$5\nsex,\u00a56\n",
            "line 3, column 'price': all .* got '\\$', '\u00a5'. Convert",
        ),
        ('column,price\nage,"7,27"\n', "got '7,27'. Write a point, not a comma"),
        (
            "column,price\nage,1\n\nsex,1\nage,2\n",
            "line 5, column 'column': .* 'age', which is also on line 2",
        ),
        ("column,price\n,2\n", "line 2, column 'column': expected the name of a column, got a blank"),
        ("column,cost\nage,1\n", "no field 'cost'"),
        ("column,price,price\nage,1,1\n", "'price' appears twice"),
        ("column,price_after\nage,1\n", "Did you mean 'price_after_first'"),
        ("column,group\nage,1\n", "must have column and price; got column,group"),
        ("column,price,group\nage,1,a\n", "line 2, column 'price_after_first': .* got a blank"),
        (
            "column,price,group,price_after_first\nage,1,,1\n",
            "line 2, column 'price_after_first': only a column in a group has one; got '1'. Name the group",
        ),
        (
            "column,price,group,price_after_first\nage,1,a,2\n",
            "line 2, column 'price_after_first': must not be above the price 1; got 2. Are the two swapped",
        ),
        (
            "column,price,group,price_after_first,lasting\nx,1,a,1,yes\ny,1,a,1,\n",
            "line 3, column 'lasting': .* 'a' has 'yes' before and '' here",
        ),
        ("column,price,group,price_after_first,lasting\nx,1,a,1,ja\n", "expected yes or no, got 'ja'"),
        (
            "column,price,group,price_after_first\n(visit),1,a,1\n",
            r"column 'group': \(visit\) cannot be in a",
        ),
        (
            "column,price\nage,1\n(visit),-5\n",
            r"line 3, column 'price': the price of '\(visit\)' must be a fin",
        ),
        ("column,price\n", "expected rows below the column names"),
        ("column,price\n(visit),5\n", "at least one price"),
        (
            "column,price,group,price_after_first\nage,1.505,a,1\n(currency),EUR,,\n",
            r"line 2, column 'price': the price of 'age' must have at most 2 digits .* EUR do; got 1\.505",
        ),
        ("column,price\nage,1,2\n", "line 2: expected 2 fields"),
    ],
)
def test_errors_name_line_and_column(text, words, written):
    path = written(text)
    with pytest.raises(DataError, match=words) as caught:
        Prices.read(path)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        Prices.read(tmp_path / "nowhere.csv")
    for name in ("prices.parquet", "prices.ods"):
        with pytest.raises(DataError, match="expected a file that ends in"):
            Prices.read(tmp_path / name)
        with pytest.raises(DataError, match="expected a file that ends in"):
            Prices.same(1).write(tmp_path / name)
    with pytest.raises(ParameterError, match="use to_dict"):
        Prices.per_cell([[1.0]]).write(tmp_path / "prices.csv")
    for name in ("(visit)", "(other columns)", " age", "a\0"):
        with pytest.raises(ParameterError, match="cannot be read back"):
            Prices.per_column({name: 1}).write(tmp_path / "prices.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("group", ["", "blood"])
def test_a_column_that_the_table_lacks_is_found_in_the_file(tmp_path, group):
    path = tmp_path / "prices.csv"
    after = "1" if group else ""
    path.write_text(
        f"column,price,group,price_after_first\nage,1,,\n\nchool,2,{group},{after}\n(other columns),1,,\n"
    )
    table = Table.from_arrays([[1.0, 2.0], [2.0, 3.0]], columns=["age", "chol"])
    with pytest.raises(
        DataError, match=r"prices\.csv, line 4, column 'column': .*'chool'. Did you mean 'chol'"
    ):
        Prices.read(path).on(table)


@pytest.mark.parametrize(
    ("texts", "currency"),
    [
        (("12,50 \u20ac", "1.250,00\u00a0\u20ac"), "EUR"),
        (("EUR 12,5", "1250"), "EUR"),
        (("$12,50", "$1.250"), None),  # of which country?
        (("\u00a312,50", "1250,0 GBP"), "GBP"),
    ],
)
def test_a_currency_may_stand_beside_prices(written, texts, currency):
    path = written(f"column;price\nage;{texts[0]}\nincome;{texts[1]}\n")
    prices = Prices.read(TextFile(path, delimiter=";", decimal=","))
    assert prices.cells.prices == {"age": 12.5, "income": 1250.0}
    assert prices.currency == currency


def test_the_currency_of_the_file_decides_whose_sign_it_is(written):
    prices = Prices.read(written("column,price\nage,$5\n(currency),CAD\n"))
    assert (prices.cells.prices, prices.currency) == ({"age": 5.0}, "CAD")


def test_the_command_line_has_an_option_for_decimal_commas(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("column;price\nage;7,27\n")
    with speaking("command line"), pytest.raises(DataError, match="not a comma, or add --decimal ,"):
        Prices.read(path)
    with pytest.raises(DataError, match=r"not a comma\.$"):
        Prices.read(path)
